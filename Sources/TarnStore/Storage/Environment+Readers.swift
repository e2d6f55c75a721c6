internal import CLMDB
internal import Glibc

/// One pin: a process that keeps the pages of an old commit from being used again.
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
  /// Read transactions that all processes together can have, fixed by the first.
  package let readerCountMax: Int
}

extension Environment {
  /// Read transactions of all processes, those of dead ones included until somebody clears them.
  /// Takes no lock; a transaction that begins or ends meanwhile may be missing or there.
  ///
  /// LMDB: `mdb_reader_list`.
  package func readers() -> [ReaderPin] {
    if isForked { return [] }
    return ReaderTable.slots(of: firstEngine.handle).compactMap { slot in
      slot.transactionID.map { ReaderPin(processID: slot.processID, transactionID: $0) }
    }
  }

  /// The oldest commit that anybody still reads, or nil.
  package var oldestReaderTransactionID: UInt64? { readers().map(\.transactionID).min() }

  /// Removes the pins of dead processes; how many there were. LMDB: `mdb_reader_check`.
  @discardableResult
  package func clearStaleReaders() throws(StorageError) -> Int {
    if isForked { throw error(.forked, "clear readers", "the process was forked") }
    // LMDB asks through its lock file who is dead.
    try checkDescriptors("clear readers")
    var dead: Int32 = 0
    let result = unsafe mdb_reader_check(firstEngine.handle.raw, &dead)
    if result != 0 { throw error(result, "clear readers") }
    return Int(dead)
  }

  /// The version of LMDB that this process runs, "0.9.24". LMDB: `mdb_version`.
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
    return unsafe EnvironmentStatistics(
      pageByteCount: pageSize, pageCount: Int(info.me_last_pgno) + 1,
      branchPages: tree.ms_branch_pages, leafPages: tree.ms_leaf_pages,
      overflowPages: tree.ms_overflow_pages, entries: tree.ms_entries, depth: Int(tree.ms_depth),
      fileByteCount: Int(FileFacts.of(descriptor: descriptor)?.byteCount ?? 0),
      mapByteCount: mapByteCount, readerCountMax: Int(info.me_maxreaders))
  }

  /// As `checkIdentity`; but where commits are not synced anyway, which take less time than the
  /// look, only if the last look is ten milliseconds old.
  package func checkIdentityBeforeCommit() throws(StorageError) {
    if options.durability == .strict { return try checkIdentity() }
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    let now = UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    if now &- lastIdentityCheck.load(ordering: .relaxed) < 10_000_000 { return }
    try checkIdentity()
    lastIdentityCheck.store(now, ordering: .relaxed)
  }

  /// Are the files at their paths still the ones that this process opened? Three microseconds.
  ///
  /// Errors: `.corrupted` if the data was cut; `.replaced`. Writing must stop then: a commit would
  /// go to a file that nobody else sees. Reading what is open goes on.
  package func checkIdentity(_ operation: String = "write") throws(StorageError) {
    // Files without names cannot be replaced.
    guard kind == .shared else { return }
    let known = knownByteCount.load(ordering: .acquiring)
    guard let data = FileFacts.at(path), data.identity == dataIdentity else {
      throw error(
        .replaced, operation,
        "the file was deleted, moved or replaced while it was open; release every Realm of it "
          + "and open it again")
    }
    guard FileFacts.at(lockPath)?.identity == lockIdentity else {
      throw error(.replaced, operation, "the lock file was deleted or replaced while in use")
    }
    try check(data, known, operation)
  }

  /// Is the file as long as it was? To be asked before anything is read for somebody who can be
  /// given an error: touching what was cut off ends the process. A third of a microsecond.
  ///
  /// Errors: `.corrupted`.
  package func checkLength(_ operation: String) throws(StorageError) {
    // Before the look, since the file may grow after it.
    let known = knownByteCount.load(ordering: .acquiring)
    guard kind == .shared, let data = FileFacts.of(descriptor: descriptor) else { return }
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

  /// The newest commit that LMDB's header names: may run ahead of what readers can see and of what
  /// is durable, and never behind that. So it is no reason to show a commit, but where it names the
  /// one that is shown there is no newer one. Eight nanoseconds.
  package var newestTransactionIDHint: UInt64 {
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(firstEngine.handle.raw, &info)
    return UInt64(unsafe info.me_last_txnid)
  }

  /// Makes a commit visible whose writer died between writing LMDB's header page and telling the
  /// readers' table: until somebody begins a write, new readers would go on seeing the commit
  /// before it. Only to be called while nobody else holds the gate, because a live writer is in
  /// that state for some moments of each commit. Does nothing where nothing is to be done.
  ///
  /// LMDB: `mdb_txn_begin` finds the dead owner's mutex and repairs; then `mdb_txn_abort`.
  package func publishOrphanedCommit() {
    // Twice: a commit may have gone through between the two looks.
    guard isWritable, isUnpublished(), isUnpublished() else { return }
    try? write { _ throws(StorageError) in throw error(.conflict, "repair", "") }
  }

  private func isUnpublished() -> Bool {
    guard let probe = try? beginRead() else { return false }
    defer { probe.end() }
    return mayHideCommit(from: probe)
  }

  /// True if the header names a later commit than the one that `transaction` shows, which has just
  /// begun: another commit came between, or is being made, or its writer died in it.
  func mayHideCommit(from transaction: ReadTransaction) -> Bool {
    newestTransactionIDHint > transaction.transactionID
  }
}
