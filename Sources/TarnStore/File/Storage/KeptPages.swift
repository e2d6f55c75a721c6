internal import CLMDB

/// The pages that commits have freed and that no commit may use again, because an older commit is
/// being read.
///
/// LMDB lists the pages that each commit has freed, and uses them again when all readers have that
/// commit or a later one. Those of the newest commit are never used before the next one ends, with
/// or without readers: they do not count.
package struct KeptPages: Sendable {
  /// The commits in order, each with the number of pages that it and all later ones have freed.
  private var commits: [(id: UInt64, pages: Int)] = []

  /// - Parameters:
  ///   - oldest: the oldest commit that `count(since:)` is asked for.
  ///   - transaction: a view of the newest commit.
  /// Errors: `.corrupted`. LMDB: `mdb_cursor_open` for the list of free pages.
  package init(since oldest: UInt64, in transaction: ReadTransaction) throws(StorageError) {
    var raw: OpaquePointer?
    let result = unsafe mdb_cursor_open(transaction.handle.raw, Self.freeList, &raw)
    guard result == 0, let raw = unsafe raw else {
      throw transaction.environment.error(result, "read")
    }
    let cursor = unsafe LMDBHandle(raw: raw)
    defer { unsafe mdb_cursor_close(cursor.raw) }
    var wanted = oldest
    while let (id, pages) = try Self.entry(from: wanted, cursor, transaction),
      id < transaction.transactionID
    {
      commits.append((id, pages))
      wanted = id + 1
    }
    var sum = 0
    for index in commits.indices.reversed() {
      sum += commits[index].pages
      commits[index].pages = sum
    }
  }

  /// The pages that a reader of this commit keeps, alone or together with others.
  package func count(since transactionID: UInt64) -> Int {
    let index = commits.partitioningIndex { $0.id >= transactionID }
    return index < commits.count ? commits[index].pages : 0
  }

  private static let freeList: MDB_dbi = 0
  private static let wordByteCount = MemoryLayout<UInt64>.size

  /// The first entry of a commit or a later one. Its value begins with the number of pages.
  private static func entry(
    from id: UInt64, _ cursor: LMDBHandle, _ transaction: ReadTransaction
  ) throws(StorageError) -> (id: UInt64, pages: Int)? {
    let environment = transaction.environment
    var wanted = id
    var key = unsafe MDB_val()
    var value = unsafe MDB_val()
    let result = unsafe withUnsafeMutableBytes(of: &wanted) { bytes in
      unsafe key = MDB_val(UnsafeRawBufferPointer(bytes))
      return unsafe mdb_cursor_get(cursor.raw, &key, &value, MDB_SET_RANGE)
    }
    if result == MDB_NOTFOUND { return nil }
    if result != 0 { throw environment.error(result, "read") }
    let found = unsafe try environment.bounded(key, by: transaction.engine)
    let list = unsafe try environment.bounded(value, by: transaction.engine)
    guard found.count == wordByteCount, list.count >= wordByteCount else {
      throw environment.error(MDB_CORRUPTED, "read")
    }
    let number = unsafe found.loadUnaligned(as: UInt64.self)
    let pages = unsafe list.loadUnaligned(as: UInt64.self)
    // An earlier number than the wanted one would lead in a circle.
    guard number >= id, pages < UInt64(list.count / wordByteCount) else {
      throw environment.error(MDB_CORRUPTED, "read")
    }
    return (number, Int(pages))
  }
}
