import Synchronization

/// Keeps an observation alive. Releasing the last reference ends it; so does `invalidate()`.
///
/// A token may be invalidated on any thread, except that of a realm-level observation, which
/// belongs to its Realm's scheduler. It refers to what it observes strongly, so that the
/// observation goes on when the program drops its own Realm, objects and collections.
public final class NotificationToken: Sendable {
  /// What becomes of the observation. The step to `dead` happens once, and a callback starts only
  /// after a step from `active` to `running`, so none starts after `invalidate()` has returned on
  /// the observing scheduler.
  private let state: ObservationState?

  /// A token of no observation; `invalidate()` on it returns false.
  public init() { state = nil }

  init(_ state: ObservationState) { self.state = state }

  var identity: ObjectIdentifier? { state.map { ObjectIdentifier($0) } }
  var observation: ObservationState? { state }

  /// Ends the observation: no callback starts after this returns, if it is called on the
  /// observing scheduler; elsewhere one that is running goes on to its end.
  ///
  /// - Returns: true if the observation was active, false if it had ended before.
  @discardableResult
  public func invalidate() -> Bool { state?.end() ?? false }

  deinit { state?.end() }
}

/// The life of one observation, shared by its token and by the instance that calls it.
final class ObservationState: Sendable {
  private let isAlive = Atomic<Bool>(true)
  /// Takes the observation out of its instance's lists; runs on the observing scheduler.
  private let unlink: @Sendable (ObjectIdentifier) -> Void

  init(unlink: @escaping @Sendable (ObjectIdentifier) -> Void) { self.unlink = unlink }

  var isActive: Bool { isAlive.load(ordering: .acquiring) }

  @discardableResult
  func end() -> Bool {
    guard isAlive.exchange(false, ordering: .acquiringAndReleasing) else { return false }
    unlink(ObjectIdentifier(self))
    return true
  }
}
