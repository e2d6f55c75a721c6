/// The objects that a property links to, from its values; the index must agree.
extension SnapshotReader {
  /// The objects that a collection or a mixed value links to, and how often, including links in
  /// nested lists and maps. Empty for other properties.
  package func links(
    from column: ColumnSchema, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> [ObjectRef: UInt64] {
    var found: [ObjectRef: UInt64] = [:]
    var pending: [StoredSequence] = []
    // In a damaged file, collections may contain each other.
    var known: Set<CollectionID> = []
    func take(_ value: Value) throws(StorageError) {
      switch value {
      case .list(let nested), .map(let nested):
        guard known.insert(nested).inserted, let sequence = try nestedSequence(nested) else {
          return
        }
        pending.append(sequence)
      default:
        if let target = column.linkTarget(of: value) { found[target, default: 0] += 1 }
      }
    }
    guard column.type == .link || column.type == .any else { return [:] }
    if column.collection == .none {
      if let value = try value(of: column.id, at: key, in: id) { try take(value) }
    } else if let sequence = try sequence(
      at: SequencePlace(classID: id, key: key, column: column.id))
    {
      pending.append(sequence)
    }
    while let next = pending.popLast() {
      try next.forEach(in: 0..<next.count) { value throws(StorageError) in
        try take(value)
        return true
      }
    }
    return found
  }
}
