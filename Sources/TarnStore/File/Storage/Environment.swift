internal import CLMDB
internal import CTarn
internal import Glibc
import Synchronization

/// One store's file, open in this process: LMDB's environment, made safe to use.
///
/// The life of the file, in order:
///
/// 1. `open` creates a store if none exists (`NewStore`), and resolves the path, so that every name
///    of the file leads to the same lock file.
/// 2. The registry checks whether the process has the file open; LMDB forbids a second opening
///    ("Do not have open an LMDB database twice in the same process at the same time"): it would
///    reset the reader table, and closing either would drop the locks of both. A second `open`
///    returns the same object, and `close` counts.
///    A process that may read the data but cannot write the lock file, has no room to create it or
///    finds no free slot in its reader table, gets a private copy, if it opens read-only; sharing
///    as described below does not apply to the copy, nor to in-memory stores, whose files have no
///    names.
/// 3. Both header pages are validated before LMDB reads them. A file that is not a store is refused
///    before anything is written, including the lock file.
/// 4. LMDB opens while no other process does, and `LockFile` keeps the two locks by which processes
///    know that others have the store open. The library takes a shared lock on the data file at an
///    offset that depends on the lock file's inode. Another lock at a different offset means that
///    the same data is open with another lock file (a hard link, a deleted lock file), so that two
///    processes could write at once: `open` refuses. The lock belongs to the library's descriptor
///    and is released when the process ends.
/// 5. Reading: `beginRead` takes a reset transaction from a pool and renews it (no system call, no
///    mutex of LMDB). Any thread may use it and end it.
/// 6. Writing: `write` begins, runs its body and commits on one thread within one call. LMDB's
///    write transaction belongs to its thread; if that thread ends, another process's commit can be
///    lost.
///
/// Failures of a commit, and the state of the file afterwards:
///
///     died or failed                      the file has          the store in this process
///     before the commit, or in the body   the version before    continues
///     pages do not fit on the disk        the version before    continues; `.diskFull`
///     writing pages, or their sync        the version before    refuses writes; `.inputOutput`
///     the header page, or its sync        either version        refuses writes; `.outcomeUnknown`
///     after it                            the new version       continues
///
/// `resumeWriting` ends such a refusal.
///
/// A process that dies at any of these points leaves nothing to repair; the next writer of any
/// process takes over its lock.
///
/// A forked child cannot use the file: every begin throws `.forked`, and ending a transaction does
/// nothing there, because the slots in shared memory belong to the parent.
///
/// Threading: all members may be called from any thread.
package final class Environment: Sendable {
  package let path: String
  package let lockPath: String
  package let kind: FileKind
  /// Why the data is a private copy; nil if it is not.
  package let copyCause: StorageError?
  /// Whether this process can write the file, whatever the options.
  package let isWritable: Bool
  package let options: EnvironmentOptions
  package let dataIdentity: FileIdentity
  /// The identity of the file at the path: the data's, unless the data is a copy of it.
  package let sourceIdentity: FileIdentity
  package let lockIdentity: FileIdentity
  let pageSize: Int
  /// The engine that the store was opened with. Transactions use the newest of `state`; calls
  /// without a transaction (LMDB's figures, its reader table) give the same through any.
  let firstEngine: Engine
  /// The library's own file description of the data; holds the lock of step 4.
  let descriptor: Int32
  /// The library's own file description of the lock file; holds the locks of `LockFile`.
  let lockDescriptor: Int32
  /// The files that `open` has created, for an opener that fails later.
  let created: CreatedFiles
  let copyFinding: FileStamp.Finding
  /// If it is `.uncertain`, no other process opens the file until `accept` is called.
  package let lastUse: LastUse
  /// Whether the length of files was limited when the store was opened.
  let isLimited = SizeLimit.byteCount != nil
  /// The value of `tarn_fork_count` when the store was opened.
  private let forkCount: UInt32

  let state: Lock<State>
  /// The length of the file when last checked; values beyond it are not touched.
  let knownByteCount: Atomic<Int>
  /// Raw value of the code that closed the store for writing, or 0.
  let latchedCode = Atomic<Int>(0)
  /// Raw value of `durability`.
  private let level: Atomic<Int>
  /// Whether the file has the mark of a file whose commits are not synced.
  let hasMark: Atomic<Bool>
  /// True while the mark is removed at the exit of the process; see `endUseAtExit`.
  let isUnmarking = Atomic(false)
  /// Monotonic nanoseconds of the last check that the files at the paths are the ones opened.
  let lastIdentityCheck = Atomic<UInt64>(0)
  /// Whether the free list was checked before a write.
  let isFreeListSound = Atomic(false)
  /// `tarn_thread_id` of the thread inside `write`, to find a write within a write.
  let writingThread = Atomic<UInt>(0)

  struct State {
    /// In the order of opening; all stay until the store is closed.
    var engines: [Engine]
    /// The size of the file when a larger map could not be reserved; 0 if that never happened.
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

  /// The most reset transactions kept; each holds a slot of the reader table.
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
    copyFinding = opened.copyFinding
    lastUse = opened.use.lastUse
    hasMark = Atomic(opened.use.hasMark)
    forkCount = tarn_fork_count()
    knownByteCount = Atomic(Int(opened.data.byteCount))
    level = Atomic(options.durability.rawValue)
    if opened.use.hasMark { _ = Self.whenExiting }
  }

  /// Opens the file, or returns the object that this process has open already.
  ///
  /// Balance each call with `close()`.
  ///
  /// Errors: `.notFound`, `.permissionDenied`, `.notAStore`, `.corrupted`, `.newerFormat`,
  /// `.identity`, `.alreadyOpen`, `.addressSpace`, `.inputOutput`. LMDB: `mdb_env_create`,
  /// `mdb_env_open`.
  package static func open(
    path: String, options: EnvironmentOptions = EnvironmentOptions()
  ) throws(StorageError) -> Environment {
    try open(.file(path), options: options)
  }

  /// Writes the first content of a new store.
  package typealias FirstContent =
    @Sendable (borrowing WriteTransaction) throws(StorageError) -> Void

  /// The same for a store that may be in memory, where each call makes a new one.
  ///
  /// - Parameter content: the first content of a new store; must fit one page. Nil for nothing.
  package static func open(
    _ location: StoreLocation, options: EnvironmentOptions, content: FirstContent? = nil
  ) throws(StorageError) -> Environment {
    if tarn_forked_unprepared() {
      throw StorageError(
        .forked, operation: "open", path: location.description,
        detail: "this process was created by a system call, for which the C library is not "
          + "prepared; use fork(), or start a program")
    }
    guard FileFacts.at("/proc/self/fd") != nil else {
      throw StorageError(
        .failed, operation: "open", path: location.description,
        detail: "/proc is not mounted, and only its names lead to the files that this process has "
          + "checked; mount /proc")
    }
    let silence = SizeLimit.Silence()
    defer { silence.end() }
    return try EnvironmentRegistry.shared.open(location, options: options, content: content)
  }

  /// Opens a file that no other process can open.
  ///
  /// - Parameter file: stays the caller's.
  static func open(owned file: Int32, path: String) throws(StorageError) -> Environment {
    let copy = fcntl(file, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw StorageError(errno: errno, operation: "open", path: path) }
    var options = EnvironmentOptions()
    options.durability = .relaxed
    options.comparesSums = true
    let target = try FileToOpen(path, owning: OwnedDescriptor(adopting: copy))
    return Environment(opened: try target.open(options), options: options)
  }

  /// Balances one `open`. The file is closed after the last `close` and the end of the last
  /// transaction; live read transactions stay valid until then.
  package func close() { EnvironmentRegistry.shared.close(self) }

  /// Removes the files that opening has created, unless they are still in use: for an opener that
  /// could not use the store after all.
  package func removeCreatedFiles() { created.remove() }

  /// Not nil if the file is a copy that another program has made, or was moved.
  package var copyNotice: CopyNotice? { copyFinding.notice }

  var isForked: Bool { tarn_fork_count() != forkCount }

  /// The durability of this process's commits: the strongest that an opener has asked for, unless
  /// the file is relaxed.
  package var durability: EnvironmentOptions.Durability {
    EnvironmentOptions.Durability(rawValue: level.load(ordering: .relaxed)) ?? .full
  }

  /// From now on commits wait for at least that much.
  func raiseDurability(to wanted: EnvironmentOptions.Durability) {
    level.max(wanted.rawValue, ordering: .relaxed)
  }

  /// For a file whose commits are not synced by others: syncing some of them protects none.
  func relax() {
    level.store(EnvironmentOptions.Durability.relaxed.rawValue, ordering: .relaxed)
  }

  package func forked(_ operation: String) -> StorageError {
    error(
      .forked, operation,
      "the store was opened before this process was forked from its parent; open it again here")
  }

  func error(_ code: StorageError.Code, _ operation: String, _ detail: String) -> StorageError {
    StorageError(code, operation: operation, path: path, detail: detail)
  }

  func error(_ result: Int32, _ operation: String) -> StorageError {
    if result == MDB_MAP_FULL || result == MDB_MAP_RESIZED { return fullMap(operation) }
    return StorageError(lmdb: result, operation: operation, path: path)
  }

  /// Registers a transaction. Errors: `.forked`, `.failed` for a closed store. Returns its engine,
  /// and for a read transaction a reset handle of the pool, if there is one.
  func enter(
    _ operation: String, reads: Bool
  ) throws(StorageError) -> (Engine, pooled: LMDBHandle?) {
    if isForked { throw forked(operation) }
    return try state.withLock { state throws(StorageError) in
      if state.isClosed || state.openings == 0 {
        throw error(.failed, operation, "the store is closed")
      }
      state.live += 1
      return (state.engine, reads ? state.pool.popLast() : nil)
    }
  }

  /// Unregisters a transaction, and keeps its reset handle if there is room.
  ///
  /// - Parameter engine: the transaction's engine.
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

  /// Closes everything. Called only by the registry, when no transaction is live.
  func shutDown() {
    let (engines, pool) = state.withLock { state in
      require(state.live == 0 && !state.isClosed, "internal error: closed while in use")
      state.isClosed = true
      defer { state.pool = [] }
      return (state.engines, state.pool)
    }
    for transaction in pool { unsafe mdb_txn_abort(transaction.raw) }
    // LMDB's mutexes and slots in the child belong to the parent: leave them alone.
    if isForked { return }
    let keepsOthersOut = endUse()
    // Not earlier: closing one frees the others' slots in the reader table.
    for engine in engines { unsafe mdb_env_close(engine.handle.raw) }
    // The next one to close the file must not take this one for a user.
    if keepsOthersOut { giveUp(descriptor, dataIdentity) }
    // Not earlier: the last closer would destroy the mutexes that the next opener waits for (0.9.26
    // to 0.9.31); this lock tells it that it is not the last.
    giveUp(lockDescriptor, lockIdentity)
    if !keepsOthersOut { giveUp(descriptor, dataIdentity) }
  }

  /// Closes a descriptor, unless the program has closed it and reuses its number.
  private func giveUp(_ descriptor: Int32, _ file: FileIdentity) {
    if FileFacts.isLost(descriptor, of: file) {
      tarn_forget_in_child(descriptor)
    } else {
      tarn_unlock_and_close(descriptor)
    }
  }
}

