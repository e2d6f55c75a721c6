internal import CLMDB
internal import Glibc

/// A pin: a process that keeps the pages of an old commit from being reused.
package struct ReaderPin: Hashable, Sendable {
  package let processID: Int32
  package let transactionID: UInt64
}

/// Sizes of a file, for people and for limits.
package struct EnvironmentStatistics: Equatable, Sendable {
  package let pageByteCount: Int
  /// Pages in the file, used or free.
  package let pageCount: Int
  package let branchPages: Int
  package let leafPages: Int
  package let overflowPages: Int
  package let entries: Int
  package let depth: Int
  package let fileByteCount: Int
  package let mapByteCount: Int
  /// The maximum number of read transactions of all processes, fixed by the first process.
  package let readerCountMax: Int
}

extension Environment {
  /// The read transactions of all processes, including those of dead ones until they are cleared.
  /// Takes no lock; a transaction that begins or ends meanwhile may be missing or included.
  ///
  /// LMDB: `mdb_reader_list`.
  package func readers() -> [ReaderPin] {
    if isForked { return [] }
    return ReaderTable.slots(of: firstEngine.handle).compactMap { slot in
      slot.transactionID.map { ReaderPin(processID: slot.processID, transactionID: $0) }
    }
  }

  /// The oldest commit that is still being read, or nil.
  package var oldestReaderTransactionID: UInt64? {
    isForked ? nil : ReaderTable.oldest(of: firstEngine.handle)
  }

  /// Removes the pins of dead processes and returns their number. LMDB: `mdb_reader_check`.
  @discardableResult
  package func clearStaleReaders() throws(StorageError) -> Int {
    if isForked { throw forked("clear readers") }
    // LMDB uses its lock file to find dead processes.
    try checkDescriptors("clear readers")
    var dead: Int32 = 0
    let result = unsafe mdb_reader_check(firstEngine.handle.raw, &dead)
    if result != 0 { throw error(result, "clear readers") }
    return Int(dead)
  }

  /// The version of the loaded LMDB, such as "0.9.24". LMDB: `mdb_version`.
  package static var engineVersion: String {
    var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
    _ = unsafe mdb_version(&major, &minor, &patch)
    return "\(major).\(minor).\(patch)"
  }

  /// LMDB: `mdb_env_stat`, `mdb_env_info`.
  package var statistics: EnvironmentStatistics {
    let handle = firstEngine.handle
    var tree = MDB_stat()
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_stat(handle.raw, &tree)
    unsafe mdb_env_info(handle.raw, &info)
    let pageCount = Int(unsafe info.me_last_pgno) + 1
    let fileByteCount =
      options.writesThroughMap
      ? pageCount * pageSize : Int(FileFacts.of(descriptor: descriptor)?.byteCount ?? 0)
    return unsafe EnvironmentStatistics(
      pageByteCount: pageSize, pageCount: pageCount,
      branchPages: tree.ms_branch_pages, leafPages: tree.ms_leaf_pages,
      overflowPages: tree.ms_overflow_pages, entries: tree.ms_entries, depth: Int(tree.ms_depth),
      fileByteCount: fileByteCount,
      mapByteCount: mapByteCount, readerCountMax: Int(info.me_maxreaders))
  }

  /// Like `checkIdentity`. But for unsynced commits, which are faster than the check, it runs only
  /// if the last check is ten milliseconds old.
  package func checkIdentityBeforeCommit() throws(StorageError) {
    if durability != .relaxed { return try checkIdentity() }
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    let now = UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    if now &- lastIdentityCheck.load(ordering: .relaxed) < 10_000_000 { return }
    try checkIdentity()
    lastIdentityCheck.store(now, ordering: .relaxed)
  }

  /// Are the files at their paths still the ones that this process opened? Three microseconds.
  ///
  /// Errors: `.corrupted` if the data was cut; `.replaced`. Writing must then stop: a commit would
  /// go to a file that no other process sees. Reading continues. Others if the system cannot tell
  /// now.
  package func checkIdentity(_ operation: String = "write") throws(StorageError) {
    // Files without names cannot be replaced.
    guard kind == .shared else { return }
    let known = knownByteCount.load(ordering: .acquiring)
    guard let data = try FileFacts.named(path, operation), data.identity == dataIdentity else {
      throw error(
        .replaced, operation,
        "the file was deleted, moved or replaced while it was open; \(Self.wayOfLost)")
    }
    guard try FileFacts.leads(lockPath, to: lockIdentity, operation) else {
      throw error(
        .replaced, operation,
        "its lock file was deleted or replaced while it was open; \(Self.wayOfLost)")
    }
    try check(data, known, operation)
  }

  /// For programs with Realms and for people at a shell: only an opening finds the new files.
  private static var wayOfLost: String {
    "end every use of it in this process, and open it again"
  }

  /// Is the file at least as long as before? Check this before a read whose caller can receive an
  /// error: touching truncated pages ends the process. A third of a microsecond.
  ///
  /// Errors: `.corrupted`; `.failed` if the program closed the descriptor.
  package func checkLength(_ operation: String) throws(StorageError) {
    // Before the check, because the file may grow after it.
    let known = knownByteCount.load(ordering: .acquiring)
    guard kind == .shared, let data = FileFacts.of(descriptor: descriptor) else { return }
    guard data.identity == dataIdentity else {
      throw error(.failed, operation, LostDescriptor.detail(descriptor) + "; restart the program")
    }
    try check(data, known, operation)
  }

  private func check(
    _ data: FileFacts, _ known: Int, _ operation: String
  ) throws(StorageError) {
    guard data.byteCount < known else { return }
    throw error(
      .corrupted, operation,
      "the file was cut from \(known) to \(data.byteCount) bytes while it was open; release "
        + "every Realm of it, and restore a copy")
  }

  /// The newest commit in LMDB's header. It may be newer than the commit that readers can see, and
  /// than the durable one, but never older. So do not advance because of it; but if it equals the
  /// current commit, no newer one exists. Eight nanoseconds.
  package var newestTransactionIDHint: UInt64 {
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(firstEngine.handle.raw, &info)
    return UInt64(unsafe info.me_last_txnid)
  }

  /// Makes a commit visible whose writer died between writing LMDB's header page and updating the
  /// reader table: until the next write begins, new readers would still see the commit before it.
  /// Only to be called while no other thread or process holds the write lock, because a live writer
  /// is briefly in that state at each commit. Does nothing if there is nothing to repair.
  ///
  /// LMDB: `mdb_txn_begin` finds the dead owner's mutex and repairs; then `mdb_txn_abort`.
  package func publishOrphanedCommit() {
    // Twice: a commit may have completed between the two checks.
    guard isWritable, isUnpublished(), isUnpublished() else { return }
    try? write { _ throws(StorageError) in throw error(.conflict, "repair", "") }
  }

  private func isUnpublished() -> Bool {
    guard let probe = try? beginRead() else { return false }
    defer { probe.end() }
    return mayHideCommit(from: probe)
  }

  /// True if the header names a later commit than that of `transaction`, which has just begun:
  /// another commit was made in between, is being made, or its writer died in it.
  func mayHideCommit(from transaction: ReadTransaction) -> Bool {
    newestTransactionIDHint > transaction.transactionID
  }
}
