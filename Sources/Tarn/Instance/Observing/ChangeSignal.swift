import TarnStore

/// Wakes the one task that waits for changes.
///
/// Threading: used on the instance's scheduler, except `cancel()`, which any thread may call.
final class ChangeSignal: Sendable {
  private enum State {
    case idle
    case waiting(CheckedContinuation<Void, Never>)
    case cancelled
  }

  private let state = Lock(State.idle)

  /// True while a task waits.
  var isWaiting: Bool {
    state.withLock { if case .waiting = $0 { true } else { false } }
  }

  /// The task was cancelled.
  var isCancelled: Bool {
    state.withLock { if case .cancelled = $0 { true } else { false } }
  }

  /// Resumes the waiting task.
  func wake() { end(.idle) }

  private func cancel() { end(.cancelled) }

  private func end(_ next: State) {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      defer { if case .cancelled = state {} else { state = next } }
      if case .waiting(let waiting) = state { return waiting } else { return nil }
    }
    waiting?.resume()
  }

  /// Waits until it is woken or the task is cancelled. Continues where it was called.
  func wait(isolation actor: isolated (any Actor)?) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: actor) { continuation in
        let isRefused = state.withLock { state in
          switch state {
          case .idle:
            state = .waiting(continuation)
            return false
          case .cancelled: return true
          case .waiting: trap("Two tasks use one iterator of changes at once.")
          }
        }
        if isRefused { continuation.resume() }
      }
    } onCancel: {
      cancel()
    }
  }
}
