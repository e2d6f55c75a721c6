/// The head record in the tree.
extension HeadRecord {
  /// The head that a transaction sees, or nil if the file has none yet.
  package static func find(in transaction: ReadTransaction) throws(StorageError) -> HeadRecord? {
    let bytes = try unsafe TreeKey.head.withBytes { key throws(StorageError) in
      try unsafe transaction.value(forKey: key)
    }
    return try unsafe bytes.map { bytes throws(StorageError) in
      try unsafe HeadRecord(decoding: bytes)
    }
  }

  /// The head that a write sees, or nil if the file has none yet.
  static func find(
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) -> HeadRecord? {
    let bytes = try unsafe TreeKey.head.withBytes { key throws(StorageError) in
      try unsafe transaction.value(forKey: key)
    }
    return try unsafe bytes.map { bytes throws(StorageError) in
      try unsafe HeadRecord(decoding: bytes)
    }
  }

  /// The head that a transaction sees. Throws `.notAStore` if there is none.
  static func read(from transaction: ReadTransaction) throws(StorageError) -> HeadRecord {
    guard let head = try find(in: transaction) else { throw missing("") }
    return head
  }

  static func read(
    from transaction: borrowing WriteTransaction
  ) throws(StorageError) -> HeadRecord {
    guard let head = try find(in: transaction) else { throw missing("") }
    return head
  }

  static func missing(_ path: String) -> StorageError {
    StorageError(
      .notAStore, operation: "open", path: path,
      detail: "the file is an LMDB database, but has no head record of a store")
  }

  func put(in transaction: borrowing WriteTransaction) throws(StorageError) {
    try unsafe withEncoded { bytes throws(StorageError) in
      try unsafe TreeKey.head.withBytes { key throws(StorageError) in
        try unsafe transaction.put(bytes, forKey: key)
      }
    }
  }

  /// The head after one more commit.
  func committing() -> HeadRecord {
    var next = self
    next.version = version.next
    next.commitID = .random(in: 1 ... .max)
    return next
  }
}

extension Bytes16 {
  static func random() -> Bytes16 {
    Bytes16(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
  }
}
