internal import CTarn
internal import Glibc
import Synchronization

/// The file next to a store through which its processes communicate: a shared mapping with a
/// version counter and the write lock ("gate"), which watchers watch with inotify.
///
/// The steps of a commit, and the effects on watchers of other processes if the writer dies before
/// one:
///
/// 1. LMDB's commit. If the writer died before its end, there is no new version to report.
/// 2. `raise(to:)`, the counter. Died before: the kernel closes the writer's descriptors, watchers
///    see the close of a file that was open for writing; the lookout finds the counter unchanged,
///    reads the data's head record, raises the counter and wakes the others. If the writer is
///    stopped instead, nothing is closed, and the lookout's next look
///    (`Lookout.lookEveryNanoseconds`) finds the commit in the same way.
/// 3. The write lock is released. Died before: its owner's process is dead; the next waiter takes
///    it.
/// 4. `wake`, one write of eight bytes. Died before: the close again, and the counter shows it.
///
/// One process looks after the file for all that follow it (`Lookout`): the others sleep until they
/// are woken. Processes without an inotify instance sleep on a word in the file.
///
/// So the counter and the wake make it fast, the data's head record makes it correct, and an event
/// only means "check again". The counter never decreases: two writers that overtake each other
/// between commit and raise cannot set it back.
///
/// Which processes are alive: each process locks one byte of the file through its own file
/// description. The kernel releases the lock when the process ends, however it ends; it works
/// across containers with separate process ids; a forked child does not keep it, because it first
/// closes the descriptor.
///
/// Which store: the file records device and inode of data and lock. If the data file was replaced
/// while live processes have the former one open, an opener is refused: it would commit to another
/// file than they see.
///
/// Never deleted, never shortened while a process uses it. If other software does: deletion is
/// noticed (`isIntact`), and watchers then check the data every few milliseconds; after shortening,
/// a process that touches the missing part is killed (SIGBUS).
///
/// Threading: any thread; every access to the mapping is atomic.
@safe package final class SignalFile: @unchecked Sendable {
  // because: immutable except the mapping, which is accessed only by atomics.

  package let path: String
  /// This process's slot in the table of processes.
  let slot: Int
  let descriptor: Int32
  let base: UnsafeMutableRawPointer
  let identity: FileIdentity
  /// The locks of the cursors that this process holds.
  let cursorBytes = CursorBytes()
  /// Whether this process looks after the file for the others.
  let lookout = Lookout()
  private let isNamed: Bool
  private let forkCount: UInt32
  /// Makes the words that distinguish lock owners of this process.
  private let lastNonce = Atomic<UInt32>(0)

  /// The write lock of the store that this file belongs to.
  package var gate: WriteGate { WriteGate(file: self) }

  /// Opens or creates the file next to the environment's data.
  ///
  /// Errors: `.replaced` if live processes have another data file open at this path,
  /// `.newerFormat`, `.corrupted` if live processes use a malformed file, `.limitExceeded` with 512
  /// processes, `.permissionDenied`, `.diskFull`, `.busy` if another process has been opening it
  /// until the deadline.
  /// - Parameter syncsName: whether the name of a data file that is new here is made durable.
  package convenience init(
    for environment: Environment, deadline: Deadline = Deadline(after: .seconds(10)),
    syncsName: Bool = false
  ) throws(StorageError) {
    try self.init(
      path: environment.path + "-signal", data: environment.dataIdentity,
      lock: environment.lockIdentity,
      like: environment.kind == .shared ? FileFacts.known(at: environment.path, "open") : nil,
      deadline: deadline, syncsName: syncsName)
  }

  /// - Parameter facts: the file whose permissions it gets; nil for one without a name.
  package init(
    path: String, data: FileIdentity, lock: FileIdentity, like facts: FileFacts?,
    deadline: Deadline = Deadline(after: .seconds(10)), syncsName: Bool = false
  ) throws(StorageError) {
    let opened = try SignalOpening.open(
      path: path, data: data, lock: lock, like: facts, deadline: deadline, syncsName: syncsName)
    self.path = path
    isNamed = facts != nil
    slot = opened.slot
    descriptor = opened.descriptor
    unsafe base = opened.base
    identity = opened.identity
    forkCount = tarn_fork_count()
    gate.forgetOwners(of: slot)
    // Only now may other processes trust the word of this slot.
    SignalOpening.finish(opened)
  }

  deinit {
    defer { unsafe munmap(base, SignalLayout.byteCount) }
    // Left open, it would make this process a user of the store for as long as it lives.
    guard !isForked, isOpen else { return }
    // Touching what was cut off would end the process.
    if let facts = FileFacts.of(descriptor: descriptor), facts.byteCount >= SignalLayout.byteCount {
      let at = SignalLayout.processesAt + slot * SignalLayout.processByteCount
      unsafe tarn_store32(base + at, 0)
    }
    tarn_unlock_and_close(descriptor)
  }

  /// False if the program closed the descriptor and may have reused its number.
  private var isOpen: Bool { !FileFacts.isLost(descriptor, of: identity) }

  var isForked: Bool { tarn_fork_count() != forkCount }

  /// The newest announced version. A hint: read the data before acting.
  package var version: UInt64 { unsafe tarn_load64(base + SignalLayout.versionAt) }

  /// Announces a version. False if it had been announced.
  @discardableResult
  package func raise(to version: UInt64) -> Bool {
    if isForked { return false }
    let counter = unsafe base + SignalLayout.versionAt
    let seen = unsafe tarn_load64(counter)
    if seen > version, seen - version > 1 << 32 {
      // No writer is four billion versions ahead: the bytes are damaged, and would hide all later
      // versions.
      return unsafe tarn_swap_if64(counter, seen, version)
    }
    return unsafe tarn_raise64(counter, version)
  }

  /// Wakes all watchers of the file, also in this process. About a microsecond.
  package func wake() {
    if isForked { return }
    FaultPoint.hit("signal.beforeWake")
    guard isOpen else {
      let what = LostDescriptor.detail(descriptor)
      return StoreLog.shared.write(.error, "\(path): \(what). Other processes notice commits late")
    }
    var bytes = version
    _ = unsafe pwrite(descriptor, &bytes, 8, off_t(SignalLayout.wakeAt))
    ring()
  }

  /// Notes when a commit was made, for the age of the next one. The caller has the write lock.
  package func noteTime(ofCommit commitID: UInt64) {
    unsafe tarn_store64(base + SignalLayout.committedAt + 8, Self.bootMicroseconds())
    unsafe tarn_store64(base + SignalLayout.committedAt, commitID)
  }

  /// The time since that commit, whatever happened to the wall clock. Nil if no process has had the
  /// file open since, or the commit's process died before it noted it.
  package func microseconds(sinceCommit commitID: UInt64) -> UInt64? {
    guard unsafe tarn_load64(base + SignalLayout.committedAt) == commitID else { return nil }
    let then = unsafe tarn_load64(base + SignalLayout.committedAt + 8)
    let now = Self.bootMicroseconds()
    return now >= then ? now - then : nil
  }

  /// Since the machine was started, including the time in which it was suspended.
  private static func bootMicroseconds() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }

  /// Wakes some of those that sleep on the bell. Each of them wakes others, so that the writer does
  /// not spend its time on all.
  func ring() {
    let bell = unsafe base + SignalLayout.bellAt
    _ = unsafe tarn_add32(bell, 1)
    if unsafe tarn_load32(base + SignalLayout.sleepersAt) != 0 { passBellOn() }
  }

  /// Wakes some of those that sleep on the bell, after it has woken this process.
  func passBellOn() { unsafe tarn_futex_wake(base + SignalLayout.bellAt, 8) }

  /// Counts a process that sleeps on the bell, or no longer does.
  func sleepers(_ change: Int32) {
    _ = unsafe tarn_add32(base + SignalLayout.sleepersAt, UInt32(bitPattern: change))
  }

  /// How often the bell has rung.
  var bell: UInt32 { unsafe tarn_load32(base + SignalLayout.bellAt) }

  /// Makes all processes that follow the file look for themselves: something other than a commit
  /// has happened to it.
  func alarm() {
    if isForked { return }
    _ = unsafe tarn_add32(base + SignalLayout.alarmsAt, 1)
    wake()
  }

  var alarms: UInt32 { unsafe tarn_load32(base + SignalLayout.alarmsAt) }

  /// Could another process watch the file? A process that takes its slot after this check reads the
  /// data after that, so it sees everything announced before this check. A killed process may leave
  /// its id behind: then this is true.
  package var mayHaveWatchersElsewhere: Bool {
    hasProcess(in: 0..<slot) || hasProcess(in: slot + 1..<SignalLayout.processCount)
  }

  /// Reads eight slots at a time, because every commit asks.
  private func hasProcess(in slots: Range<Int>) -> Bool {
    let size = SignalLayout.processByteCount
    var next = unsafe base + SignalLayout.processesAt + slots.lowerBound * size
    let end = unsafe base + SignalLayout.processesAt + slots.upperBound * size
    while unsafe end - next >= 8 * size {
      let first = unsafe tarn_load32(next) | tarn_load32(next + size)
      let second = unsafe tarn_load32(next + 2 * size) | tarn_load32(next + 3 * size)
      let third = unsafe tarn_load32(next + 4 * size) | tarn_load32(next + 5 * size)
      let fourth = unsafe tarn_load32(next + 6 * size) | tarn_load32(next + 7 * size)
      if first | second | third | fourth != 0 { return true }
      unsafe next += 8 * size
    }
    while unsafe next < end {
      if unsafe tarn_load32(next) != 0 { return true }
      unsafe next += size
    }
    return false
  }

  /// Whether another process has the file, or a part of this one: it is the last that a store
  /// releases.
  var isHeldElsewhere: Bool {
    tarn_is_locked_elsewhere(
      descriptor, SignalLayout.processLockByte, Int64(SignalLayout.processCount)) != 0
  }

  /// Does the path still lead to this file? About a microsecond. Always true without a name.
  package var isIntact: Bool { !isNamed || FileFacts.at(path)?.identity == identity }

  /// Errors: `.forked`.
  func checkUsable(_ operation: String) throws(StorageError) {
    guard isForked else { return }
    throw StorageError(
      .forked, operation: operation, path: path,
      detail: "the process was forked after it opened the store")
  }

  /// Unique among the words of this process, and never zero.
  func makeNonce() -> UInt32 {
    while true {
      let nonce = lastNonce.wrappingAdd(1, ordering: .relaxed).newValue
      if nonce != 0 { return nonce }
    }
  }

  /// Is the process at the slot alive?
  func isAlive(_ slot: Int) -> Bool {
    if slot == self.slot { return true }
    guard (0..<SignalLayout.processCount).contains(slot) else { return false }
    let at = SignalLayout.processLockByte + Int64(slot)
    // If the kernel cannot say, assume that it is: waiting is safe.
    return tarn_is_locked_elsewhere(descriptor, at, 1) != 0
  }

  /// The process's own entry in the slot.
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

  /// The process with this id in LMDB's reader table. Without a slot here it has no name: it may
  /// have ended, and the id may be another process's.
  package func process(withID processID: Int32) -> SignalProcess {
    let known = processes().filter { $0.processID == processID }
    return known.first { !$0.isElsewhere } ?? known.first
      ?? SignalProcess(processID: processID, startTime: 0)
  }
}

