/// Leads back to one version after the other, for a reader that goes forward through many: what
/// lies behind the next versions is read once for all of them.
package struct PastTail: Sendable {
  /// So many versions share what lies behind them.
  private static let span: UInt64 = 128

  private var known: RecordedPast?
  private var historyID = Bytes16(high: 0, low: 0)

  package init() {}

  /// What lies between a version and that of a snapshot.
  ///
  /// - Throws: `.corrupted` if a record is damaged or missing.
  package mutating func past(
    at version: Version, in snapshot: Snapshot
  ) throws(StorageError) -> RecordedPast {
    let (newest, transaction) = (snapshot.version, snapshot.transaction)
    if historyID != snapshot.head.historyID { known = nil }
    historyID = snapshot.head.historyID
    var tail: RecordedPast
    if let known, version <= known.from, known.to <= newest,
      known.from.rawValue - version.rawValue <= Self.span
    {
      tail = known
      if known.to < newest {
        tail = tail.merging(try RecordedPast(after: known.to, upTo: newest, in: transaction))
      }
    } else {
      let end = min(Version(version.rawValue + Self.span), newest)
      tail = try RecordedPast(after: end, upTo: newest, in: transaction)
    }
    known = tail
    if version == tail.from { return tail }
    return try RecordedPast(after: version, upTo: tail.from, in: transaction).merging(tail)
  }
}