/// The mark of a file whose commits are not synced; see `UseMark`.
extension Environment {
  /// How long a closing process waits for those that open the file. It syncs the file, and removes
  /// the mark, only if it is the last one.
  private static let closePatience = Duration.milliseconds(200)

  /// Called within each write transaction whose commit is not synced, when `writingThread` is set:
  /// the mark is on the disk before the first of them.
  func beginUse() throws(StorageError) {
    // Only for as long as a sync takes.
    while isUnmarking.load(ordering: .sequentiallyConsistent) { usleep(1_000) }
    guard kind == .shared, !hasMark.load(ordering: .acquiring), pageSize >= UseMark.pageByteCountMin
    else { return }
    try checkOwnDescriptor("write")
    let mark = UseMark(state: .inUse, place: .of(descriptor))
    if UseMark.read(descriptor) != mark {
      var result = mark.write(descriptor)
      if result == 0 { result = syncData() }
      guard result == 0 else { throw StorageError(errno: result, operation: "write", path: path) }
    }
    _ = Self.whenExiting
    hasMark.store(true, ordering: .releasing)
  }

  private static let whenExiting: Void = {
    // A program may keep a store in a global, which is never released.
    _ = atexit { EnvironmentRegistry.shared.endUseAtExit() }
  }()

  /// Called at the exit of the process, beside other threads, which may go on writing. It waits for
  /// none: while one writes, the mark stays. The next commit of this process sets it again.
  ///
  /// A writer first sets `writingThread` and then reads `isUnmarking`, and this does it the other
  /// way round, so one of them sees the other.
  func endUseAtExit() {
    guard !isForked, hasMark.load(ordering: .acquiring) else { return }
    isUnmarking.store(true, ordering: .sequentiallyConsistent)
    defer { isUnmarking.store(false, ordering: .sequentiallyConsistent) }
    guard writingThread.load(ordering: .sequentiallyConsistent) == 0,
      endUse(Deadline(after: .zero))
    else { return }
    hasMark.store(false, ordering: .releasing)
    LockFile(lockPath, borrowing: lockDescriptor).endOpening()
  }

