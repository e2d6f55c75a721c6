/// Verifies the unique rules of a class: that every combination is indexed, that nothing else is,
/// and that no two objects have the same. Finds what is wrong; changes nothing.
package struct UniqueCheck {
  package private(set) var problems: [String] = []
  package private(set) var entries = 0

  package init(_ described: ClassSchema, _ reader: SnapshotReader) throws(StorageError) {
    for (number, rule) in described.uniqueRules.enumerated() {
      try check(rule, PackedIndex(described.id, uniqueRule: number), described, reader)
    }
  }

  private mutating func check(
    _ rule: [ColumnID], _ index: PackedIndex, _ described: ClassSchema, _ reader: SnapshotReader
  ) throws(StorageError) {
    let names = rule.map { described[$0].name }.joined(separator: ", ")
    let title = "the unique rule of class \(described.name) over \(names)"
    var (expected, missing, shared) = (0, 0, 0)
    var cursor = try Cursor(reader.snapshot.transaction)
    try reader.forEachCluster(in: described.id) { cluster throws(StorageError) in
      for slot in 0..<cluster.image.rowCount {
        let key = cluster.image.key(at: slot)
        guard let mine = try reader.uniqueKey(of: key, in: described.id, rule) else { continue }
        expected += 1
        let found = try index.lookup(mine.order, &cursor)
        if !found.contains(key) { missing += 1 }
        for other in found where other < key {
          if try reader.uniqueKey(of: other, in: described.id, rule) == mine { shared += 1 }
        }
      }
      return true
    }
    if let problem = try index.problem(&cursor) { problems.append("\(title): \(problem)") }
    let found = try index.count(&cursor)
    entries += found
    if missing > 0 { problems.append("\(title) lacks \(missing) of \(expected) entries") }
    if found != expected { problems.append("\(title) has \(found) entries instead of \(expected)") }
    if shared > 0 { problems.append("\(title) is broken by \(shared) objects") }
  }
}
