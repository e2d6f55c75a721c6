import TarnStore

/// Limits how many deliveries run at the same time. Any thread.
final class Slots: Sendable {
  private struct State {
    var free: Int
    var waiting: [@Sendable () -> Void] = []
  }

  private let state: Lock<State>

  init(_ count: Int) { state = Lock(State(free: count)) }

  /// Takes a slot; without a free one, calls `again` once there may be one.
  func take(orCall again: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.free > 0 {
        state.free -= 1
        return true
      }
      state.waiting.append(again)
      return false
    }
  }

  func give() {
    let next = state.withLock { state in
      state.free += 1
      return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
    }
    next?()
  }
}
