import Synchronization
import TarnStore

/// Keeps an observation alive. Releasing the last reference ends it; so does `invalidate()`.
///
/// A token may be invalidated on any thread, except that of a realm-level observation, which
/// belongs to its Realm's scheduler. It keeps a strong reference to what it observes, so the
/// observation goes on when the program drops its own Realm, objects and collections.
public final class NotificationToken: Sendable {
  private let state: ObservationState?
  /// The token keeps the instance alive, not the observation: so an instance goes when the last
  /// token of it has ended, wherever that happened.
  private let host: Lock<(any TokenHost)?>

  /// A token of no observation; `invalidate()` on it returns false.
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

  /// The same wherever this is called, for a Realm's own observation too.
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

/// The life of one observation, shared by its token and by the instance that calls it.
///
/// The step to dead happens once, and a callback starts only while it has not: so none starts
/// after `invalidate()` has returned on the observing scheduler.
final class ObservationState: Sendable {
  let target: ObservationTarget
  private let isAlive = Atomic<Bool>(true)

  init(_ target: ObservationTarget) { self.target = target }

  var isActive: Bool { isAlive.load(ordering: .acquiring) }

  /// False if it had ended before.
  @discardableResult
  func end() -> Bool { isAlive.exchange(false, ordering: .acquiringAndReleasing) }
}

/// What an observation observes, where its instance has registered it.
enum ObservationTarget: Sendable {
  case realm
  case object(ClassID, ObjectKey)
  case collection(WeakSource)
  case property
  /// By another token, in another instance.
  case elsewhere
}

/// What a token keeps alive, and takes its observation out of.
protocol TokenHost: AnyObject, Sendable {
  /// This code runs where the observation is called.
  var isCurrent: Bool { get }
  func unlink(_ state: ObservationState)
}

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
