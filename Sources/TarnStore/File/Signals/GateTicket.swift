internal import CTarn

/// A word in the signal file on which a waiter sleeps.
struct SharedFutexWord: Sendable {
  let word: UInt
  /// The word's value when the waiter began to check.
  let expected: UInt32
  /// False for a waiter without a slot, which polls every millisecond.
  let isOwn: Bool

  /// Sleeps until it is rung, at most that long; not at all if it was rung since the first check.
  func wait(nanoseconds: UInt64) {
    unsafe tarn_futex_wait(
      UnsafeMutableRawPointer(bitPattern: word)!, expected, Int64(clamping: nanoseconds))
  }

  func ring() {
    guard isOwn else { return }
    let pointer = unsafe UnsafeMutableRawPointer(bitPattern: word)!
    _ = unsafe tarn_add32(pointer, 1)
    unsafe tarn_futex_wake(pointer, 1)
  }
}

/// A slot in the queue of writers. Releasing it leaves the queue.
package struct GateTicket: ~Copyable, Sendable {
  private let gate: WriteGate
  /// Ticket and process: the word in the waiter's slot without the passed-over mark.
  private let word: UInt64
  /// Nil while all slots are taken.
  private var index: Int?

  init(gate: WriteGate) {
    self.gate = gate
    let last = unsafe tarn_add64(gate.file.base + SignalLayout.lastTicketAt, 1)
    word = GateWord.ticket(last &+ 1, slot: gate.file.slot)
    takeSlot()
  }

  deinit {
    if gate.file.isForked { return }
    guard let index else { return }
    leave(index)
    // Passes a wake that was meant for this one to the next.
    if unsafe tarn_load64(gate.file.base + SignalLayout.ownerAt) == 0 { gate.wakeFirst() }
  }

  /// The result of checking the lock.
  package enum Outcome: ~Copyable {
    case claimed(GateToken)
    /// Not yet: sleep at most that long, then check again.
    case wait(nanoseconds: UInt64)
  }

  /// Waits until this ticket is first and the lock is free. Errors: `.busy` after the timeout.
  package consuming func wait(
    timeout: Duration?, telling notice: GateToken.Notice? = nil
  ) throws(StorageError) -> GateToken {
    let start = GateWord.now()
    let limit = timeout.map { GateWord.nanoseconds($0) }
    var noticeAt = notice.map { GateWord.nanoseconds($0.after) }
    while true {
      let futex = futex
      switch tryClaim() {
      case .claimed(let token): return token
      case .wait(var nanoseconds):
        if let limit {
          let spent = GateWord.now() &- start
          if spent >= limit { throw gate.busy() }
          nanoseconds = min(nanoseconds, limit - spent)
        }
        if let time = noticeAt, GateWord.now() &- start >= time {
          noticeAt = nil
          notice?.tell()
        }
        futex.wait(nanoseconds: nanoseconds)
      }
    }
  }

  /// Takes the lock if it is this ticket's turn; otherwise passes over a first waiter that does not
  /// come.
  package mutating func tryClaim() -> Outcome {
    if let nanoseconds = look() { return .wait(nanoseconds: nanoseconds) }
    guard let token = gate.claim() else { return .wait(nanoseconds: sleepAtMost) }
    if let index { leave(index) }
    index = nil
    return .claimed(token)
  }

  /// Checks whether it is this ticket's turn, and passes over like `tryClaim`.
  ///
  /// - Returns: nil if the lock can be taken; otherwise after how many nanoseconds to check again.
  mutating func look() -> UInt64? {
    keepSlot()
    let ownerAt = unsafe gate.file.base + SignalLayout.ownerAt
    let owner = unsafe tarn_load64(ownerAt)
    if let slot = GateWord.slot(ofOwner: owner) {
      // The first is woken by the release; the second is there to notice if the first does not
      // come.
      if gate.file.isAlive(slot) {
        return isSecond ? WriteGate.passOverNanoseconds : sleepAtMost
      }
      gate.free(owner)
    }
    guard let first = firstAhead() else { return nil }
    let since = unsafe tarn_load64(gate.file.base + SignalLayout.changedAt)
    let now = GateWord.now()
    let free = now > since ? now - since : 0
    if free < WriteGate.passOverNanoseconds {
      return WriteGate.passOverNanoseconds - free
    }
    let mark = unsafe tarn_load64(gate.waiter(first))
    if mark != 0 { _ = unsafe tarn_swap_if64(gate.waiter(first), mark, mark | GateWord.passedOver) }
    return 1
  }

  /// The word to sleep on between two checks. Read it before the first check.
  var futex: SharedFutexWord {
    let word = unsafe UInt(bitPattern: bellWord)
    guard index != nil else {
      return SharedFutexWord(word: word, expected: SignalLayout.format, isOwn: false)
    }
    return SharedFutexWord(word: word, expected: wakeCount, isOwn: true)
  }

  private var sleepAtMost: UInt64 {
    index == nil ? 1_000_000 : WriteGate.lookAtOwnerNanoseconds
  }

  private var wakeCount: UInt32 {
    guard let index else { return 0 }
    return unsafe tarn_load32(gate.waiter(index) + 8)
  }

  /// A ticket without a slot has no word; any word that does not change will do.
  private var bellWord: UnsafeMutableRawPointer {
    unsafe index.map { unsafe gate.waiter($0) + 8 } ?? gate.file.base + SignalLayout.formatAt
  }

  private mutating func takeSlot() {
    let start = Int(truncatingIfNeeded: word >> 17)
    for offset in 0..<SignalLayout.waiterCount {
      let candidate = (start &+ offset) & (SignalLayout.waiterCount - 1)
      if unsafe tarn_swap_if64(gate.waiter(candidate), 0, word) {
        index = candidate
        break
      }
    }
    // After the slot, so that a release that clears it finds the slot.
    unsafe tarn_store32(gate.file.base + SignalLayout.waitingAt, 1)
  }

  /// Clears the passed-over mark; takes another slot if this one was lost.
  private mutating func keepSlot() {
    guard let index else { return takeSlot() }
    let found = unsafe tarn_load64(gate.waiter(index))
    if found & ~GateWord.passedOver != word {
      self.index = nil
      return takeSlot()
    }
    if found != word { _ = unsafe tarn_swap_if64(gate.waiter(index), found, word) }
    unsafe tarn_store32(gate.file.base + SignalLayout.waitingAt, 1)
  }

  private func leave(_ index: Int) {
    let at = unsafe gate.waiter(index)
    while true {
      let found = unsafe tarn_load64(at)
      if found & ~GateWord.passedOver != word { return }
      if unsafe tarn_swap_if64(at, found, 0) { return }
    }
  }

  private var isSecond: Bool {
    var ahead = 0
    for candidate in 0..<SignalLayout.waiterCount {
      let other = unsafe tarn_load64(gate.waiter(candidate))
      if other != 0, other & GateWord.passedOver == 0, other < word { ahead += 1 }
    }
    return ahead == 1
  }

  /// The slot of the lowest live ticket before this one that was not passed over.
  private func firstAhead() -> Int? {
    while true {
      var best = GateWord.number(ofTicket: word)
      var found: (index: Int, word: UInt64)?
      for candidate in 0..<SignalLayout.waiterCount {
        let other = unsafe tarn_load64(gate.waiter(candidate))
        guard other != 0, other & GateWord.passedOver == 0 else { continue }
        let number = GateWord.number(ofTicket: other)
        if number < best { (best, found) = (number, (candidate, other)) }
      }
      guard let found else { return nil }
      if gate.file.isAlive(GateWord.slot(ofTicket: found.word)) { return found.index }
      _ = unsafe tarn_swap_if64(gate.waiter(found.index), found.word, 0)
    }
  }
}
