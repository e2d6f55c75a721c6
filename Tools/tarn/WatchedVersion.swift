import Tarn
import TarnStore

/// The version of a watch, as the host of its live sources. It only advances.
final class WatchedVersion: LiveHost {
  private(set) var reader: SnapshotReader
  private(set) var step = 0
  let scopes = SharedScopes()

  init(_ snapshot: Snapshot) throws { reader = try SnapshotReader(snapshot) }

  /// Advances to `newest`. The old version's reader stays valid.
  ///
  /// - Returns: the move, which every source must follow.
  func move(to newest: Snapshot, _ changes: ChangeSet) throws -> LiveMove {
    let former = reader.snapshot
    reader = try SnapshotReader(newest)
    step += 1
    return LiveMove(changes, from: .version(former), to: Rows(reader))
  }

  func shown() -> SnapshotReader { reader }
  /// Every source has followed all steps: sources start at the first version.
  var recentSteps: RecentSteps { RecentSteps() }
  var activeWrite: ActiveWrite? { nil }
  var isFrozen: Bool { false }
}
