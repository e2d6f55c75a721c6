package import TarnStore

/// The instance that live sources belong to, as far as they know it: a Realm's, or what a tool has
/// instead of it.
package protocol LiveHost: AnyObject {
  /// The reader over the shown snapshot, which the call may begin or move.
  func shown() -> SnapshotReader
  /// The write that is open and has changed something.
  var activeWrite: ActiveWrite? { get }
  /// How often the shown version has moved.
  var step: Int { get }
  /// What the last moves changed.
  var recentSteps: RecentSteps { get }
  /// Shows one version for good, and may be read on any thread.
  var isFrozen: Bool { get }
}

/// A write that has changed something, and how far it has come.
package struct ActiveWrite {
  let session: WriteSession
  /// Names it among the instance's writes.
  let serial: UInt64

  var position: ChangeRecorder.Position { session.recorder.position }
}
