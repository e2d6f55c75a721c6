import TarnStore

extension Realm {
  /// The argument of a realm-level observer.
  public enum Notification: Sendable {
    /// The Realm advanced to a newer version, or committed a write of its own.
    case didChange
    /// With `autorefresh` off: a newer version exists; `refresh()` advances to it.
    case refreshRequired
  }

  /// The type of a realm-level observer.
  public typealias NotificationBlock = (_ notification: Notification, _ realm: Realm) -> Void

  /// Calls `block` whenever this Realm has advanced to a newer version or committed a write, and,
  /// with `autorefresh` off, whenever a newer version is available. Never called on a read-only
  /// Realm that has a private copy; ``changes`` throws there.
  ///
  /// - Returns: a token. Retain it for as long as you want to observe, and invalidate it on this
  ///   Realm's thread.
  public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
    core.observe(block)
  }
}

/// A realm-level observation with a block.
final class RealmBlockObservation: RealmObservation {
  // The instance owns its observations.
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
