/// Versions after a cursor's position that have nothing to report. Later requests need not read
/// their records again, so that a commit which does not concern a cursor costs the same however
/// many such commits came before it.
///
/// Only for a consumer that has received nothing of them: other versions would then count, too.
package struct QuietVersions: Sendable {
  /// The position before them.
  package let from: FeedPlace
  /// The last of them; the position itself if there are none.
  package private(set) var last: FeedPlace
  /// The bytes of their records.
  package private(set) var bytes: Int

  /// None yet.
  package init(after from: FeedPlace) {
    self.from = from
    last = from
    bytes = 0
  }

  /// - Parameters:
  ///   - former: the versions between the position and the range; nil for none.
  ///   - range: versions without anything to report.
  package init(after from: FeedPlace, _ former: QuietVersions?, _ range: FeedRange) {
    self.from = from
    last = FeedPlace(historyID: from.historyID, version: range.to, commitID: range.commitID)
    bytes = (former?.bytes ?? 0) + range.bytes
  }

  package var commits: Int { Int(last.version.rawValue - from.version.rawValue) }

  /// Adds the versions up to a later one, which have nothing to report either.
  package mutating func extend(to place: FeedPlace, bytes more: Int) {
    guard place.historyID == last.historyID, place.version > last.version else { return }
    last = place
    bytes += more
  }

  /// Whether a request after a position may begin behind them.
  package func follow(_ place: FeedPlace, in snapshot: Snapshot) -> Bool {
    let head = FeedPlace(snapshot.head)
    return from == place && (last.version < head.version || last == head)
  }
}
