import CTarn
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TarnStore

@Suite struct WriteGateTests {
  let position = SignalFolder()

  /// Runs the bodies on threads of their own, because a waiting gate blocks its thread.
  func together(_ bodies: [@Sendable () -> Void]) {
    let group = DispatchGroup()
    for body in bodies {
      group.enter()
      Thread {
        body()
        group.leave()
      }.start()
    }
    group.wait()
  }

  func isFree(_ gate: WriteGate) throws -> Bool {
    guard let token = try gate.tryAcquire() else { return false }
    token.release()
    return true
  }

  @Test func `one at a time, and letting go of the token releases`() throws {
    let a = try position.open()
    let b = try position.open()
    do {
      let token = try a.gate.acquire()
      #expect(try !isFree(b.gate))
      #expect(try !isFree(a.gate))
      #expect(b.gate.holder?.process.processID == getpid())
      token.release()
    }
    #expect(b.gate.holder == nil)
    do { _ = try b.gate.acquire() }
    #expect(try isFree(a.gate))
  }

  @Test func `a wait ends with its timeout and names the holder`() throws {
    let a = try position.open()
    let b = try position.open()
    let token = try a.gate.acquire()
    let error = #expect(throws: StorageError.self) {
      try b.gate.acquire(timeout: .milliseconds(3)).release()
    }
    #expect(error?.code == .busy)
    #expect(error?.detail.contains("\(getpid())") == true)
    token.release()
    // The ticket that was given up is in nobody's way.
    try b.gate.acquire().release()
    try a.gate.acquire().release()
    #expect(try isFree(b.gate))
  }

  @Test func `a dead holder's gate is taken by who waits`() throws {
    let b = try position.open()
    let word: UInt64
    do {
      let a = try position.open()
      // Dies holding it: the word stays, the slot's lock goes.
      word = GateWord.owner(slot: a.slot, nonce: 99)
      tarn_store64(a.base + SignalLayout.ownerAt, word)
    }
    #expect(b.gate.holder == nil)
    try b.gate.acquire().release()
    #expect(try isFree(b.gate))
  }

  @Test func `who takes a dead process's slot does not inherit its gate or its ticket`() throws {
    let b = try position.open()
    do {
      let a = try position.open()
      tarn_store64(a.base + SignalLayout.ownerAt, GateWord.owner(slot: a.slot, nonce: 99))
      tarn_store64(a.gate.waiter(3), GateWord.ticket(1, slot: a.slot))
    }
    let c = try position.open()
    #expect(c.slot == 1)
    #expect(b.gate.holder == nil)
    #expect(tarn_load64(b.gate.waiter(3)) == 0)
    #expect(try isFree(b.gate))
  }

  /// Makes the gate look as if it had been free, or held, since then. A first in line is passed
  /// over once it has not come for ten milliseconds, which a busy machine takes at any moment:
  /// this says whether they have passed.
  func setChanged(_ file: SignalFile, nanosecondsAgo: Int64) {
    let time = GateWord.now() &- UInt64(bitPattern: nanosecondsAgo)
    tarn_store64(file.base + SignalLayout.changedAt, time)
  }

  @Test func `tickets are served in their order over processes`() throws {
    let files = try (0..<3).map { _ in try position.open() }
    let first = try files[0].gate.acquire()
    var one = try files[1].gate.enqueue()
    var two = try files[2].gate.enqueue()
    var three = try files[0].gate.enqueue()
    var outcomes = [claims(&one)]
    first.release()
    setChanged(files[0], nanosecondsAgo: -3_600_000_000_000)
    outcomes += [claims(&three), claims(&two), claims(&one), claims(&two), claims(&three)]
    #expect(outcomes == [false, false, false, true, true, true])
    try files[0].gate.acquire().release()
    #expect(try isFree(files[1].gate))
  }

  /// Claims and releases at once.
  func claims(_ ticket: inout GateTicket) -> Bool {
    switch ticket.tryClaim() {
    case .claimed(let token):
      token.release()
      return true
    case .wait: return false
    }
  }

  @Test func `a first in line who does not come is passed over and keeps its ticket`() throws {
    let a = try position.open()
    let b = try position.open()
    let holder = try a.gate.acquire()
    var slow = try a.gate.enqueue()
    var next = try b.gate.enqueue()
    holder.release()
    setChanged(b, nanosecondsAgo: -3_600_000_000_000)
    var outcomes = [claims(&next)]
    // The ten milliseconds have passed: one look marks the slow one, the next one takes the gate.
    setChanged(b, nanosecondsAgo: 10_000_000)
    outcomes += [claims(&next), claims(&next)]
    // It is not waited for again, however short the time since then.
    setChanged(b, nanosecondsAgo: -3_600_000_000_000)
    var second = try b.gate.enqueue()
    outcomes.append(claims(&second))
    #expect(outcomes == [false, false, true, true])
    let again = try b.gate.acquire()
    var late = try b.gate.enqueue()
    // Running again it takes its mark off, and is first.
    outcomes = [claims(&slow)]
    again.release()
    setChanged(b, nanosecondsAgo: -3_600_000_000_000)
    outcomes += [claims(&late), claims(&slow), claims(&late)]
    #expect(outcomes == [false, false, true, true])
  }

  @Test func `who waits for a first in line that does not come goes ahead of it`() throws {
    let a = try position.open()
    let b = try position.open()
    let holder = try a.gate.acquire()
    var slow = try a.gate.enqueue()
    holder.release()
    try b.gate.acquire().release()
    let isServed = claims(&slow)
    #expect(isServed)
    #expect(try isFree(b.gate))
  }

  @Test func `a ticket of a dead process is removed`() throws {
    let a = try position.open()
    do {
      let dead = try position.open()
      tarn_store64(a.gate.waiter(7), GateWord.ticket(1, slot: dead.slot))
      tarn_store64(a.base + SignalLayout.lastTicketAt, 1)
      tarn_store32(a.base + SignalLayout.waitingAt, 1)
    }
    try a.gate.acquire().release()
    #expect(tarn_load64(a.gate.waiter(7)) == 0)
    #expect(try isFree(a.gate))
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `damaged bytes never block for good`(seed: UInt64) throws {
    let a = try position.open()
    var random = SeededRandom(seed: seed)
    for index in 0..<SignalLayout.waiterCount where index % 3 == 0 {
      tarn_store64(a.gate.waiter(index), random.next())
    }
    tarn_store64(a.base + SignalLayout.lastTicketAt, random.next())
    tarn_store64(a.base + SignalLayout.ownerAt, random.next())
    try a.gate.acquire(timeout: .seconds(300)).release()
    try a.gate.acquire(timeout: .seconds(300)).release()
  }

  @Test func `many writers never hold it at once, and who waits is not overtaken`() throws {
    let files = try (0..<3).map { _ in try position.open() }
    let inside = Atomic<Int>(0)
    let grants = Atomic<Int>(0)
    let overtaken = Lock([Int]())
    together(
      files.map { file in
        {
          for _ in 0..<300 {
            guard let ticket = try? file.gate.enqueue() else { return }
            let before = grants.load(ordering: .relaxed)
            guard let token = try? ticket.wait(timeout: nil) else { return }
            let others = inside.wrappingAdd(1, ordering: .relaxed).oldValue
            #expect(others == 0)
            let now = grants.wrappingAdd(1, ordering: .relaxed).oldValue
            overtaken.withLock { $0.append(now - before) }
            inside.wrappingSubtract(1, ordering: .relaxed)
            token.release()
          }
        }
      })
    // Two others can be before one in the queue. A busy machine keeps some from their turns for so
    // long that they are passed over, but not most.
    let counts = overtaken.withLock { $0.sorted() }
    try #require(counts.count == 900)
    #expect(counts[450] <= 2, "\(counts.suffix(450))")
  }

  @Test func `more waiters than slots are all served`() throws {
    let a = try position.open()
    let served = Atomic<Int>(0)
    for index in 0..<SignalLayout.waiterCount - 1 {
      tarn_store64(a.gate.waiter(index), GateWord.ticket(UInt64(1 << 40 + index), slot: a.slot))
    }
    together(
      (0..<4).map { _ in
        {
          for _ in 0..<10 {
            guard let token = try? a.gate.acquire() else { return }
            served.wrappingAdd(1, ordering: .relaxed)
            token.release()
          }
        }
      })
    #expect(served.load(ordering: .relaxed) == 40)
  }
}
