internal import CLMDB
import Synchronization

/// A consistent view of the file as of one commit. Its contents stay valid and unchanged while it
/// lives. It keeps the pages of that commit from being reused, so end it when it is no longer
/// needed.
///
/// Threading: may move between threads and be read by several at once, because it is not bound to a
/// thread (MDB_NOTLS) and reading the main tree writes nothing shared. A `Cursor` is confined to
/// one thread, and `end` must not run concurrently with a read.
///
/// LMDB: `mdb_txn_begin` with MDB_RDONLY, `mdb_txn_renew`, `mdb_txn_reset`.
package final class ReadTransaction: @unchecked Sendable {
  // because: see Threading.

  package let environment: Environment
  /// Identifies the pin in the reader table. Not a version: LMDB's numbers restart and repeat, and
  /// a reader may even see one commit more than its number says.
  package let transactionID: UInt64
  let engine: Engine
  let handle: LMDBHandle
  private let hasEnded = Atomic<Bool>(false)

  init(_ environment: Environment, _ engine: Engine, _ handle: LMDBHandle) {
    self.environment = environment
    self.engine = engine
    self.handle = handle
    transactionID = UInt64(unsafe mdb_txn_id(handle.raw))
  }

  deinit { end() }

  /// The number of keys. LMDB: `mdb_stat`.
  var entryCount: Int {
    var facts = MDB_stat()
    return unsafe mdb_stat(handle.raw, Environment.mainTree, &facts) == 0 ? facts.ms_entries : 0
  }

  /// The bytes stored under the key, valid until the transaction ends; nil without an entry.
  ///
  /// Errors: `.corrupted`; `.forked`; `.invalidInput` for an empty key or one of more than 511
  /// bytes. LMDB: `mdb_get`.
  package func value(
    forKey key: UnsafeRawBufferPointer
  ) throws(StorageError) -> UnsafeRawBufferPointer? {
    assert(!hasEnded.load(ordering: .relaxed), "the read transaction has ended")
    if environment.isForked { throw environment.forked("read") }
    var wanted = unsafe MDB_val(key)
    var found = unsafe MDB_val()
    let result = unsafe mdb_get(handle.raw, Environment.mainTree, &wanted, &found)
    if result == 0 { return unsafe try environment.bounded(found, by: engine) }
    if result == MDB_NOTFOUND { return nil }
    throw environment.error(result, "read")
  }

  /// Ends the view. Pointers into it are invalid from here on. A second call does nothing.
  package func end() {
    if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
    // In a forked child the slot in shared memory is the parent's pin.
    if environment.isForked { return }
    unsafe mdb_txn_reset(handle.raw)
    environment.leave(keeping: handle, of: engine)
  }
}

extension Environment {
  static let mainTree: MDB_dbi = 1

  /// A view of the newest commit.
  ///
  /// Errors: `.readersFull`, `.addressSpace` if another process made the file larger than this
  /// one may map, `.forked`, `.failed`.
  package func beginRead() throws(StorageError) -> ReadTransaction {
    while true {
      let (engine, pooled) = try enter("read", reads: true)
      let result: Int32
      if let pooled {
        result = unsafe mdb_txn_renew(pooled.raw)
        if result == 0 { return ReadTransaction(self, engine, pooled) }
        unsafe mdb_txn_abort(pooled.raw)
      } else {
        var raw: OpaquePointer?
        result = unsafe mdb_txn_begin(engine.handle.raw, nil, UInt32(MDB_RDONLY), &raw)
        if result == 0, let raw = unsafe raw {
          return unsafe ReadTransaction(self, engine, LMDBHandle(raw: raw))
        }
      }
      defer { leave(keeping: nil, of: engine) }
      switch result {
      case MDB_MAP_RESIZED: try grow(beyond: engine, "read")
      case MDB_PANIC: try replace(engine, "read")
      case MDB_READERS_FULL:
        throw ReaderTable.full(engine.handle, lockPath, operation: "read", path: path)
      default: throw error(result, "read")
      }
    }
  }

  /// Bytes that LMDB points to, if they are inside the file. Lengths and page numbers come from the
  /// disk, and touching the map past the file's end is fatal.
  @inline(__always)
  func bounded(
    _ found: MDB_val, by engine: Engine
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    let start = unsafe UInt(bitPattern: found.mv_data)
    let count = unsafe found.mv_size
    let known = UInt(bitPattern: knownByteCount.load(ordering: .relaxed))
    // A start before the map wraps around and is too large as well.
    let offset = start &- engine.mapStart.load(ordering: .relaxed)
    if offset > known || count > known - offset { try lookAgain(start, UInt(count), engine) }
    return unsafe UnsafeRawBufferPointer(start: found.mv_data, count: Int(count))
  }

  /// The file may have grown since its length was read.
  @inline(never)
  private func lookAgain(
    _ start: UInt, _ count: UInt, _ engine: Engine
  ) throws(StorageError) {
    guard let facts = FileFacts.of(descriptor: descriptor) else {
      throw error(.inputOutput, "read", "the file's length cannot be read")
    }
    knownByteCount.store(Int(facts.byteCount), ordering: .relaxed)
    let known = UInt(facts.byteCount)
    let offset = start &- (try mapStart(of: engine))
    if offset > known || count > known - offset {
      throw error(.corrupted, "read", "the file is damaged: a value is outside the file")
    }
  }

  /// The start of the engine's map, from the kernel's list of mappings if it is not known yet.
  @inline(never)
  func mapStart(of engine: Engine) throws(StorageError) -> UInt {
    let known = engine.mapStart.load(ordering: .relaxed)
    if known != 0 { return known }
    let others = state.withLock { $0.engines.map { $0.mapStart.load(ordering: .relaxed) } }
    let map = try ProcessMaps.shared(of: descriptor).first { mapping in
      mapping.fileOffset == 0 && !others.contains(mapping.start)
        && Int(mapping.end - mapping.start) >= engine.mapByteCount
    }
    guard let map else {
      throw error(
        .inputOutput, "read",
        "/proc/self/maps does not show the file, which is mapped; is /proc mounted?")
    }
    engine.mapStart.store(map.start, ordering: .relaxed)
    return map.start
  }
}

extension MDB_val {
  /// LMDB takes keys and values as plain pointers but only reads through them.
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.init(
      mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }
}
