/// Reading many records one after another, with one cursor.
extension ChangeLog {
  /// A record found while walking. Its note has no origin.
  struct Met {
    let header: ChangeRecord.Header
    let changes: ChangeSet
    /// The sections of values before the commit.
    let oldValues: OldValueSections
  }

  /// A record that is not read yet.
  @safe struct Found {
    let version: Version
    /// The size of its values in bytes.
    fileprivate(set) var byteCount: Int
    private let first: UnsafeRawBufferPointer
    private let transaction: ReadTransaction

    fileprivate init(
      _ version: Version, _ first: UnsafeRawBufferPointer, _ transaction: ReadTransaction
    ) {
      self.version = version
      unsafe self.first = first
      byteCount = first.count
      self.transaction = transaction
    }

    /// Reads it if it is a small one.
    func small() throws(StorageError) -> SmallRecord? {
      unsafe byteCount == first.count ? try SmallRecord(first, version: version) : nil
    }

    /// Reads it.
    func met() throws(StorageError) -> Met {
      var oldValues: OldValueSections? = OldValueSections()
      let (header, changes) = unsafe try ChangeRecord.decode(
        version: version, &oldValues, skippingOrigin: true
      ) { classField, chunk throws(StorageError) in
        if classField == 0, chunk == 0 { return unsafe first }
        return unsafe try value(version, classField, chunk, in: transaction)
      }
      return Met(header: header, changes: changes, oldValues: oldValues ?? OldValueSections())
    }
  }

  /// Calls `body` with the record of each version after `from`, up to and including `to`, until it
  /// returns false. A record is valid only during the call.
  ///
  /// - Throws: `.corrupted` if a record is damaged or missing.
  static func forEachRecord(
    after from: Version, upTo to: Version, in transaction: ReadTransaction,
    _ body: (Found) throws(StorageError) -> Bool
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
      var found = unsafe Found(version, cursor.value, transaction)
      isAtRecord = try cursor.next()
      while isAtRecord, let next = unsafe TreeKey.parseChange(cursor.key), next.version == version {
        found.byteCount += unsafe cursor.value.count
        isAtRecord = try cursor.next()
      }
      guard try body(found) else { return }
      version = version.next
    }
  }

  /// Calls `body` with the header of each record and the record's size, oldest first, until it
  /// returns false. A header with very many classes has only the first ones.
  package static func forEachHeader(
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
