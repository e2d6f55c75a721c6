import TarnStore

/// The turn to write that a task waits for.
///
/// Threading: any.
final class TaskTurn: Sendable {
  private enum State {
    case idle, called, cancelled
    case waiting(CheckedContinuation<Void, any Error>)
  }

  private let state = Lock(State.idle)

  /// Waits to be called; returns at once if that has happened since the last time.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  func wait(_isolation actor: isolated any Actor) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation(isolation: actor) { continuation in
        let answer: Result<Void, any Error>? = state.withLock { state in
          switch state {
          case .cancelled: return .failure(CancellationError())
          case .called:
            state = .idle
            return .success(())
          case .idle, .waiting:
            state = .waiting(continuation)
            return nil
          }
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      leave(as: .cancelled)?.resume(throwing: CancellationError())
    }
  }

  /// The task may try now.
  func call() { leave(as: .called)?.resume() }

  private func leave(as next: State) -> CheckedContinuation<Void, any Error>? {
    state.withLock { state in
      switch state {
      case .cancelled: return nil
      case .waiting(let continuation):
        if case .called = next { state = .idle } else { state = next }
        return continuation
      case .idle, .called:
        state = next
        return nil
      }
    }
  }
}
