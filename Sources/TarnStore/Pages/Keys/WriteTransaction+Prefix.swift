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
    unsafe try withBytes(of: prefix) { start throws(StorageError) in
      unsafe try deleteAll(from: start) { unsafe $0.starts(with: prefix) }
    }
  }
}
