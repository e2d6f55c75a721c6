/// Versions after a cursor's position that have nothing to report. Later requests need not read
/// their records again, so that a commit which does not concern a cursor costs the same however
/// many such commits came before it.
///
/// A request for batches of several commits each divides the versions into groups, from the
/// position on, and what it finds in a group depends on where that ends: what one commit changed
/// and the next changed back is news only in two groups. So a later request begins at the group
/// that was not full yet, and its groups are the same.
///
/// Only for a consumer that has received nothing of them: other versions would then count, too.
package struct QuietVersions: Sendable {
  /// The end of the groups that were full, and the bytes of their records.
  private struct Groups {
    var end: FeedPlace
    var bytes = 0
  }

  /// The position before them.
  package let from: FeedPlace
  /// The last of them; the position itself if there are none.
  package private(set) var last: FeedPlace
  /// The bytes of their records.
  package private(set) var bytes = 0
  /// Nil if all versions are one group, or each of them is one.
  private var groups: Groups?

  /// None yet.
  ///
  /// - Parameter limit: of a group.
  package init(after from: FeedPlace, _ limit: FeedRange.Limit) {
    self.from = from
    last = from
    if limit.mergesSome { groups = Groups(end: from) }
  }

  /// Adds a range that was read from `start` on, without anything to report.
  package mutating func extend(by range: FeedRange) {
    func place(_ version: Version, _ id: UInt64) -> FeedPlace {
      FeedPlace(historyID: from.historyID, version: version, commitID: id)
    }
    let before = groups?.bytes ?? bytes
    groups = groups.map { _ in
      Groups(end: place(range.from, range.fromID), bytes: before + range.bytesBefore)
    }
    last = place(range.to, range.commitID)
    bytes = before + range.bytes
  }

  /// Adds the versions up to a later one, none of which concerns the selection, either.
  package mutating func extend(to place: FeedPlace, bytes more: Int) {
    guard place.historyID == last.historyID, place.version > last.version else { return }
    last = place
    bytes += more
  }

  /// Where a request begins to read.
  package var start: FeedPlace { groups?.end ?? last }

  package var commits: Int { Int(last.version.rawValue - from.version.rawValue) }

  /// Whether a request after a position may begin behind them.
  package func follow(_ place: FeedPlace, in snapshot: Snapshot) -> Bool {
    let head = FeedPlace(snapshot.head)
    return from == place && (last.version < head.version || last == head)
  }
}
