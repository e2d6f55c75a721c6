package import TarnStore

/// The instance of live sources, as far as they know it: of a Realm, or of a tool that has none.
package protocol LiveHost: AnyObject {
  /// The reader of the current snapshot; the call may begin or advance it.
  func shown() -> SnapshotReader
  /// The open write, if it has changed something.
  var activeWrite: ActiveWrite? { get }
  /// How often the instance has moved to another version.
  var step: Int { get }
  /// The changes of the last moves.
  var recentSteps: RecentSteps { get }
  /// Stays at one version, and may be read on any thread.
  var isFrozen: Bool { get }
}

/// A write that has changed something, and its progress.
package struct ActiveWrite {
  let session: WriteSession
  /// Identifies it among the instance's writes.
  let serial: UInt64

  var position: ChangeRecorder.Position { session.recorder.position }
}
