/// The schema's pieces in the tree.
extension SchemaCodec {
  /// The schema of the file with the domains of its columns, nil if it has none yet.
  /// - Throws: `.corrupted`; `.newerFormat` if only a later library can read it.
  package static func read(_ cursor: inout Cursor) throws(StorageError) -> StoreSchema? {
    var stream: [UInt8] = []
    let start = TreeKey.schema(piece: 0)
    var found = try unsafe start.withBytes { key throws(StorageError) -> Bool in
      try unsafe cursor.seek(atOrAfter: key)
    }
    var piece: UInt16 = 0
    while found, let number = unsafe TreeKey.parseSchema(cursor.key) {
      guard number == piece, piece < .max else { throw damaged("a piece is missing") }
      unsafe stream.append(contentsOf: cursor.value)
      piece += 1
      found = try cursor.next()
    }
    if piece == 0 { return nil }
    var schema = try decode(stream)
    try DomainRecords.read(into: &schema, &cursor)
    return schema
  }

  /// Replaces the schema, and the domains of its columns.
  /// - Throws: `.invalidInput` if it is inconsistent; then nothing is written.
  package static func write(
    _ schema: StoreSchema, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var piece: UInt16 = 0
    for bytes in try encode(schema) {
      try unsafe TreeKey.schema(piece: piece).withBytes { key throws(StorageError) in
        try unsafe bytes.withUnsafeBufferPointer { bytes throws(StorageError) in
          try unsafe transaction.put(UnsafeRawBufferPointer(bytes), forKey: key)
        }
      }
      piece += 1
    }
    while true {
      let existed = try unsafe TreeKey.schema(piece: piece).withBytes {
        key throws(StorageError) -> Bool in
        try unsafe transaction.delete(key)
      }
      guard existed, piece < .max else { break }
      piece += 1
    }
    try DomainRecords.write(schema, in: transaction)
  }
}
