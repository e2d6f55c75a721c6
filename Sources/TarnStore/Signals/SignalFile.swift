internal import CTarn
internal import Glibc
import Synchronization

/// The file beside a store by which its processes talk: a shared mapping with a version counter
/// and the gate of writers, and the thing that watchers put their watch on.
///
/// What a commit does, and what happens to watchers of other processes when the writer dies there:
///
/// 1. LMDB's commit. Died before its end: there is no new version and nothing to tell.
/// 2. `raise(to:)`, the counter. Died before: the kernel closes the writer's descriptors, watchers
///    see the close of a file that was open for writing, find the counter unmoved, look at the
///    data's head record and catch up. Stopped instead of dead: nothing closes, and the watchers'
///    timeout (`SignalWatcher.lookEveryNanoseconds`) finds it the same way.
/// 3. The gate is released. Died before: its owner's process is gone; the next waiter takes it.
/// 4. `wake`, one write of eight bytes. Died before: the close again, and the counter shows it.
///
/// So the counter and the wake make it fast, the data's head makes it right, and no event counts
/// for more than "look again". The counter is raised by maximum: two writers that overtake each
/// other between commit and raise cannot take it back.
///
/// Who lives: each process locks one byte of the file through its own open description. The lock
/// goes with the process, however it ends; it is right across containers with process ids of their
/// own; a forked child does not keep it, because its first act is to close the descriptor.
///
/// Which store: the file records device and inode of data and lock. If the data file was replaced
/// while processes live that have the one before, an opener is refused: it would commit to another
/// file than they see.
///
/// Never deleted, never shortened while anybody lives. If somebody else does: deleting is noticed
/// (`isIntact`) and watchers go over to looking at the data every few milliseconds; shortening
/// kills whoever touches the missing part (SIGBUS).
///
/// Threading: any thread; every access to the mapping is atomic.
@safe package final class SignalFile: @unchecked Sendable {
  // because: immutable but for the mapping, which is only touched by atomics.

  package let path: String
  /// This process's slot in the table of processes.
  let slot: Int
  let descriptor: Int32
  let base: UnsafeMutableRawPointer
  private let identity: FileIdentity
  private let isNamed: Bool
  private let forkCount: UInt32
  /// Makes the words by which gate owners of this process are told apart.
  private let lastNonce = Atomic<UInt32>(0)

  /// One at a time writes the store that this file belongs to.
  package var gate: WriteGate { WriteGate(file: self) }

  /// Opens or creates the file beside the environment's data.
  ///
  /// Errors: `.replaced` if living processes have another data file open at this path,
  /// `.newerFormat`, `.corrupted` if living processes use a file that makes no sense,
  /// `.limitExceeded` with 512 processes, `.permissionDenied`, `.diskFull`,
  /// `.busy` if another process has been opening it until the deadline.
  package convenience init(
    for environment: Environment, deadline: Deadline = Deadline(after: .seconds(10))
  ) throws(StorageError) {
    try self.init(
      path: environment.path + "-signal", data: environment.dataIdentity,
      lock: environment.lockIdentity,
      like: environment.kind == .shared ? FileFacts.at(environment.path) : nil,
      deadline: deadline)
  }

  /// - Parameter facts: of the file whose rights it gets; nil for one without a name.
  package init(
    path: String, data: FileIdentity, lock: FileIdentity, like facts: FileFacts?,
    deadline: Deadline = Deadline(after: .seconds(10))
  ) throws(StorageError) {
    let opened = try SignalOpening.open(
      path: path, data: data, lock: lock, like: facts, deadline: deadline)
    self.path = path
    isNamed = facts != nil
    slot = opened.slot
    descriptor = opened.descriptor
    unsafe base = opened.base
    identity = opened.identity
    forkCount = tarn_fork_count()
    gate.forgetOwners(of: slot)
    // Only now may others take the word of this slot for ours.
    SignalOpening.finish(opened)
  }

  deinit {
    unsafe munmap(base, SignalLayout.byteCount)
    if isForked || !isOpen { return }
    tarn_unlock_and_close(descriptor)
  }

  /// False if the program closed the descriptor: its number may be that of a file of its own.
  private var isOpen: Bool { FileFacts.of(descriptor: descriptor)?.identity == identity }

  var isForked: Bool { tarn_fork_count() != forkCount }

  /// The newest version that a writer has announced. A hint: look at the data before acting.
  package var version: UInt64 { unsafe tarn_load64(base + SignalLayout.versionAt) }

  /// Announces a version. False if it was announced already.
  @discardableResult
  package func raise(to version: UInt64) -> Bool {
    if isForked { return false }
    let counter = unsafe base + SignalLayout.versionAt
    let seen = unsafe tarn_load64(counter)
    if seen > version, seen - version > 1 << 32 {
      // No writer is four billion versions ahead: the bytes are damaged, and would hide every
      // version to come.
      return unsafe tarn_swap_if64(counter, seen, version)
    }
    return unsafe tarn_raise64(counter, version)
  }

  /// Wakes whoever watches the file, in this process too. About a microsecond.
  package func wake() {
    if isForked { return }
    FaultPoint.hit("signal.beforeWake")
    guard isOpen else {
      let what = LostDescriptor.detail(descriptor)
      return StoreLog.shared.write(.error, "\(path): \(what). Other processes notice commits late")
    }
    var bytes = version
    _ = unsafe pwrite(descriptor, &bytes, 8, off_t(SignalLayout.wakeAt))
  }

  /// Could another process watch the file? False if no other has ever taken a slot in it. One
  /// that takes its slot after this look reads the data after that, and so has what was
  /// announced before this look. A process that is gone may leave its number: then this is true.
  package var mayHaveWatchersElsewhere: Bool {
    for other in 0..<SignalLayout.processCount where other != slot {
      let at = SignalLayout.processesAt + other * SignalLayout.processByteCount
      if unsafe tarn_load32(base + at) != 0 { return true }
    }
    return false
  }

  /// Does the path still lead to this file? About a microsecond. Always true of one without a name.
  package var isIntact: Bool { !isNamed || FileFacts.at(path)?.identity == identity }

  /// Errors: `.forked`.
  func checkUsable(_ operation: String) throws(StorageError) {
    guard isForked else { return }
    throw StorageError(
      .forked, operation: operation, path: path,
      detail: "the process was forked after it opened the store")
  }

  /// Unlike every other word of this process, and never zero.
  func makeNonce() -> UInt32 {
    while true {
      let nonce = lastNonce.wrappingAdd(1, ordering: .relaxed).newValue
      if nonce != 0 { return nonce }
    }
  }

  /// Does the process at the slot live?
  func isAlive(_ slot: Int) -> Bool {
    if slot == self.slot { return true }
    guard (0..<SignalLayout.processCount).contains(slot) else { return false }
    let at = SignalLayout.processLockByte + Int64(slot)
    // If the kernel cannot say, take it for alive: waiting is safe.
    return tarn_is_locked_elsewhere(descriptor, at, 1) != 0
  }

  /// What the process at the slot said of itself.
  func process(at slot: Int) -> SignalProcess {
    let at =
      unsafe base + SignalLayout.processesAt + slot * SignalLayout.processByteCount
    return SignalProcess(
      processID: Int32(bitPattern: unsafe tarn_load32(at)), startTime: unsafe tarn_load64(at + 8))
  }

  /// The processes that have the store open, this one included.
  package func processes() -> [SignalProcess] {
    (0..<SignalLayout.processCount).filter { isAlive($0) }.map { process(at: $0) }
  }

  /// The process that LMDB's table of readers knows by this id only. If it has no slot here, it
  /// gets no name: it may have ended, and the id be another one's by now.
  package func process(withID processID: Int32) -> SignalProcess {
    let known = processes().filter { $0.processID == processID }
    return known.first { !$0.isElsewhere } ?? known.first
      ?? SignalProcess(processID: processID, startTime: 0)
  }
}
