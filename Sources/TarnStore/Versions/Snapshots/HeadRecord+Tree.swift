internal import Glibc

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

  /// The head that a transaction sees. Throws `.notAStore` without one.
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
    var head = self
    head.isHeaderUnsynced = transaction.environment.durability == .consistent
    try unsafe head.withEncoded { bytes throws(StorageError) in
      try unsafe TreeKey.head.withBytes { key throws(StorageError) in
        try unsafe transaction.put(bytes, forKey: key)
      }
    }
  }

  /// The head record of the next commit.
  func committing() -> HeadRecord {
    var next = self
    next.version = version.next
    next.commitID = CommitNumbers.next(after: commitID)
    return next
  }
}

/// Numbers that distinguish commits of the same version in copies of one file. They need not be
/// secret, and asking the kernel for one costs as much as a tenth of a small commit.
enum CommitNumbers {
  private static let seed = UInt64.random(in: 0 ... .max)

  /// Not zero. The time distinguishes a forked process from its parent, the seed all others.
  static func next(after last: UInt64) -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    let now = UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    var mixed = (seed ^ last) &+ now &* 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return max(1, mixed ^ mixed >> 31)
  }
}

extension Bytes16 {
  package static func random() -> Bytes16 {
    Bytes16(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
  }
}
