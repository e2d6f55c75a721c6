import TarnStore

extension Realm {
  /// What a realm-level observer is called with.
  public enum Notification: Sendable {
    /// The Realm shows a newer version, or committed a write of its own.
    case didChange
    /// With `autorefresh` off: a newer version exists; `refresh()` shows it.
    case refreshRequired
  }

  /// The type of a realm-level observer.
  public typealias NotificationBlock = (_ notification: Notification, _ realm: Realm) -> Void

  /// Calls `block` whenever this Realm has moved to a newer version or committed a write, and, with
  /// `autorefresh` off, whenever a newer version is available. Never called on a read-only Realm
  /// that has a private copy; ``changes`` throws there.
  ///
  /// - Returns: a token. Keep it for as long as you want to observe, and invalidate it on this
  ///   Realm's thread.
  public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
    core.observe(block)
  }
}

/// A realm-level observation as the program has asked for it.
final class RealmBlockObservation: RealmObservation {
  // The instance has its observations.
  private unowned let core: RealmCore
  private let block: Realm.NotificationBlock

  init(_ core: RealmCore, state: ObservationState, block: @escaping Realm.NotificationBlock) {
    self.core = core
    self.block = block
    super.init(state: state, serial: core.delivery.observers.claimSerial(), seen: 0)
  }

  override func tellOfMove() { block(.didChange, Realm(core)) }
  override func tellOfNewerVersion() { block(.refreshRequired, Realm(core)) }
}

extension RealmCore {
  fileprivate func observe(_ block: @escaping Realm.NotificationBlock) -> NotificationToken {
    checkCanObserve(isRealmLevel: true)
    let state = ObservationState(.realm)
    _ = shown()
    delivery.observers.add(RealmBlockObservation(self, state: state, block: block))
    return NotificationToken(state, confinedHost())
  }
}