/// The layout of a signal file. It is shared memory of running processes, not data: while no
/// process has the file open, its bytes are meaningless, and it may be deleted.
///
///     0      u64 magic; u32 format; u32 length of the file
///     16     u64 device and u64 inode of the data file, the same of the lock file
///     48     8 bytes that `wake` writes; never read
///     64     u64 version: the newest announced one
///     128    gate: u64 owner; u64 time of the last change; u64 last ticket; u32 waiting
///     192    lookout: u64 time of its last look; u32 alarms
///     208    the last commit: u64 id, u64 time in microseconds since the start of the machine
///     256    bell: u32 rings, on which processes sleep; u32 sleepers, which may count dead ones
///     4096   512 processes of 16 bytes: u32 process id, u32 0, u64 start time
///     12288  256 waiters of 16 bytes: u64 ticket word, u32 wake count, u32 0
///
/// Locks of descriptors on single bytes (independent of the bytes' contents):
///
///     0      held while the file is being created, checked or repaired, and a slot is taken
///     1      held by the process that looks after the file
///     4096 + i   process i is alive
enum SignalLayout {
  static let magic = CompanionKind.signalMagic
  static let format: UInt32 = 1
  static let byteCount = CompanionKind.signalByteCount

  static let formatAt = 8
  static let wakeAt = 48
  static let versionAt = 64

