import Tarn
import TarnStore

/// The version that a watch is at, as the host of its live sources. It only moves on.
final class WatchedVersion: LiveHost {
  private(set) var reader: SnapshotReader
  private(set) var step = 0

  init(_ snapshot: Snapshot) throws { reader = try SnapshotReader(snapshot) }

  /// Moves to `newest`. The reader of the version before goes on reading that.
  ///
  /// - Returns: the move, to be followed by every source.
  func move(to newest: Snapshot, _ changes: ChangeSet) throws -> LiveMove {
    let former = reader.snapshot
    reader = try SnapshotReader(newest)
    step += 1
    return LiveMove(changes, from: .version(former), to: StoreRows(reader))
  }

  func shown() -> SnapshotReader { reader }
  /// All of them have been followed: sources are followed from the first version on.
  var recentSteps: RecentSteps { RecentSteps() }
  var activeWrite: ActiveWrite? { nil }
  var isFrozen: Bool { false }
}
