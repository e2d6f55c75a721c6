/// The change records in the file: written with each commit, merged for a move over several
/// versions, and removed when they are no longer needed.
package enum ChangeLog {
  /// Writes the record of a commit. The note in `meta` then counts the record's bytes.
  static func put(
    _ changes: ChangeSet, _ meta: inout ChangeRecord.Meta,
    _ oldValues: OldValueSections = OldValueSections(), in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    for piece in try ChangeRecord.encode(changes, &meta, oldValues) {
      unsafe try key(changes.to, piece.classField, piece.chunk).withBytes {
        key throws(StorageError) in
        unsafe try withBytes(of: piece.bytes) { bytes throws(StorageError) in
          unsafe try transaction.put(bytes, forKey: key)
        }
      }
    }
  }

  static func key(_ version: Version, _ classField: UInt32, _ chunk: UInt16) -> TreeKey {
    classField == 0
      ? .changeHeader(version, chunk: chunk)
      : .change(version, ClassID(classField - 1), chunk: chunk)
  }

  /// All changes in the versions after `from`, up to and including `to`.
  ///
  /// - Throws: `.corrupted` if a record is damaged or missing.
  static func changes(
    after from: Version, upTo to: Version, in transaction: ReadTransaction
  ) throws(StorageError) -> ChangeSet {
    // Usually an instance moves by one commit: there is nothing to merge.
    if to == from.next { return try record(of: to, in: transaction).changes }
    var fold = ChangeFold(after: from)
    let isLong = ChangeFold.prefersSmallRecords(from, to)
    try forEachRecord(after: from, upTo: to, in: transaction) { record throws(StorageError) in
      if isLong, let small = try record.small() {
        try fold.add(small)
      } else {
        fold.add(try record.met().changes)
      }
      return true
    }
    return fold.finish()
  }

  /// The header of a version's record, as a write sees it; nil without a record.
  static func header(
    of version: Version, in transaction: borrowing WriteTransaction
  ) throws(StorageError) -> ChangeRecord.Header? {
    let found = unsafe try key(version, 0, 0).withBytes { key throws(StorageError) in
      unsafe try transaction.value(forKey: key)
    }
    guard let found = unsafe found else { return nil }
    return unsafe try ChangeRecord.decodeHeader(found, version: version)
  }

  /// The header; nil also for a damaged record, which must not stop writers.
  static func readableHeader(
    of version: Version, in transaction: borrowing WriteTransaction
  ) throws(StorageError) -> ChangeRecord.Header? {
    try readable { () throws(StorageError) in try header(of: version, in: transaction) } ?? nil
  }

  /// Nil if `read` finds damaged data.
  private static func readable<R>(
    _ read: () throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    do throws(StorageError) {
      return try read()
    } catch {
      guard error.code == .corrupted else { throw error }
      return nil
    }
  }

  /// The header of a version's record, with only the first chunk's summaries; nil without a record.
  package static func header(
    of version: Version, in transaction: ReadTransaction
  ) throws(StorageError) -> ChangeRecord.Header? {
    let found = unsafe try key(version, 0, 0).withBytes { key throws(StorageError) in
      unsafe try transaction.value(forKey: key)
    }
    guard let found = unsafe found else { return nil }
    return unsafe try ChangeRecord.decodeHeader(found, version: version)
  }

  /// The approximate size of the records of these versions in bytes, reading only their headers.
  /// Stops counting above `most`.
  package static func byteCount(
    after from: Version, upTo to: Version, most: Int, in transaction: ReadTransaction
  ) throws(StorageError) -> Int {
    var bytes = 0
    var version = from
    while version < to, bytes <= most {
      version = version.next
      let found = unsafe try key(version, 0, 0).withBytes { key throws(StorageError) in
        unsafe try transaction.value(forKey: key)
      }
      // Merging reports a missing record.
      guard let found = unsafe found else { continue }
      let header = unsafe try ChangeRecord.decodeHeader(found, version: version)
      let chunks = header.classes.reduce(Int(header.headerChunkCount)) { $0 + Int($1.chunkCount) }
      bytes += header.isWhole ? found.count : chunks * ChangeRecord.chunkBytesMax
    }
    return bytes
  }

  static func record(
    of version: Version, in transaction: ReadTransaction
  ) throws(StorageError) -> (header: ChangeRecord.Header, changes: ChangeSet) {
    unsafe try ChangeRecord.decode(version: version) { classField, chunk throws(StorageError) in
      unsafe try key(version, classField, chunk).withBytes { key throws(StorageError) in
        unsafe try transaction.value(forKey: key)
      }
    }
  }

  /// The same, and the record's sections of values before the commit.
  static func sections(
    of version: Version, in transaction: ReadTransaction
  ) throws(StorageError) -> (ChangeRecord.Header, ChangeSet, OldValueSections) {
    var oldValues: OldValueSections? = OldValueSections()
    let (header, changes) = unsafe try ChangeRecord.decode(version: version, &oldValues) {
      classField, chunk throws(StorageError) in
      unsafe try key(version, classField, chunk).withBytes { key throws(StorageError) in
        unsafe try transaction.value(forKey: key)
      }
    }
    return (header, changes, oldValues ?? OldValueSections())
  }

  /// Removes the oldest records whose transactions are at most `transactionID`, up to the first one
  /// that is still needed.
  ///
  /// - Parameters:
  ///   - end: the first version whose record is kept in any case.
  ///   - most: the maximum number of values to remove; at least one record is removed.
  ///   - prunesOldValues: whether to look for long old values of removed records.
  ///   - isNeeded: nil in a file without cursors and retention, where the headers are not decoded.
  /// - Returns: true if more could be removed.
  static func prune(
    through transactionID: UInt64, before end: Version? = nil, most: Int,
    prunesOldValues: Bool = true, in transaction: borrowing WriteTransaction,
    unless isNeeded: ((ChangeRecord.Header) -> Bool)? = nil
  ) throws(StorageError) -> Bool {
    var doomed: [(version: Version, classField: UInt32, chunk: UInt16)] = []
    var cursor = try Cursor(transaction)
    var isCut = false
    var last: Version?
    var isAtRecord = unsafe try TreeKey.changeHeader(.zero).withBytes { key throws(StorageError) in
      unsafe try cursor.seek(atOrAfter: key)
    }
    while isAtRecord, let parsed = unsafe TreeKey.parseChange(cursor.key) {
      if parsed.classID == nil, parsed.chunk == 0 {
        if let end, parsed.version >= end { break }
        // No reader can use a damaged record, and it must not stop writers.
        let isKept = try readable { () throws(StorageError) in
          guard let isNeeded else {
            let id = unsafe try ChangeRecord.transactionID(cursor.value, version: parsed.version)
            return id > transactionID
          }
          let header = unsafe try ChangeRecord.decodeHeader(
            cursor.value, version: parsed.version, skippingOrigin: true)
          return header.meta.transactionID > transactionID || isNeeded(header)
        }
        if isKept == true { break }
        isCut = doomed.count >= most
        if isCut { break }
        last = parsed.version
      }
      doomed.append((parsed.version, parsed.classID.map { $0.rawValue + 1 } ?? 0, parsed.chunk))
      isAtRecord = try cursor.next()
    }
    for value in doomed {
      _ = unsafe try key(value.version, value.classField, value.chunk).withBytes {
        key throws(StorageError) in
        unsafe try transaction.delete(key)
      }
    }
    if let last, prunesOldValues { try pruneOldValues(upTo: last, in: transaction) }
    return isCut
  }

  /// Removes the long values that records up to that version referred to.
  private static func pruneOldValues(
    upTo last: Version, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    let first = TreeKey.oldValue(.zero, number: 0, piece: 0)
    try unsafe first.withBytes { start throws(StorageError) in
      try unsafe transaction.deleteAll(from: start) {
        unsafe TreeKey.parseOldValue($0).map { $0.version <= last } ?? false
      }
    }
  }
}

