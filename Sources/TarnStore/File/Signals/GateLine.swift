internal import CTarn

/// This process's queue for the write lock ("gate"), for waiters whose thread must not block: each
/// is called when it should try to take the lock.
///
/// The lock is never assigned to a waiter that may be busy, because all others would wait for it.
/// It is offered: the process has one ticket in the queue of writers, and when that is the first
/// and the lock is free, the first waiter here is called and takes the lock when it runs. If it
/// does not within some milliseconds, the next waiter is called as well, and the first to run takes
/// the lock; other processes pass over the ticket after the same time, as with any that is not
/// used. When all have been called and none has run, the ticket stays passed over until one does:
/// offering it again would delay every writer of other processes by those milliseconds again.
///
/// One thread waits for all of them. It exists while the queue is not empty.
///
/// Threading: any thread.
package final class GateLine: Sendable {
  /// Identifies a waiter.
  package typealias WaiterID = UInt64

  private struct Waiting {
    let waiter: WaiterID
    let wake: @Sendable () -> Void
    /// It has been called, and has not tried since.
    var isCalled = false
  }

  private struct State: ~Copyable {
    var waiting: [Waiting] = []
    var ticket: GateTicket?
    /// The word that the thread sleeps on.
    var futex: SharedFutexWord?
    var hasThread = false

    /// Gives up the ticket; the thread takes another one if a waiter is left.
    mutating func dropTicket() {
      ticket = nil
      futex?.ring()
    }

    /// The first waiter that has not been called.
    var next: Int? { waiting.firstIndex { !$0.isCalled } }
  }

  private let gate: WriteGate
  private let state = Lock(State())

  init(_ gate: WriteGate) { self.gate = gate }

  /// Takes the write lock if it is free and no other waiter is first. If not, `wake` is called when
  /// it is worth trying again, possibly more than once.
  ///
  /// Errors: `.forked`; `.limitExceeded` if the process cannot start a thread to wait with.
  func claim(
    _ waiter: WaiterID, orCall wake: @escaping @Sendable () -> Void
  ) throws(StorageError) -> GateToken? {
    if state.withLock({ $0.waiting.isEmpty }), let token = try gate.tryAcquire() { return token }
    // Checks whether the process may use the file at all.
    try gate.file.checkUsable("write")
    var taken: GateToken?
    let needsThread = state.withLock { state in
      defer { state.futex?.ring() }
      if let index = state.waiting.firstIndex(where: { $0.waiter == waiter }) {
        if state.waiting[index].isCalled { taken = Self.tryTicket(&state) }
        state.waiting[index].isCalled = false
        if taken != nil {
          state.waiting.remove(at: index)
          return false
        }
      } else {
        state.waiting.append(Waiting(waiter: waiter, wake: wake))
      }
      guard !state.hasThread else { return false }
      state.hasThread = true
      return true
    }
    if needsThread, !BackgroundThread.start("tarn-gate", { [self] in stand() }) {
      throw noThread(waiter)
    }
    return taken.take()
  }

  /// Removes all waiters, because no thread would call them; the others try again and get the same
  /// error, unless a thread can be started by then.
  private func noThread(_ waiter: WaiterID) -> StorageError {
    let others = state.withLock { state in
      defer { state.waiting = [] }
      state.hasThread = false
      return state.waiting.filter { $0.waiter != waiter }
    }
    for other in others { other.wake() }
    return StorageError(noThreadFor: "write", path: gate.file.path)
  }

  private static func tryTicket(_ state: inout State) -> GateToken? {
    guard var ticket = state.ticket.take() else { return nil }
    switch ticket.tryClaim() {
    case .claimed(let token): return token
    case .wait:
      state.ticket = consume ticket
      return nil
    }
  }

  /// Leaves the queue. Harmless for a waiter that is not in it.
  package func leave(_ waiter: WaiterID) {
    state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0.waiter == waiter }) else { return }
      state.waiting.remove(at: index)
      if state.waiting.isEmpty { state.dropTicket() } else { state.futex?.ring() }
    }
  }

  /// The ticket, for the first waiter, which then leaves the queue and waits with the ticket
  /// itself.
  func takeTicket(of waiter: WaiterID) -> GateTicket? {
    state.withLock { state in
      guard state.waiting.first?.waiter == waiter, let ticket = state.ticket.take() else {
        return nil
      }
      state.waiting.removeFirst()
      state.dropTicket()
      return ticket
    }
  }

  // MARK: - The thread

  private func stand() {
    while let rest = look() {
      rest.wake?()
      BackgroundThread.rest { rest.futex.wait(nanoseconds: rest.nanoseconds) }
    }
  }

  private struct Rest {
    let futex: SharedFutexWord
    let nanoseconds: UInt64
    var wake: (@Sendable () -> Void)?
  }

  /// Nil, and the thread ends, when no waiter is left.
  private func look() -> Rest? {
    state.withLock { state in
      guard !state.waiting.isEmpty, !gate.file.isForked else {
        state.ticket = nil
        state.hasThread = false
        state.futex = nil
        return nil
      }
      var ticket = state.ticket.take() ?? GateTicket(gate: gate)
      let futex = ticket.futex
      state.futex = futex
      var rest = Rest(futex: futex, nanoseconds: WriteGate.passOverNanoseconds)
      if let next = state.next {
        if let nanoseconds = ticket.look() {
          rest = Rest(futex: futex, nanoseconds: nanoseconds)
        } else {
          rest.wake = state.waiting[next].wake
          state.waiting[next].isCalled = true
        }
      } else {
        // A waiter that tries clears the passed-over mark, and rings.
        rest = Rest(futex: futex, nanoseconds: WriteGate.lookAtOwnerNanoseconds)
      }
      state.ticket = consume ticket
      return rest
    }
  }
}
