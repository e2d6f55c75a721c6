/// Reaches an instance from other threads, on its scheduler. Released with the last token.
final class ConfinedHost: TokenHost, @unchecked Sendable {
  // because: `host` is used on its scheduler alone, and after the scheduler's end by `deinit`.
  private var host: (any DeliveryHost)?
  private let scheduler: Scheduler

  init(_ host: any DeliveryHost) {
    self.host = host
    scheduler = host.scheduler
  }

  /// Observations hold closures, which may retain the instance. They are removed in a turn, and no
  /// turn runs once the actor is gone. By then all tokens have ended, no code can be isolated to
  /// the actor any more, and nothing else references this object.
  deinit {
    if scheduler.isGone { host?.dropObservations() }
  }

  /// The thread that ran the turns ends: from now on tokens retain nothing.
  func letGo() { host = nil }

  var isCurrent: Bool { scheduler.isCurrent }

  /// Removes an ended observation, with the closure that it holds, from the instance's tables:
  /// here, or in a later turn of the instance's scheduler.
  func unlink(_ state: ObservationState) {
    if scheduler.isCurrent { return remove(state) }
    scheduler.schedule { self.remove(state) }
  }

  private func remove(_ state: ObservationState) {
    if case .property = state.target { return host?.endProperty(state) ?? () }
    host?.delivery.observers.remove(state)
  }
}