  /// Syncs the file and removes the mark, if no other process has the file open.
  ///
  /// - Returns: whether other processes wait with opening it until this one has closed its
  ///   descriptor of the lock file.
  func endUse(_ deadline: Deadline = Deadline(after: closePatience)) -> Bool {
    guard hasMark.load(ordering: .acquiring), (try? checkOwnDescriptor("close")) != nil,
      FileFacts.of(descriptor: lockDescriptor)?.identity == lockIdentity,
      (try? LockFile(lockPath, borrowing: lockDescriptor).beginOpening(deadline)) != nil
    else { return false }
    if tarn_is_locked_elsewhere(descriptor, DataLocks.shared, 0) == 0 { removeMark() }
    return true
  }

  private func removeMark() {
    // A sync that has failed does so only once.
    let isSynced = !isClosedForWriting && syncData() == 0
    let mark = UseMark(state: isSynced ? .closed : .uncertain, place: .of(descriptor))
    // Without a sync: a mark that comes back after a power failure only causes a check.
    _ = mark.write(descriptor)
  }

  /// Decides that no page is missing in a file that was opened to find that out.
  func accept() throws(StorageError) {
    try checkOwnDescriptor("open")
    var result = syncData()
    if result == 0 {
      result = UseMark(state: .closed, place: .of(descriptor)).write(descriptor)
    }
    guard result == 0 else { throw StorageError(errno: result, operation: "open", path: path) }
  }

  static func uncertain(_ path: String, _ problem: String? = nil) -> StorageError {
    let end =
      problem.map { "it is damaged: \($0). 'tarn repair' makes a new file of it" }
      ?? "it may be damaged. 'tarn accept' checks it, and lets it be used if it is not; 'tarn "
      + "repair' makes a new file of it"
    return StorageError(
      .uncertain, operation: "open", path: path,
      detail: "the machine or the mount ended while commits of the file were not on the disk, so "
        + end)
  }
}
