extension ClassChanges {
  /// True if the object was touched or deleted, also with all of its class.
  package func concerns(_ key: ObjectKey) -> Bool {
    isCleared || deleted.contains(key) || touched.contains { $0.keys.contains(key) }
  }

  /// The objects touched or deleted, if iterating over them is faster than checking each of `count`
  /// known ones; otherwise nil.
  package func concernedKeys(ifFewerThan count: Int) -> KeySet? {
    if isCleared { return nil }
    let most = touched.reduce(deleted.count) { max($0, $1.keys.count) }
    if most >= count { return nil }
    var keys = deleted
    for entry in touched { keys.formUnion(entry.keys) }
    return keys.count < count ? keys : nil
  }
}
