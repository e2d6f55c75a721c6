internal import CTarn
internal import Glibc

/// The lock file next to the data, and the locks that this process holds on it in addition to
/// LMDB's.
///
/// LMDB locks byte 0 (shared while the store is open, exclusive while its reader table is created)
/// and the byte of the process's id, both with `fcntl`. Such locks belong to the process and are
/// dropped when it closes any descriptor of the file, which a backup, a checksum or a copy does
/// unknowingly. The next opener then takes the reader table for unused, and writers reuse the pages
/// that live readers see. So this process holds a second, shared lock on either byte, which belongs
/// to a descriptor of its own that no other code closes. LMDB's check of those bytes (F_GETLK)
/// finds it whatever was closed.
///
/// One byte far beyond the others is locked exclusively while a process opens the store. LMDB
/// creates the reader table in an order that cannot handle an opener that fails (0.9.26 to 0.9.31
/// destroy the mutexes that the next one is about to wait for), and waits for its byte 0 without a
/// limit. Under this lock no other process of this library uses that byte, so that its holder can
/// be found before LMDB is called.
///
/// The order, which the conflicts between the locks determine:
///
/// 1. `open`: the descriptor; `beginOpening`: the byte of openers, for a limited time.
/// 2. LMDB opens, and returns to its shared lock on byte 0.
/// 3. `holdTable`: byte 0. Earlier, LMDB would take an unused table for one in use.
/// 4. A first read begins and ends: LMDB locks the byte of the process's id, once and exclusively.
/// 5. `holdReaders`: LMDB's lock there is converted to a shared one atomically, and the library's
///    own lock is added.
/// 6. `endOpening`. Nothing that is used later was read before both bytes were locked.
///
/// A forked child closes the descriptor first: a lock lives as long as any copy of its descriptor.
struct LockFile: ~Copyable {
  let path: String
  /// -1 after `release`.
  private var descriptor: Int32
  private let isBorrowed: Bool

  /// For passing the file to LMDB.
  var raw: Int32 { descriptor }

  /// Beyond every process id and every reader table.
  private static let openersByte: Int64 = 1 << 40
  private static let tableByte: Int64 = 0

  /// Opens the file next to the data, or creates it.
  ///
  /// Errors: `.permissionDenied`, `.diskFull`, `.limitExceeded`.
  init(_ path: String, like data: FileFacts, readerCount: Int) throws(StorageError) {
    let kind = CompanionKind.lock(readerCount: readerCount)
    try self.init(path, try CompanionFile.open(kind, at: path, like: data))
  }

  /// A file without a name, for this process only. The caller closes its own descriptor.
  init(_ path: String, nameless: Int32, readerCount: Int) throws(StorageError) {
    // LMDB creates the file with holes and maps it: without room, the first reader to use a hole
    // would be ended by SIGBUS.
    let result = tarn_allocate(nameless, CompanionKind.lock(readerCount: readerCount).byteCount)
    if result != 0 { throw StorageError(errno: result, operation: "open", path: path) }
    let copy = fcntl(nameless, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw StorageError(errno: errno, operation: "open", path: path) }
    try self.init(path, OwnedDescriptor(adopting: copy))
  }

  private init(_ path: String, _ file: consuming OwnedDescriptor) throws(StorageError) {
    let result = tarn_close_in_child(file.raw)
    if result != 0 { throw StorageError(errno: result, operation: "open", path: path) }
    self.path = path
    descriptor = file.release()
    isBorrowed = false
  }

  /// The lock file of a store that this process has open, whose owner closes it.
  init(_ path: String, borrowing descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
    isBorrowed = true
  }

  borrowing func identity() throws(StorageError) -> FileIdentity {
    guard let facts = FileFacts.of(descriptor: descriptor) else {
      throw StorageError(errno: errno, operation: "open", path: path)
    }
    return facts.identity
  }

  deinit { if descriptor >= 0, !isBorrowed { tarn_unlock_and_close(descriptor) } }

  /// Passes the descriptor to the caller, who closes it with `tarn_unlock_and_close`, after LMDB's
  /// environment.
  consuming func release() -> Int32 {
    defer { descriptor = -1 }
    return descriptor
  }

  /// Waits until no other process opens the store.
  ///
  /// Errors: `.busy` at the deadline.
  borrowing func beginOpening(_ deadline: Deadline) throws(StorageError) {
    let isFirst = try deadline.wait { () throws(StorageError) in
      try isTaken(tarn_lock_exclusive(descriptor, Self.openersByte, 1))
    }
    guard isFirst else { throw busy(at: Self.openersByte) }
    FaultPoint.hit("lock.opening")
  }

  borrowing func endOpening() { _ = tarn_unlock(descriptor, Self.openersByte, 1) }

