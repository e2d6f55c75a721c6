import TarnStore

extension Dictionary where Key == ObjectKey {
  /// The values of the objects that `changes` touched or deleted, found from the smaller side.
  func concerned(by changes: ClassChanges) -> [(key: ObjectKey, value: Value)] {
    if let keys = changes.concernedKeys(ifFewerThan: count) {
      return keys.compactMap { key in self[key].map { (key, $0) } }
    }
    var found: [(key: ObjectKey, value: Value)] = []
    for entry in self where changes.concerns(entry.key) { found.append(entry) }
    return found
  }
}