  static let ownerAt = 128
  static let changedAt = 136
  static let lastTicketAt = 144
  static let waitingAt = 152

  static let lookedAt = 192
  static let alarmsAt = 200
  static let committedAt = 208
  static let bellAt = 256
  static let sleepersAt = 260

  static let processesAt = 4096
  static let processCount = 512
  static let processByteCount = 16

  static let waitersAt = 12288
  static let waiterCount = 256
  static let waiterByteCount = 16

  static let initLockByte: Int64 = 0
  static let lookoutLockByte: Int64 = 1
  static let processLockByte: Int64 = 4096
}

/// A process, for people; only its lock shows whether it is alive.
///
/// Its id is the one in its own process namespace. Seen from another container, the process has a
/// different id, and its id may be another process's: their start times distinguish them.
package struct SignalProcess: Hashable, Sendable, CustomStringConvertible {
  package let processID: Int32
  /// In clock ticks since boot (`ProcessStatus`); 0 if unknown.
  package let startTime: UInt64

  /// "process 4711 (notes)", "process 17 in another container"; without a name if it is unknown.
  package var description: String {
    switch sighting {
    case .here(let status): "process \(processID) (\(status.name))"
    case .elsewhere: "process \(processID) in another container"
    case .unknown: "process \(processID)"
    }
  }

  /// The name shown by the system's tools; nil if unknown.
  package var name: String? {
    if case .here(let status) = sighting { status.name } else { nil }
  }

  /// It was stopped by a signal or a debugger, and runs again when continued.
  package var isStopped: Bool {
    if case .here(let status) = sighting { status.isStopped } else { false }
  }

  /// Its id is not valid here, or is another process's.
  package var isElsewhere: Bool { if case .elsewhere = sighting { true } else { false } }

  private enum Sighting {
    case here(ProcessStatus)
    case elsewhere, unknown
  }

  private var sighting: Sighting {
    if startTime == 0 { return .unknown }
    guard let status = ProcessStatus.of(processID) else {
      // A system that hides other users' processes also hides process 1.
      return ProcessStatus.of(1) == nil ? .unknown : .elsewhere
    }
    // Time namespaces may shift the clock by fractions of a tick.
    let (sooner, later) = (min(status.startTime, startTime), max(status.startTime, startTime))
    return later - sooner <= 1 ? .here(status) : .elsewhere
  }
}
