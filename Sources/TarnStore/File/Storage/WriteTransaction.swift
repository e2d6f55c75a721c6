internal import CLMDB
internal import CTarn
internal import Glibc
import Synchronization

/// The file as changed by one `Environment.write` call. Exists only inside that call, on its
/// thread; one at a time across all processes.
package struct WriteTransaction: ~Copyable {
  let environment: Environment
  let engine: Engine
  let handle: LMDBHandle
  /// Shared with cursors, which LMDB closes itself when a write transaction ends.
  let life: WriteLife

  /// The longest value: with its header it fills one page of 4 KiB. Longer ones would need several
  /// adjacent free pages, and searching for those stalls writers while an old version is pinned.
  package static let valueByteCountMax = 4080

  package var transactionID: UInt64 { UInt64(unsafe mdb_txn_id(handle.raw)) }

  /// The bytes under the key, including this transaction's changes; valid until its next change.
  package func value(
    forKey key: UnsafeRawBufferPointer
  ) throws(StorageError) -> UnsafeRawBufferPointer? {
    var wanted = unsafe MDB_val(key)
    var found = unsafe MDB_val()
    let result = unsafe mdb_get(handle.raw, Environment.mainTree, &wanted, &found)
    if result == MDB_NOTFOUND { return nil }
    guard result == 0 else { throw environment.error(result, "read") }
    return unsafe try environment.boundedOrOwn(found, by: engine)
  }

  /// Stores the bytes under the key, replacing existing ones.
  ///
  /// Traps on more than `valueByteCountMax` bytes. Errors: `.addressSpace`, `.diskFull`,
  /// `.invalidInput` for an empty or too long key. LMDB: `mdb_put`.
  package func put(
    _ value: UnsafeRawBufferPointer, forKey key: UnsafeRawBufferPointer
  ) throws(StorageError) {
    require(value.count <= Self.valueByteCountMax, "the value is longer than a page")
    life.changeCount &+= 1
    var name = unsafe MDB_val(key)
    var data = unsafe MDB_val(value)
    let result = unsafe mdb_put(handle.raw, Environment.mainTree, &name, &data, 0)
    if result != 0 { throw environment.error(result, "write") }
  }

  /// Removes the key; false if it did not exist. LMDB: `mdb_del`.
  package func delete(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
    life.changeCount &+= 1
    var name = unsafe MDB_val(key)
    let result = unsafe mdb_del(handle.raw, Environment.mainTree, &name, nil)
    if result == MDB_NOTFOUND { return false }
    if result != 0 { throw environment.error(result, "delete") }
    return true
  }
}

/// Whether a write transaction is still live.
final class WriteLife {
  var isOver = false
  /// The number of keys stored, reserved or removed.
  var changeCount = 0
}

