internal import CTarn

/// Those in this process who want the gate and may not wait for it where they are: they are called
/// when it is worth to try.
///
/// The gate is never given to somebody who may be busy, for everybody else would wait for him. It
/// is offered: the process has one ticket in the queue of writers, and when that is the first and
/// the gate is free, the first in line here is called and takes it when he comes. If he does not
/// come within some milliseconds, the next in line is called as well, and whoever comes first has
/// it; other processes pass over the ticket in the same time, as they do with any that does not
/// come. When all have been called and none has come, it stays passed over until one does: to
/// offer it once more would cost every writer of other processes those milliseconds anew.
///
/// One thread waits for all of them. It is there while somebody stands in line.
///
/// Threading: any thread.
package final class GateLine: Sendable {
  /// Names who stands in line.
  package typealias WaiterID = UInt64

  private struct Waiting {
    let waiter: WaiterID
    let wake: @Sendable () -> Void
    /// He has been called, and has not come since.
    var isCalled = false
  }

  private struct State: ~Copyable {
    var waiting: [Waiting] = []
    var ticket: GateTicket?
    /// What the thread sleeps on.
    var bell: GateBell?
    var hasThread = false

    /// Lets go of the ticket; the thread takes another one if somebody is left.
    mutating func dropTicket() {
      ticket = nil
      bell?.ring()
    }

    /// The first who could come and has not been called.
    var next: Int? { waiting.firstIndex { !$0.isCalled } }
  }

  private let gate: WriteGate
  private let state = Lock(State())

  init(_ gate: WriteGate) { self.gate = gate }

  /// Takes the gate if it is free and nobody else's turn. If not, `wake` is called when it is worth
  /// to try again; it may be called more than once.
  ///
  /// Errors: `.forked`; `.limitExceeded` if the process can have no more threads, so that none
  /// could wait.
  func claim(
    _ waiter: WaiterID, orCall wake: @escaping @Sendable () -> Void
  ) throws(StorageError) -> GateToken? {
    if state.withLock({ $0.waiting.isEmpty }), let token = try gate.tryAcquire() { return token }
    // Finds out whether the process may ask at all.
    try gate.file.checkUsable("write")
    var taken: GateToken?
    let needsThread = state.withLock { state in
      defer { state.bell?.ring() }
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

  /// Takes all out of the line, since no thread would call them; the others try again and get the
  /// same error, unless there is a thread by then.
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

  /// Leaves the line. Harmless for who does not stand in it.
  package func leave(_ waiter: WaiterID) {
    state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0.waiter == waiter }) else { return }
      state.waiting.remove(at: index)
      if state.waiting.isEmpty { state.dropTicket() } else { state.bell?.ring() }
    }
  }

  /// The ticket, for the first in line, who waits with it himself and has left the line then.
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
      BackgroundThread.rest { rest.bell.wait(nanoseconds: rest.nanoseconds) }
    }
  }

  private struct Rest {
    let bell: GateBell
    let nanoseconds: UInt64
    var wake: (@Sendable () -> Void)?
  }

  /// Nil, and the thread ends, when nobody is left.
  private func look() -> Rest? {
    state.withLock { state in
      guard !state.waiting.isEmpty, !gate.file.isForked else {
        state.ticket = nil
        state.hasThread = false
        state.bell = nil
        return nil
      }
      var ticket = state.ticket.take() ?? GateTicket(gate: gate)
      let bell = ticket.bell
      state.bell = bell
      var rest = Rest(bell: bell, nanoseconds: WriteGate.passOverNanoseconds)
      if let next = state.next {
        if let nanoseconds = ticket.look() {
          rest = Rest(bell: bell, nanoseconds: nanoseconds)
        } else {
          rest.wake = state.waiting[next].wake
          state.waiting[next].isCalled = true
        }
      } else {
        // Who comes takes the mark of being passed over off, and rings.
        rest = Rest(bell: bell, nanoseconds: WriteGate.lookAtOwnerNanoseconds)
      }
      state.ticket = consume ticket
      return rest
    }
  }
}
