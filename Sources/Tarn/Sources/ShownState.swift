import TarnStore

/// The state that one instance shows, and how often it has moved.
///
/// A class, as the other parts of an instance are: of a struct every read would be checked for
/// exclusive access at run time, because its methods change it for longer than a moment.
final class ShownState {
  /// Nil until something is read, and after `forget`.
  private(set) var reader: SnapshotReader?
  /// How often the shown version has moved, the instance's own commits included.
  private(set) var step = 0
  /// What the last moves changed, for sources that nobody observes.
  private(set) var recentSteps = RecentSteps()
  /// How often the instance was invalidated; accessors of an earlier life are dead.
  private(set) var life: UInt32 = 0
  /// Invalidated while observers need the state as what their next difference starts from: the
  /// next use of the instance moves to the newest version.
  private(set) var needsReset = false

  var version: Version? { reader?.snapshot.version }

  /// Shows a state that no step leads to.
  func begin(with reader: SnapshotReader) { self.reader = reader }

  /// Moves to a newer version, which is one step.
  ///
  /// - Returns: the state before it.
  func move(
    _ reader: SnapshotReader, to snapshot: Snapshot, _ changes: ChangeSet
  ) throws(StorageError) -> Snapshot {
    let former = reader.snapshot
    try reader.move(to: snapshot)
    step += 1
    recentSteps.append(step, changes)
    needsReset = false
    return former
  }

  /// Makes a step that leads to no version of its own; the next move is the rest of the way.
  func passThrough(_ changes: ChangeSet) {
    step += 1
    recentSteps.append(step, changes)
  }

  /// The next use of the instance finds the newest version.
  func clearReset() { needsReset = false }

  /// Ends the accessors' life.
  ///
  /// - Parameter keepsState: it is what observers' next difference starts from.
  func invalidate(keepsState: Bool) {
    life += 1
    if keepsState {
      needsReset = true
    } else {
      reader = nil
      // No step leads from what is forgotten here to what will be shown.
      step += 1
      recentSteps = RecentSteps()
    }
  }
}
