internal import CTarn
internal import Glibc

/// The write lock: admits one writer at a time, first come, first served across all processes.
///
/// It only provides fairness. LMDB's mutex, and the check of the head record at commit, ensure that
/// two writers never overwrite each other's commit. So everything here may fail once (damaged
/// bytes, a process that was stopped for an hour) without harm.
///
/// - Free without waiters: one atomic exchange of the owner word takes it.
/// - Otherwise: take a ticket, put it in a waiter's slot with the number of the process, and sleep
///   on that slot's word. A release wakes the lowest ticket; only that one takes the lock.
/// - The owner died: its process's lock was released. Waiters check it at least every 50 ms, and
///   the first to notice frees the lock.
/// - The lowest ticket does not come, because its process is stopped or its turn never runs: after
///   10 ms the next one marks it as passed over and goes ahead. It keeps its ticket; when it runs
///   again it clears the mark and is first again. A dead process's ticket is removed.
/// - All slots are taken: a waiter without a slot polls every millisecond.
///
/// A holder that is stopped, not dead, blocks writers until it continues: `holder` names it.
///
/// An owner is (process, word), not a thread: a token may be released on any thread.
package struct WriteGate: Sendable {
  let file: SignalFile

  static let passOverNanoseconds: UInt64 = 10_000_000
  static let lookAtOwnerNanoseconds: UInt64 = 50_000_000

  /// Waits until the caller has the lock.
  ///
  /// Never traps. Errors: `.busy` after the timeout, `.forked`.
  package func acquire(
    timeout: Duration? = nil, telling notice: GateToken.Notice? = nil
  ) throws(StorageError) -> GateToken {
    if let token = try tryAcquire() { return token }
    return try enqueue().wait(timeout: timeout, telling: notice)
  }

  /// Takes the lock if it is free and has no waiters.
  ///
  /// Errors: `.forked`.
  package func tryAcquire() throws(StorageError) -> GateToken? {
    try file.checkUsable("write")
    if unsafe tarn_load32(file.base + SignalLayout.waitingAt) != 0 { return nil }
    return claim()
  }

  /// Takes a ticket, for callers with their own way of waiting. Release it or claim with it.
  package func enqueue() throws(StorageError) -> GateTicket {
    try file.checkUsable("write")
    return GateTicket(gate: self)
  }

  package var holder: Holder? {
    let owner = unsafe tarn_load64(file.base + SignalLayout.ownerAt)
    let since = unsafe tarn_load64(file.base + SignalLayout.changedAt)
    guard let slot = GateWord.slot(ofOwner: owner), file.isAlive(slot) else { return nil }
    let now = GateWord.now()
    return Holder(
      process: file.process(at: slot),
      heldFor: .nanoseconds(Int64(clamping: now > since ? now - since : 0)))
  }

  func claim() -> GateToken? {
    let word = GateWord.owner(slot: file.slot, nonce: file.makeNonce())
    guard unsafe tarn_swap_if64(file.base + SignalLayout.ownerAt, 0, word) else { return nil }
    unsafe tarn_store64(file.base + SignalLayout.changedAt, GateWord.now())
    FaultPoint.hit("gate.acquired")
    return GateToken(gate: self, word: word)
  }

  func release(_ word: UInt64) {
    if file.isForked { return }
    free(word)
    if unsafe tarn_load32(file.base + SignalLayout.waitingAt) != 0 { wakeFirst() }
  }

  /// The time first: a process that sees the lock free must not think that it has been so for long.
  func free(_ word: UInt64) {
    unsafe tarn_store64(file.base + SignalLayout.changedAt, GateWord.now())
    _ = unsafe tarn_swap_if64(file.base + SignalLayout.ownerAt, word, 0)
  }

  /// Wakes the lowest ticket. If it finds none, it clears the waiting flag, then checks again: a
  /// ticket is put in its slot before its owner sets the flag, so it is either seen here or sets
  /// the flag later.
  func wakeFirst() {
    if let first = firstWaiter() { return wake(first) }
    unsafe tarn_store32(file.base + SignalLayout.waitingAt, 0)
    guard let first = firstWaiter() else { return }
    unsafe tarn_store32(file.base + SignalLayout.waitingAt, 1)
    wake(first)
  }

  private func wake(_ index: Int) {
    let word = unsafe waiter(index) + 8
    _ = unsafe tarn_add32(word, 1)
    unsafe tarn_futex_wake(word, 1)
  }

  /// The slot of the lowest ticket; of one that was passed over only without any other.
  private func firstWaiter() -> Int? {
    var best = UInt64.max
    var found: Int?
    for index in 0..<SignalLayout.waiterCount {
      let word = unsafe tarn_load64(waiter(index))
      guard word != 0 else { continue }
      let rank = word.rotated(byMovingFlagToTop: GateWord.passedOver)
      if rank < best { (best, found) = (rank, index) }
    }
    return found
  }

  func waiter(_ index: Int) -> UnsafeMutableRawPointer {
    unsafe file.base + SignalLayout.waitersAt + index * SignalLayout.waiterByteCount
  }

  /// When a process takes the slot of a dead one, that process's locks and tickets are void.
  func forgetOwners(of slot: Int) {
    let owner = unsafe tarn_load64(file.base + SignalLayout.ownerAt)
    if GateWord.slot(ofOwner: owner) == slot { free(owner) }
    for index in 0..<SignalLayout.waiterCount {
      let word = unsafe tarn_load64(waiter(index))
      if word != 0, GateWord.slot(ofTicket: word) == slot {
        _ = unsafe tarn_swap_if64(waiter(index), word, 0)
      }
    }
  }
}