extension ChangeLog {
  /// The version of the oldest record; nil without any.
  package static func oldestVersion(
    in transaction: ReadTransaction
  ) throws(StorageError) -> Version? {
    var cursor = try Cursor(transaction)
    let found = unsafe try TreeKey.changeHeader(.zero).withBytes { key throws(StorageError) in
      unsafe try cursor.seek(atOrAfter: key)
    }
    return found ? unsafe TreeKey.parseChange(cursor.key)?.version : nil
  }

  /// Whether records after a version were removed because nothing needed them: there are later
  /// ones. A record that is missing among others is damage.
  package static func isRemoved(
    after version: Version, in transaction: ReadTransaction
  ) throws(StorageError) -> Bool {
    try oldestVersion(in: transaction).map { $0 > version.next } ?? false
  }

  /// The header of the oldest record; nil without any.
  static func oldestHeader(
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) -> ChangeRecord.Header? {
    var cursor = try Cursor(transaction)
    let isThere = unsafe try TreeKey.changeHeader(.zero).withBytes { key throws(StorageError) in
      unsafe try cursor.seek(atOrAfter: key)
    }
    guard isThere, let parsed = unsafe TreeKey.parseChange(cursor.key) else { return nil }
    return unsafe try ChangeRecord.decodeHeader(cursor.value, version: parsed.version)
  }
}