extension Environment {
  /// Begins a write, runs the body and commits, all on this thread; waits while another process or
  /// thread writes. The commit is done when this returns; `Environment` lists what an error says
  /// about the file. A body that throws leaves the file unchanged.
  ///
  /// Traps when called inside a write of the same file on the same thread. Errors: the body's,
  /// `.failed`, `.forked`, `.permissionDenied`, `.diskFull`, `.addressSpace`, `.inputOutput`,
  /// `.outcomeUnknown`. LMDB: `mdb_txn_begin`, `mdb_txn_commit`, `mdb_txn_abort`.
  package func write<R>(
    _ body: (borrowing WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try checkWritable()
    return try writeEvenIfClosed(body)
  }

  /// The same although an earlier failure may have closed the store for writing.
  func writeEvenIfClosed<R>(
    _ body: (borrowing WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let silence = isLimited ? SizeLimit.Silence() : nil
    defer { silence?.end() }
    let me = UInt(tarn_thread_id())
    require(
      writingThread.load(ordering: .relaxed) != me, "the thread began a write inside a write")
    let (engine, transaction) = try beginWrite()
    defer { leave(keeping: nil, of: engine) }
    let raw = unsafe transaction.raw
    writingThread.store(me, ordering: .sequentiallyConsistent)
    defer { writingThread.store(0, ordering: .releasing) }
    let life = WriteLife()
    let durability = durability
    engine.setDurability(durability)
    let answer: R
    do throws(StorageError) {
      if durability == .relaxed { try beginUse() }
      try requireSoundFreeList()
      answer = try body(
        WriteTransaction(environment: self, engine: engine, handle: transaction, life: life))
      // As late as possible; no code of the program runs between this and the commit.
      try checkDescriptors(of: engine, "commit", onlyPages: durability != .full)
    } catch {
      life.isOver = true
      unsafe mdb_txn_abort(raw)
      throw error
    }
    life.isOver = true
    FaultPoint.hit("storage.beforeCommit")
    let committed = unsafe mdb_txn_commit(raw)
    if committed != 0 { throw commitFailed(committed, engine) }
    FaultPoint.hit("storage.afterCommit")
    extendFile()
    return answer
  }

  private func checkWritable() throws(StorageError) {
    try checkNotClosed("write")
    if !isWritable { throw error(.permissionDenied, "write", "the process cannot write the file") }
  }

  /// Balance it with `leave`.
  private func beginWrite() throws(StorageError) -> (Engine, LMDBHandle) {
    growEarly()
    while true {
      let (engine, _) = try enter("write", reads: false)
      var raw: OpaquePointer?
      let result = unsafe mdb_txn_begin(engine.handle.raw, nil, 0, &raw)
      if result == 0, let raw = unsafe raw { return unsafe (engine, LMDBHandle(raw: raw)) }
      defer { leave(keeping: nil, of: engine) }
      if result == MDB_PANIC { latch(.outcomeUnknown) }
      guard result == MDB_MAP_RESIZED else { throw error(result, "write") }
      try grow(beyond: engine, "write")
    }
  }

  /// LMDB returns one number for several outcomes. It writes pages, syncs them, and writes the
  /// header; if writing the header failed, it refuses every later begin, which this checks.
  private func commitFailed(_ result: Int32, _ engine: Engine) -> StorageError {
    var probe: OpaquePointer?
    let begun = unsafe mdb_txn_begin(engine.handle.raw, nil, UInt32(MDB_RDONLY), &probe)
    if begun == 0 { unsafe mdb_txn_abort(probe) }
    if begun == MDB_PANIC {
      latch(.outcomeUnknown)
      settleHeaders()
      return error(
        .outcomeUnknown, "commit",
        "the disk failed in the last step: resume writing, or open the file again, to see "
          + "whether it has the change")
    }
    // LMDB reports a short write as an input/output error.
    if result == EFBIG || (result == EIO && SizeLimit.isReached(by: descriptor)) {
      return error(EFBIG, "commit")
    }
    if result == ENOSPC || result == EDQUOT || (result == EIO && isDiskFull) {
      return error(.diskFull, "commit", "the disk is full; nothing was changed")
    }
    if result == EIO { latch(.inputOutput) }
    return error(result, "commit")
  }

  private var isDiskFull: Bool {
    var facts = statvfs()
    guard unsafe fstatvfs(descriptor, &facts) == 0 else { return false }
    return facts.f_bavail < 64 || facts.f_favail == 0
  }

  /// LMDB does not write pages that it freed in the same commit, so the file may end before its
  /// last page. It is extended, so that a short file at open indicates damage. If this fails,
  /// opening only does one unnecessary check.
  private func extendFile() {
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(firstEngine.handle.raw, &info)
    let wanted = Int64(unsafe info.me_last_pgno + 1) * Int64(pageSize)
    if wanted <= Int64(knownByteCount.load(ordering: .relaxed)) { return }
    let facts = FileFacts.of(descriptor: descriptor)
    // The program may have closed it, and may use the number for its own file.
    guard let facts, facts.identity == dataIdentity else { return }
    var now = facts.byteCount
    if now < wanted && tarn_extend(descriptor, wanted) == 0 { now = wanted }
    knownByteCount.store(Int(now), ordering: .relaxed)
  }

  /// Like `bounded`, for values that may be in pages that this transaction changed: those are in
  /// the process's own memory.
  func boundedOrOwn(
    _ found: MDB_val, by engine: Engine
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    let start = unsafe UInt(bitPattern: found.mv_data)
    if start &- (try mapStart(of: engine)) < UInt(engine.mapByteCount) {
      return unsafe try bounded(found, by: engine)
    }
    return unsafe UnsafeRawBufferPointer(start: found.mv_data, count: found.mv_size)
  }
}

extension WriteTransaction {
  /// Removes the keys from `start` on, up to the first that does not match.
  ///
  /// Errors: `.corrupted` if a key that a cursor finds cannot be removed or appears again: in a
  /// damaged tree the search for a key need not lead to the page that contains it.
  func deleteAll(
    from start: UnsafeRawBufferPointer, while belongs: (UnsafeRawBufferPointer) -> Bool
  ) throws(StorageError) {
    var cursor = try Cursor(self)
    var last: [UInt8] = []
    while try unsafe cursor.seek(atOrAfter: start), unsafe belongs(cursor.key) {
      let found = unsafe Array(cursor.key)
      guard last.lexicographicallyPrecedes(found) else { throw environment.disorder("delete") }
      let existed = unsafe try withBytes(of: found) { key throws(StorageError) in
        try unsafe delete(key)
      }
      guard existed else { throw environment.disorder("delete") }
      last = found
    }
  }
}

/// Syncs, and failures of the disk.
///
/// If pages cannot be written or synced, Linux reports that once and then takes them for written,
/// so repeating the sync would succeed without having written them. Therefore the store is closed
/// for writing. With `full` and `consistent` the file is whole nevertheless: a header page is
/// written only after the pages that it leads to were synced, so what may be missing on the disk
/// are free pages and the two header pages. `resumeWriting` writes the latter again, as they are.
///
/// With `relaxed`, any page may be missing, and only reading the file from the disk again would
/// show which.
extension Environment {
  /// Whether a failure has closed the store for writing.
  package var isClosedForWriting: Bool { latchedCode.load(ordering: .acquiring) != 0 }

  func latch(_ code: StorageError.Code) {
    latchedCode.store(code.rawValue, ordering: .releasing)
  }

  func checkNotClosed(_ operation: String) throws(StorageError) {
    guard isClosedForWriting else { return }
    throw error(
      .failed, operation,
      "an earlier failure of the disk closed the file for writing in this process. \(wayOfFailed)")
  }

  private var wayOfFailed: String {
    durability == .relaxed
      ? "Its commits are not synced, so any page may be missing on the disk: end all programs that "
        + "have it open, and let 'tarn repair' make a new file of it"
      : "Call resumeWriting(), or end every use of it in this process, and open it again"
  }

  /// Waits until all commits, also those of other processes, are on the disk. While others commit
  /// with `relaxed`, the file is whole only if nothing was committed since.
  ///
  /// Errors: `.inputOutput`, which closes the store for writing; `.failed` if it is closed.
  package func sync(_ operation: String = "flush") throws(StorageError) {
    guard kind == .shared else { return }
    if isForked { throw error(.forked, operation, "the process was forked") }
    try checkNotClosed(operation)
    try checkOwnDescriptor(operation)
    let result = syncData()
    if result == 0 { return }
    latch(.inputOutput)
    throw StorageError(errno: result, operation: operation, path: path)
  }

  func checkOwnDescriptor(_ operation: String) throws(StorageError) {
    if FileFacts.isLost(descriptor, of: dataIdentity) {
      throw error(.failed, operation, LostDescriptor.detail(descriptor) + "; restart the program")
    }
  }

  /// - Returns: a system error number, or 0.
  func syncData() -> Int32 {
    while fdatasync(descriptor) != 0 {
      if errno != EINTR { return errno }
    }
    return 0
  }

  /// Lets the store be written again after a failure, if its disk works. Transactions go on.
  ///
  /// Errors: `.failed` if that cannot be had; those of writing.
  func resumeWriting() throws(StorageError) {
    guard isClosedForWriting else { return }
    let operation = "resume writing"
    guard durability != .relaxed else { return try checkNotClosed(operation) }
    try checkOwnDescriptor(operation)
    // Where LMDB refuses everything, this opens another engine.
    try beginRead().end()
    try writeEvenIfClosed { _ throws(StorageError) in
      try rewriteHeaders(operation)
    }
    latchedCode.store(0, ordering: .releasing)
  }

  /// Writes the header pages as they are, and syncs them. No other process writes meanwhile.
  private func rewriteHeaders(_ operation: String) throws(StorageError) {
    var result: Int32 = 0
    // The first sync reports failures from before as well, after which the pages count as written.
    for _ in 0..<2 {
      for page in 0..<2 {
        try rewriteHeader(at: page * pageSize, operation)
      }
      result = syncData()
      if result == 0 { return }
    }
    throw StorageError(errno: result, operation: operation, path: path)
  }

  /// Writes exactly the bytes that LMDB writes at a commit.
  private func rewriteHeader(at page: Int, _ operation: String) throws(StorageError) {
    var bytes = [UInt8](repeating: 0, count: StoreHeader.changingBytes.count)
    let offset = off_t(page + StoreHeader.changingBytes.lowerBound)
    let (read, written) = unsafe bytes.withUnsafeMutableBytes { bytes in
      let read = unsafe pread(descriptor, bytes.baseAddress, bytes.count, offset)
      guard read == bytes.count else { return (read, 0) }
      return unsafe (read, pwrite(descriptor, bytes.baseAddress, bytes.count, offset))
    }
    guard read == bytes.count, written == bytes.count else {
      throw StorageError(
        errno: read < 0 || written < 0 ? errno : EIO, operation: operation, path: path)
    }
  }

  /// After a header page could not be written, LMDB has written back what was there. That must be
  /// on the disk before another process uses the pages of the failed commit, because its header
  /// page may be there. This process still has the write lock.
  func settleHeaders() {
    // An error cannot be mended here, and the next sync reports it again.
    _ = syncData()
  }
}
