/// Reading many records one after the other, with one cursor.
extension ChangeLog {
  /// A record as it is met. Its note has no origin.
  struct Met {
    let header: ChangeRecord.Header
    let changes: ChangeSet
    /// The sections of values before the commit.
    let former: FormerSections
    /// The bytes of its values.
    let byteCount: Int
  }

  /// Calls `body` with the record of each version after `from`, up to and including `to`, until it
  /// returns false.
  ///
  /// - Throws: `.corrupted` if a record is damaged or missing.
  static func forEachRecord(
    after from: Version, upTo to: Version, in transaction: ReadTransaction,
    _ body: (Met) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard from < to else { return }
    var cursor = try Cursor(transaction)
    var version = from.next
    var isAtRecord = unsafe try TreeKey.changeHeader(version).withBytes {
      key throws(StorageError) in unsafe try cursor.seek(atOrAfter: key)
    }
    while version <= to {
      guard isAtRecord, let parsed = unsafe TreeKey.parseChange(cursor.key),
        parsed.version == version, parsed.classID == nil, parsed.chunk == 0
      else { throw .damagedRecord("its header is missing") }
      let first = unsafe cursor.value
      var byteCount = first.count
      isAtRecord = try cursor.next()
      while isAtRecord, let next = unsafe TreeKey.parseChange(cursor.key), next.version == version {
        byteCount += unsafe cursor.value.count
        isAtRecord = try cursor.next()
      }
      var former: FormerSections? = FormerSections()
      let (header, changes) = unsafe try ChangeRecord.decode(
        version: version, &former, skippingOrigin: true
      ) { classField, chunk throws(StorageError) in
        if classField == 0, chunk == 0 { return unsafe first }
        return unsafe try value(version, classField, chunk, in: transaction)
      }
      guard
        try body(
          Met(
            header: header, changes: changes, former: former ?? FormerSections(),
            byteCount: byteCount))
      else { return }
      version = version.next
    }
  }

  /// Calls `body` with the header of each record and the record's bytes, oldest first, until it
  /// returns false. A header of very many classes has only the first ones.
  static func forEachHeader(
    after from: Version = .zero, in transaction: ReadTransaction,
    _ body: (ChangeRecord.Header, _ byteCount: Int) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var cursor = try Cursor(transaction)
    var isAtRecord = unsafe try TreeKey.changeHeader(from.next).withBytes {
      key throws(StorageError) in unsafe try cursor.seek(atOrAfter: key)
    }
    while isAtRecord, let parsed = unsafe TreeKey.parseChange(cursor.key) {
      guard parsed.classID == nil, parsed.chunk == 0 else {
        throw .damagedRecord("its header is missing")
      }
      let header = unsafe try ChangeRecord.decodeHeader(cursor.value, version: parsed.version)
      var byteCount = unsafe cursor.value.count
      isAtRecord = try cursor.next()
      while isAtRecord, let next = unsafe TreeKey.parseChange(cursor.key),
        next.version == parsed.version
      {
        byteCount += unsafe cursor.value.count
        isAtRecord = try cursor.next()
      }
      guard try body(header, byteCount) else { return }
    }
  }

  private static func value(
    _ version: Version, _ classField: UInt32, _ chunk: UInt16, in transaction: ReadTransaction
  ) throws(StorageError) -> UnsafeRawBufferPointer? {
    unsafe try key(version, classField, chunk).withBytes { key throws(StorageError) in
      unsafe try transaction.value(forKey: key)
    }
  }
}
