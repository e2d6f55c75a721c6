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

  @Test func `tickets are served in their order over processes`() throws {
    let files = try (0..<3).map { _ in try position.open() }
    let first = try files[0].gate.acquire()
    var one = try files[1].gate.enqueue()
    var two = try files[2].gate.enqueue()
    var three = try files[0].gate.enqueue()
    var outcomes = [claims(&one)]
    first.release()
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
    holder.release()
    // Waits ten milliseconds for the slow one, then goes ahead; no wait the next time.
    try b.gate.acquire(timeout: .seconds(5)).release()
    let before = GateWord.now()
    try b.gate.acquire(timeout: .seconds(5)).release()
    #expect(GateWord.now() - before < 10_000_000)
    let again = try b.gate.acquire()
    var late = try b.gate.enqueue()
    // Running again it takes its mark off, and is first.
    var outcomes = [claims(&slow)]
    again.release()
    outcomes += [claims(&late), claims(&slow), claims(&late)]
    #expect(outcomes == [false, false, true, true])
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
    try a.gate.acquire(timeout: .seconds(20)).release()
    try a.gate.acquire(timeout: .seconds(20)).release()
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
    // Two others can be before one in the queue. A busy machine may keep one from its turn for
    // so long that it is passed over; that is rare.
    let counts = overtaken.withLock { $0 }
    #expect(counts.count == 900)
    #expect(counts.count { $0 > 2 } < 45, "\(counts.sorted().suffix(50))")
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
