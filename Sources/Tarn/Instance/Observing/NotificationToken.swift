import TarnStore

/// Keeps an observation alive. Releasing the last reference ends it; so does `invalidate()`.
///
/// A token may be invalidated on any thread, except that of a realm-level observation, which
/// belongs to its Realm's scheduler. It retains the object or collection that it observes, so the
/// observation continues when the program releases its own Realm, objects and collections.
public final class NotificationToken: Sendable {
  private let state: ObservationState?
  /// The token keeps the instance alive, not the observation: the instance is released when its
  /// last token has ended, on the thread that ends it.
  private let host: Lock<(any TokenHost)?>

  /// An inactive token; `invalidate()` on it returns false.
  public init() {
    state = nil
    host = Lock(nil)
  }

  init(_ state: ObservationState, _ host: any TokenHost) {
    self.state = state
    self.host = Lock(host)
  }

  var identity: ObjectIdentifier? { state.map { ObjectIdentifier($0) } }

  /// Ends the observation. Called on the observing scheduler, no callback starts after it returns.
  /// Called elsewhere, a callback that is running finishes.
  ///
  /// - Returns: true if the observation was active, false if it had ended before.
  @discardableResult
  public func invalidate() -> Bool {
    if let state, state.isActive, case .realm = state.target, let host = host.withLock({ $0 }) {
      require(
        host.isCurrent, "A Realm's own observation must be invalidated on the Realm's thread.")
    }
    return end()
  }

  /// Like `invalidate()`, from any thread, even for a realm-level observation.
  @discardableResult
  func end() -> Bool {
    guard let state, state.end() else { return false }
    host.withLock { $0.take() }?.unlink(state)
    return true
  }

  deinit {
    let isRealmLevel = if case .realm = state?.target { true } else { false }
    if end(), isRealmLevel {
      StoreLog.shared.write(
        .warning,
        "a token of a Realm's own observation was released without invalidate(); the observation "
          + "has ended")
    }
  }
}

/// The owner of observations: a token retains it, and removes its observation from it.
protocol TokenHost: AnyObject, Sendable {
  /// True if this code runs where the observation is called.
  var isCurrent: Bool { get }
  func unlink(_ state: ObservationState)
}

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
