extension ClassChanges {
  /// True if the object was touched, deleted, or went with its class.
  package func concerns(_ key: ObjectKey) -> Bool {
    isCleared || deleted.contains(key) || touched.contains { $0.keys.contains(key) }
  }

  /// The objects that were touched or deleted, if a walk through them finds those of `count` known
  /// ones sooner than asking for each of these; else nil.
  package func concernedKeys(ifFewerThan count: Int) -> KeySet? {
    if isCleared { return nil }
    let most = touched.reduce(deleted.count) { max($0, $1.keys.count) }
    if most >= count { return nil }
    var keys = deleted
    for entry in touched { keys.formUnion(entry.keys) }
    return keys.count < count ? keys : nil
  }
}
