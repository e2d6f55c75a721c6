extension WriteTransaction {
  /// Removes everything of one kind that belongs to a class.
  func deleteAll(_ tag: TreeKey.Tag, of id: ClassID) throws(StorageError) {
    var prefix = [tag.rawValue]
    for shift in [24, 16, 8, 0] { prefix.append(UInt8(truncatingIfNeeded: id.rawValue >> shift)) }
    try deleteAll(prefix)
  }

  /// Removes a column's index.
  func deleteIndex(_ id: ClassID, _ column: ColumnID) throws(StorageError) {
    for tag in [TreeKey.Tag.index, .linkCount] {
      var prefix = [tag.rawValue]
      for shift in [24, 16, 8, 0] {
        prefix.append(UInt8(truncatingIfNeeded: id.rawValue >> shift))
      }
      for shift in [8, 0] { prefix.append(UInt8(truncatingIfNeeded: column.rawValue >> shift)) }
      try deleteAll(prefix)
    }
  }

  private func deleteAll(_ prefix: [UInt8]) throws(StorageError) {
    while true {
      let found = unsafe try withBytes(of: prefix) { start throws(StorageError) -> [UInt8]? in
        var cursor = try Cursor(self)
        guard try unsafe cursor.seek(atOrAfter: start) else { return nil }
        let key = unsafe Array(cursor.key)
        return key.starts(with: prefix) ? key : nil
      }
      guard let found else { return }
      _ = unsafe try withBytes(of: found) { key throws(StorageError) in
        try unsafe delete(key)
      }
    }
  }
}
