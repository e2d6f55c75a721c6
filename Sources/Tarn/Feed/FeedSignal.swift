import TarnStore

/// Wakes one task that waits for news. News that arrive while no task waits are kept.
///
/// Threading: any.
final class FeedSignal: Sendable {
  private struct State {
    var hasNews = false
    var isOver = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state = Lock(State())

  /// There may be something new.
  func wake() { update { $0.hasNews = true } }

  /// No further news can follow.
  func end() { update { $0.isOver = true } }

  private func update(_ change: (inout State) -> Void) {
    let waiting = state.withLock { state in
      change(&state)
      return state.waiting.take()
    }
    waiting?.resume()
  }

  /// Waits for news since the last call, for the end, or until the task is cancelled.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDue = state.withLock { state in
          require(state.waiting == nil, "Two tasks use one iterator of batches at once.")
          if state.hasNews || state.isOver {
            state.hasNews = false
            return true
          }
          state.waiting = continuation
          return false
        }
        if isDue { continuation.resume() }
      }
    } onCancel: {
      end()
    }
    state.withLock { $0.hasNews = false }
  }
}
