internal import CLMDB
internal import CTarn
internal import Glibc
import Synchronization

/// One store's file, open in this process: LMDB's environment with its traps closed off.
///
/// The file's life, in the order in which things happen:
///
/// 1. `open` makes a store where there is none (`NewStore`), and resolves the path, so that every
///    name of the file leads to the same lock file.
/// 2. The registry looks whether the process has the file open; LMDB forbids a second opening
///    ("Do not have open an LMDB database twice in the same process at the same time"): it would
///    reset the table of readers, and closing either would drop the locks of both. A second `open`
///    gives the same object, and `close` counts.
///    Who may read the data but not write the lock file, or finds no room to make it or no slot in
///    its table of readers, gets a private copy instead, if he asks for nothing but reading; what
///    is said of sharing below does not hold for it, nor for stores in memory, whose files have no
///    names.
/// 3. Both header pages are validated before LMDB sees them. A file that is something else is
///    refused before anything is written, the lock file included.
/// 4. LMDB opens while nobody else does, and `LockFile` keeps the two locks by which processes
///    know that others have the store open. We take a shared lock on the data file at an offset
///    that the lock file's inode decides. A lock of somebody else at another offset means that the
///    same data is open with another lock file (a hard link, a deleted lock file): two writers at
///    once, so `open` refuses. The lock belongs to our descriptor and dies with the process.
/// 5. Reading: `beginRead` takes a reset transaction from a pool and renews it (no system call, no
///    mutex of LMDB's). Any thread may use it and end it.
/// 6. Writing: `write` begins, runs its body and commits on one thread within one call. LMDB's
///    write transaction belongs to its thread; left to a thread that ends, it can lose another
///    process's commit.
///
/// What can go wrong at a commit, and what the file shows then:
///
///     died or failed                      the file shows        the store in this process
///     before the commit, or in the body   the version before    goes on
///     pages do not fit on the disk        the version before    goes on; `.diskFull`
///     writing pages, or their sync        the version before    refuses writes; `.inputOutput`
///     the header page, or its sync        either version        refuses writes; `.outcomeUnknown`
///     after it                            the new version       goes on
///
/// A process that dies at any of these leaves nothing to repair; the next writer of any process
/// takes over its lock.
///
/// After a fork the child has no rights in the file: every begin throws `.forked`, and ending a
/// transaction there does nothing, because the slots in shared memory are the parent's.
///
/// Threading: all members may be called from any thread.
package final class Environment: Sendable {
  package let path: String
  package let lockPath: String
  package let kind: FileKind
  /// Why the data is a private copy; nil if it is not.
  package let copyCause: StorageError?
  /// False if the file may only be read by this process, whatever was asked for.
  package let isWritable: Bool
  package let options: EnvironmentOptions
  package let dataIdentity: FileIdentity
  /// Of the file at the path: the data's, unless that is a copy of it.
  package let sourceIdentity: FileIdentity
  package let lockIdentity: FileIdentity
  let pageSize: Int
  /// The one that the store was opened with. Transactions go through the newest of `state`; what
  /// needs none (LMDB's figures, its table of readers) is the same through any.
  let firstEngine: Engine
  /// Our own description of the data file; holds the lock of step 4.
  let descriptor: Int32
  /// Our own description of the lock file; holds the locks of `LockFile`.
  let lockDescriptor: Int32
  /// What `open` has made, for an opener that fails later.
  let created: CreatedFiles
  /// What `tarn_fork_count` said when the store was opened.
  private let forkCount: UInt32

  let state: Lock<State>
  /// Length of the file when last asked; values beyond it are not touched.
  let knownByteCount: Atomic<Int>
  /// Raw value of the code that closed the store for writing, or 0.
  let latchedCode = Atomic<Int>(0)
  /// Monotonic nanoseconds when the files at the paths were last seen to be the ones opened.
  let lastIdentityCheck = Atomic<UInt64>(0)
  /// `tarn_thread_id` of the thread inside `write`, to find a write within a write.
  let writingThread = Atomic<UInt>(0)

  struct State {
    /// In the order in which they were opened; all of them stay until the store is closed.
    var engines: [Engine]
    /// The size of the file at which no larger map could be had; 0 if that never happened.
    var grownInVainAt = 0
    /// Calls of `open` not yet balanced by `close`.
    var openings = 1
    /// Transactions that have not ended.
    var live = 0
    var isClosed = false
    /// Reset read transactions of the newest engine, ready to be renewed.
    var pool: [LMDBHandle] = []

    var engine: Engine { engines[engines.count - 1] }
  }

  /// Reset transactions kept; each holds one slot of the table of readers.
  static let poolCountMax = 4

  init(opened: OpenedFile, options: EnvironmentOptions) {
    path = opened.path
    lockPath = opened.lockPath
    kind = opened.kind
    copyCause = opened.copyCause
    isWritable = opened.isWritable
    self.options = options
    dataIdentity = opened.data.identity
    sourceIdentity = opened.source
    lockIdentity = opened.lock
    pageSize = opened.pageSize
    firstEngine = opened.engine
    state = Lock(State(engines: [opened.engine]))
    descriptor = opened.descriptor
    lockDescriptor = opened.lockDescriptor
    created = opened.created
    forkCount = tarn_fork_count()
    knownByteCount = Atomic(Int(opened.data.byteCount))
  }

  /// Opens the file, or gives the object that this process has open already.
  ///
  /// Balance each call with `close()`.
  ///
  /// Errors: `.notFound`, `.permissionDenied`, `.notAStore`, `.corrupted`, `.newerFormat`,
  /// `.identity`, `.alreadyOpen`, `.addressSpace`, `.inputOutput`.
  /// LMDB: `mdb_env_create`, `mdb_env_open`.
  package static func open(
    path: String, options: EnvironmentOptions = EnvironmentOptions()
  ) throws(StorageError) -> Environment {
    try open(.file(path), options: options)
  }

  /// Writes into a store that is made, as part of its making.
  package typealias FirstContent =
    @Sendable (borrowing WriteTransaction) throws(StorageError) -> Void

  /// The same for a store that may be in memory, which is a new one each time.
  ///
  /// - Parameter content: what a new store begins with; must fit one page. Nil for nothing.
  package static func open(
    _ location: StoreLocation, options: EnvironmentOptions, content: FirstContent? = nil
  ) throws(StorageError) -> Environment {
    FaultPoint.armFromEnvironment()
    if tarn_forked_unprepared() {
      throw StorageError(
        .forked, operation: "open", path: location.description,
        detail: "this process was created by a system call, for which the C library is not "
          + "prepared; use fork(), or start a program")
    }
    return try EnvironmentRegistry.shared.open(location, options: options, content: content)
  }

  /// Gives back one `open`. The file is closed when all are given back and the last transaction
  /// has ended; live read transactions stay valid until then.
  package func close() { EnvironmentRegistry.shared.close(self) }

  /// Removes the files that the opening has made, once nobody has them open any more: for an opener
  /// that could not use the store after all.
  package func removeCreatedFiles() { created.remove() }

  var isForked: Bool { tarn_fork_count() != forkCount }

  func error(_ code: StorageError.Code, _ operation: String, _ detail: String) -> StorageError {
    StorageError(code, operation: operation, path: path, detail: detail)
  }

  func error(_ result: Int32, _ operation: String) -> StorageError {
    if result == MDB_MAP_FULL || result == MDB_MAP_RESIZED { return fullMap(operation) }
    return StorageError(lmdb: result, operation: operation, path: path)
  }

  /// Counts a transaction in. Errors: `.forked`, `.failed` for a closed store.
  /// Gives what it goes through, and a reset handle of the pool to one that reads, if there is one.
  func enter(
    _ operation: String, reads: Bool
  ) throws(StorageError) -> (Engine, pooled: LMDBHandle?) {
    if isForked {
      throw error(.forked, operation, "the process was forked after it opened the store")
    }
    return try state.withLock { state throws(StorageError) in
      if state.isClosed || state.openings == 0 {
        throw error(.failed, operation, "the store is closed")
      }
      state.live += 1
      return (state.engine, reads ? state.pool.popLast() : nil)
    }
  }

  /// Counts a transaction out, and keeps its reset handle if there is room.
  ///
  /// - Parameter engine: what the transaction went through.
  func leave(keeping handle: LMDBHandle?, of engine: Engine) {
    let (surplus, isLast) = state.withLock { state in
      state.live -= 1
      assert(state.live >= 0, "internal error: a transaction ended twice")
      let isLast = state.live == 0 && state.openings == 0
      guard let handle, state.pool.count < Self.poolCountMax, state.engine === engine else {
        return (handle, isLast)
      }
      state.pool.append(handle)
      return (nil, isLast)
    }
    if let surplus { unsafe mdb_txn_abort(surplus.raw) }
    if isLast { EnvironmentRegistry.shared.closeIfUnused(self) }
  }

  /// Ends everything. Only the registry calls this, when no transaction lives.
  func shutDown() {
    let (engines, pool) = state.withLock { state in
      require(state.live == 0 && !state.isClosed, "internal error: closed while in use")
      state.isClosed = true
      defer { state.pool = [] }
      return (state.engines, state.pool)
    }
    for transaction in pool { unsafe mdb_txn_abort(transaction.raw) }
    // The child's copies of LMDB's mutexes and slots are the parent's: leave them alone.
    if isForked { return }
    // Not before: closing one frees slots of the others in the table of readers.
    for engine in engines { unsafe mdb_env_close(engine.handle.raw) }
    // Only now: the last closer would destroy the mutexes that the next opener waits for (0.9.26 to
    // 0.9.31), and learns from this lock that it is not the last.
    giveUp(lockDescriptor, lockIdentity)
    giveUp(descriptor, dataIdentity)
  }

  /// Closes a descriptor, unless the program has closed it and uses the number for another file.
  private func giveUp(_ descriptor: Int32, _ file: FileIdentity) {
    if FileFacts.of(descriptor: descriptor)?.identity == file {
      tarn_unlock_and_close(descriptor)
    } else {
      tarn_forget_in_child(descriptor)
    }
  }
}