  /// Waits until LMDB can be called: byte 0 may be held only by the processes that have the store
  /// open, which then hold the data as well.
  ///
  /// - Parameter isHeld: whether another process has the store open.
  ///
  /// Errors: `.busy` at the deadline; `.identity` if processes have the lock file open with other
  /// data: at once if one of them is visible, otherwise at the deadline.
  borrowing func awaitTable(
    _ deadline: Deadline, whileOpen isHeld: () -> Bool
  ) throws(StorageError) {
    var mayBeUsedForOtherData = false
    let isFree = try deadline.wait { () throws(StorageError) in
      mayBeUsedForOtherData = false
      switch tarn_is_locked_elsewhere(descriptor, Self.tableByte, 1) {
      case 1:
        if isHeld() { return true }
        mayBeUsedForOtherData = isHeldAsByThisLibrary
        if mayBeUsedForOtherData, try isHeldByLivingProcess() { throw replacedData }
        return false
      case 2: return false
      default: return true
      }
    }
    guard isFree else { throw mayBeUsedForOtherData ? replacedData : busy(at: Self.tableByte) }
  }

  /// Whether a process holds the byte of its id in the way of this library: shared. LMDB alone
  /// holds it exclusively.
  private var isHeldAsByThisLibrary: Bool {
    tarn_is_locked_elsewhere(descriptor, 1, Self.openersByte - 1) == 1
  }

  /// The kernel releases the locks of a killed process one by one, in any order, so this file can
  /// stay locked for a moment longer than the data. Such a process no longer shows descriptors. One
  /// that does has locked data, but not this opener's.
  private borrowing func isHeldByLivingProcess() throws(StorageError) -> Bool {
    try !LockHolders.of(identity(), bytes: 1...Self.openersByte - 1).isEmpty
  }

  private var replacedData: StorageError {
    StorageError(
      .identity, operation: "open", path: path,
      detail: "processes have the lock file open with another data file, which was renamed, "
        + "replaced or removed. End them before you open this one")
  }

  /// - Returns: false if another process holds the byte exclusively: then LMDB has lost the table,
  ///   and must open again.
  borrowing func holdTable() throws(StorageError) -> Bool {
    let isHeld = try share(Self.tableByte)
    FaultPoint.hit("lock.table")
    return isHeld
  }

  /// Errors: `.identity` if another process has the same id.
  borrowing func holdReaders() throws(StorageError) {
    let byte = Int64(getpid())
    let result = tarn_lock_shared_as_process(descriptor, byte)
    guard result == 0 || result == EAGAIN || result == EACCES else {
      throw StorageError(errno: result, operation: "open", path: path)
    }
    FaultPoint.hit("lock.converted")
    guard result == 0, try share(byte) else { throw Self.sameProcessID(path) }
    FaultPoint.hit("lock.readers")
  }

  /// Whether another descriptor holds a lock on the byte of this process's id.
  var isHeldUnderOwnID: Bool { tarn_is_locked_elsewhere(descriptor, Int64(getpid()), 1) != 0 }

  /// Lets LMDB lock the byte of the process's id again, in the first read of another environment of
  /// this process. LMDB's existing lock there, which protects as well, is held throughout.
  ///
  /// Errors: those of the body, and of `holdReaders`.
  borrowing func lendingReaders(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    let byte = Int64(getpid())
    // It may be lost; see above.
    guard tarn_lock_shared_as_process(descriptor, byte) == 0 else {
      throw Self.sameProcessID(path)
    }
    _ = tarn_unlock(descriptor, byte, 1)
    let outcome = Result { () throws(StorageError) in try body() }
    try holdReaders()
    try outcome.get()
  }

  /// Two containers whose programs have the same process id, by which LMDB's table and locks work.
  static func sameProcessID(_ path: String) -> StorageError {
    StorageError(
      .identity, operation: "open", path: path,
      detail: "a process of another container has the file open under the same process id, "
        + "\(getpid()). Let the containers share one pid namespace, or start their programs by an "
        + "init process, so that the ids differ")
  }

  private borrowing func share(_ byte: Int64) throws(StorageError) -> Bool {
    try isTaken(tarn_lock_shared(descriptor, byte, 1))
  }

  private borrowing func isTaken(_ result: Int32) throws(StorageError) -> Bool {
    if result == 0 { return true }
    if result == EAGAIN || result == EACCES { return false }
    throw StorageError(errno: result, operation: "open", path: path)
  }

  /// The error of an opener whose deadline passed.
  private borrowing func busy(at byte: Int64) -> StorageError {
    Self.busy(FileFacts.of(descriptor: descriptor), at: byte, path)
  }

  /// The error of an opener that waited for a byte of a file until its deadline.
  static func busy(_ file: FileFacts?, at byte: Int64, _ path: String) -> StorageError {
    let holders = (file.map { LockHolders.of($0.identity, bytes: byte...byte) } ?? []).map {
      holder in
      let isStopped = ProcessStatus.of(holder.processID)?.isStopped ?? false
      return "\(holder)" + (isStopped ? ", which is stopped," : "")
    }
    let who =
      holders.isEmpty ? "a process that cannot be seen from here" : holders.joined(separator: ", ")
    return StorageError(
      .busy, operation: "open", path: path,
      detail: "\(who) held the file's lock until this process stopped waiting; "
        + "nothing was opened. Let it continue, or end it")
  }

  /// The error for a table that another process locked between two checks.
  borrowing func lostTable() -> StorageError { busy(at: Self.tableByte) }
}
