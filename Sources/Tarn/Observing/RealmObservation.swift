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
}

/// A realm-level observation. It has no news of its own: `sendRealmNotification` calls it.
final class RealmObservation: Observation {
  let block: Realm.NotificationBlock

  init(state: ObservationState, serial: Int, block: @escaping Realm.NotificationBlock) {
    self.block = block
    super.init(state: state, serial: serial, seen: 0)
  }
}
