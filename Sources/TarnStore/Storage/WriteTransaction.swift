internal import CLMDB
internal import CTarn
internal import Glibc
import Synchronization

/// The file as one `Environment.write` call changes it. Exists only inside that call, on its
/// thread; one at a time over all processes.
package struct WriteTransaction: ~Copyable {
  let environment: Environment
  let engine: Engine
  let handle: LMDBHandle
  /// Shared with cursors, which LMDB closes itself when a write transaction ends.
  let life: WriteLife

  /// Longest value: with its header it fills one page of 4 KiB. Longer ones would ask for several
  /// free pages in a row, and looking for those stalls writers when an old version is pinned.
  package static let valueByteCountMax = 4080
  /// Longest key, LMDB's limit.
  package static let keyByteCountMax = 511

  package var transactionID: UInt64 { UInt64(unsafe mdb_txn_id(handle.raw)) }

  /// The bytes under the key, this transaction's own changes included; valid until its next change.
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

  /// Stores the bytes under the key, replacing what was there.
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

  /// Room under the key, to be filled at once: it is valid until the next change of any key.
  ///
  /// LMDB: `mdb_put` with MDB_RESERVE.
  package func reserve(
    _ byteCount: Int, forKey key: UnsafeRawBufferPointer
  ) throws(StorageError) -> UnsafeMutableRawBufferPointer {
    require((0...Self.valueByteCountMax).contains(byteCount), "the value is longer than a page")
    life.changeCount &+= 1
    var name = unsafe MDB_val(key)
    var room = unsafe MDB_val(mv_size: byteCount, mv_data: nil)
    let flags = UInt32(MDB_RESERVE)
    let result = unsafe mdb_put(handle.raw, Environment.mainTree, &name, &room, flags)
    if result != 0 { throw environment.error(result, "write") }
    return unsafe UnsafeMutableRawBufferPointer(start: room.mv_data, count: byteCount)
  }

  /// Removes the key; false if it was not there. LMDB: `mdb_del`.
  package func delete(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
    life.changeCount &+= 1
    var name = unsafe MDB_val(key)
    let result = unsafe mdb_del(handle.raw, Environment.mainTree, &name, nil)
    if result == MDB_NOTFOUND { return false }
    if result != 0 { throw environment.error(result, "delete") }
    return true
  }
}

/// Whether a write transaction is still going on.
final class WriteLife {
  var isOver = false
  /// Keys that were put, made room for or removed.
  var changeCount = 0
}

extension Environment {
  /// Begins, runs the body and commits, all on this thread; waits while another process or thread
  /// writes. The commit has happened when this returns; `Environment` lists what an error says
  /// about the file. A body that throws leaves the file as it was.
  ///
  /// Traps when called inside a write of the same file on the same thread.
  /// Errors: the body's, `.failed`, `.forked`, `.permissionDenied`, `.diskFull`, `.addressSpace`,
  /// `.inputOutput`, `.outcomeUnknown`.
  /// LMDB: `mdb_txn_begin`, `mdb_txn_commit`, `mdb_txn_abort`.
  package func write<R>(
    _ body: (borrowing WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try checkWritable()
    let me = UInt(tarn_thread_id())
    require(
      writingThread.load(ordering: .relaxed) != me, "the thread began a write inside a write")
    let (engine, transaction) = try beginWrite()
    defer { leave(keeping: nil, of: engine) }
    let raw = unsafe transaction.raw
    writingThread.store(me, ordering: .relaxed)
    defer { writingThread.store(0, ordering: .relaxed) }
    let life = WriteLife()
    let answer: R
    do throws(StorageError) {
      answer = try body(
        WriteTransaction(environment: self, engine: engine, handle: transaction, life: life))
      // As late as can be; there is nothing of the program's between this and the commit.
      try checkDescriptors(of: engine, "commit", onlyPages: options.durability == .none)
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

  /// Waits until everything committed is on the disk. LMDB: `mdb_env_sync`.
  package func sync() throws(StorageError) {
    try checkWritable()
    try checkDescriptors(of: firstEngine, "sync", onlyPages: true)
    let result = unsafe mdb_env_sync(firstEngine.handle.raw, 1)
    if result != 0 {
      latch(.inputOutput)
      throw error(result, "sync")
    }
  }

  private func checkWritable() throws(StorageError) {
    let latched = latchedCode.load(ordering: .acquiring)
    if latched != 0 {
      throw error(
        .failed, "write", "an earlier failure closed this store for writing; open it again")
    }
    if !isWritable { throw error(.permissionDenied, "write", "the process cannot write the file") }
  }

  private func latch(_ code: StorageError.Code) {
    latchedCode.store(code.rawValue, ordering: .releasing)
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
      if result == MDB_PANIC { latch(.failed) }
      guard result == MDB_MAP_RESIZED else { throw error(result, "write") }
      try grow(beyond: engine, "write")
    }
  }

  /// LMDB gives one number for several outcomes. It writes pages, syncs them, writes the header;
  /// when the header failed it refuses every later begin, and that is how we know.
  private func commitFailed(_ result: Int32, _ engine: Engine) -> StorageError {
    var probe: OpaquePointer?
    let begun = unsafe mdb_txn_begin(engine.handle.raw, nil, UInt32(MDB_RDONLY), &probe)
    if begun == 0 { unsafe mdb_txn_abort(probe) }
    if begun == MDB_PANIC {
      latch(.outcomeUnknown)
      return error(
        .outcomeUnknown, "commit",
        "the disk failed in the last step; open the file again to see whether it has the change"
      )
    }
    // A write cut short by a full disk is reported as an input/output error.
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
  /// last page. It is made whole, so that a short file at open means damage worth a look. Failing
  /// here costs that look and nothing else.
  private func extendFile() {
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(firstEngine.handle.raw, &info)
    let wanted = Int64(unsafe info.me_last_pgno + 1) * Int64(pageSize)
    if wanted <= Int64(knownByteCount.load(ordering: .relaxed)) { return }
    let facts = FileFacts.of(descriptor: descriptor)
    // The program may have closed it, and use the number for a file of its own.
    guard let facts, facts.identity == dataIdentity else { return }
    var now = facts.byteCount
    if now < wanted && tarn_extend(descriptor, wanted) == 0 { now = wanted }
    knownByteCount.store(Int(now), ordering: .relaxed)
  }

  /// As `bounded`, for values that may lie in pages which this transaction changed: those are in
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