/// The right to write. Releasing it releases the lock.
package struct GateToken: ~Copyable, Sendable {
  /// A message passed once to a writer that has waited that long.
  package struct Notice {
    let after: Duration
    let tell: () -> Void

    package init(after: Duration, _ tell: @escaping () -> Void) {
      self.after = after
      self.tell = tell
    }
  }

  let gate: WriteGate
  let word: UInt64

  /// Releases the gate, on any thread.
  package consuming func release() {}

  deinit { gate.release(word) }
}

/// The words of the gate.
enum GateWord {
  /// Ticket word: 47 bits ticket, 1 bit passed over, 16 bits process slot plus one.
  static let passedOver: UInt64 = 1 << 16
  static let ticketMax: UInt64 = (1 << 47) - 1

  static func owner(slot: Int, nonce: UInt32) -> UInt64 {
    UInt64(slot + 1) << 32 | UInt64(nonce)
  }

  /// Nil if the lock is free.
  static func slot(ofOwner word: UInt64) -> Int? {
    word == 0 ? nil : Int(word >> 32) - 1
  }

  static func ticket(_ number: UInt64, slot: Int) -> UInt64 {
    (number & ticketMax) << 17 | UInt64(slot + 1)
  }

  static func slot(ofTicket word: UInt64) -> Int { Int(word & 0xffff) - 1 }
  static func number(ofTicket word: UInt64) -> UInt64 { word >> 17 }

  static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    if seconds < 0 || attoseconds < 0 { return 0 }
    if seconds > 1 << 33 { return UInt64.max }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }

  /// Nanoseconds of the clock that all processes of the machine share.
  static func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}

extension UInt64 {
  /// Orders by the flag first, then by the bits above it.
  fileprivate func rotated(byMovingFlagToTop flag: UInt64) -> UInt64 {
    (self & flag != 0 ? 1 << 63 : 0) | (self & ~flag) >> 1
  }
}

extension WriteGate {
  /// The holder of the write lock, for people.
  package struct Holder: Hashable, Sendable, CustomStringConvertible {
    package let process: SignalProcess
    package let heldFor: Duration

    /// "process 4711 (notes) has been writing for 2.5 seconds and is stopped"
    package var description: String {
      let tenths = Int64((heldFor / .milliseconds(100)).rounded(.down))
      let state = process.isStopped ? " and is stopped" : ""
      return "\(process) has been writing for "
        + "\(tenths / 10).\(tenths % 10) seconds\(state)"
    }
  }
}

extension WriteGate {
  /// The error of a writer whose timeout passed.
  package func busy() -> StorageError {
    let holder = holder.map { "; \($0)" } ?? ""
    return StorageError(
      .busy, operation: "write", path: file.path,
      detail: "the write lock was not free in time\(holder). Nothing was written.")
  }
}
