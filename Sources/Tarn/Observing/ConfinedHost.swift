/// Reaches an instance from elsewhere, on its scheduler. It goes with the last token.
final class ConfinedHost: TokenHost, @unchecked Sendable {
  // because: `host` is used on its scheduler alone, and after the scheduler's end by `deinit`.
  private var host: (any DeliveryHost)?
  private let scheduler: Scheduler

  init(_ host: any DeliveryHost) {
    self.host = host
    scheduler = host.scheduler
  }

  /// Observations hold closures, and these what they came from, which keeps the instance. They are
  /// taken out in a turn, which does not come where the actor is gone. Then all tokens have ended,
  /// no code can be isolated to the actor any more, and nobody else has this.
  deinit {
    if scheduler.isGone { host?.dropObservations() }
  }

  /// The thread ends, whose turns these were: tokens keep nothing any more.
  func letGo() { host = nil }

  var isCurrent: Bool { scheduler.isCurrent }

  /// Takes an ended observation out of the instance's tables, with the closure that it holds:
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
