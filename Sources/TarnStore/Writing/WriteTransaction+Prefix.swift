extension WriteTransaction {
  /// Removes everything of one kind that belongs to a class.
  func deleteAll(_ tag: TreeKey.Tag, of id: ClassID) throws(StorageError) {
    try deleteAll(under: Self.prefix(tag, id.rawValue))
  }

  /// Removes a column's index.
  func deleteIndex(_ id: ClassID, _ column: ColumnID) throws(StorageError) {
    for tag in [TreeKey.Tag.index, .linkCount] {
      let number = unsafe withUnsafeBytes(of: column.rawValue.bigEndian) { unsafe Array($0) }
      try deleteAll(under: Self.prefix(tag, id.rawValue) + number)
    }
  }

  /// Removes everything of one kind that belongs to a collection.
  func deleteAll(_ tag: TreeKey.Tag, of id: CollectionID) throws(StorageError) {
    try deleteAll(under: Self.prefix(tag, id.rawValue))
  }

  private static func prefix(_ tag: TreeKey.Tag, _ id: some FixedWidthInteger) -> [UInt8] {
    unsafe withUnsafeBytes(of: id.bigEndian) { unsafe [tag.rawValue] + Array($0) }
  }

  private func deleteAll(under prefix: [UInt8]) throws(StorageError) {
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
