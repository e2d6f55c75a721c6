/// Leads back to one version after the other, for a reader that goes forward through many: what
/// lies behind the next versions is read once for all of them.
package struct PastTail: Sendable {
  /// So many versions share a tail, the far ones first: a tail is read up to the one before it, so
  /// that each record is read some four times a level, however many lie behind.
  private static let spans: [UInt64] = [1024, 128, 16, 2]

  /// From a version ahead of the reader to the newest, for each span.
  private var tails: [RecordedPast] = []
  /// The last result, which the next batch needs again: it begins where this one ends.
  private var last: RecordedPast?
  private var historyID = Bytes16(high: 0, low: 0)

  package init() {}

  /// What lies between a version and that of a snapshot.
  ///
  /// - Throws: `.corrupted` if a record is damaged or missing.
  package mutating func past(
    at version: Version, in snapshot: Snapshot
  ) throws(StorageError) -> RecordedPast {
    let newest = snapshot.version
    if let last, historyID == snapshot.head.historyID, last.from == version, last.to == newest {
      return last
    }
    // What an error leaves behind is not used.
    let known = historyID == snapshot.head.historyID ? tails : []
    (tails, last) = ([], nil)
    var made: [RecordedPast] = []
    var newer: RecordedPast?
    for (level, span) in Self.spans.enumerated() {
      let before = made.last ?? RecordedPast(at: newest)
      if level < known.count, version <= known[level].from, known[level].to <= newest,
        known[level].from.rawValue - version.rawValue <= span
      {
        made.append(try Self.extend(known[level], to: snapshot, &newer))
      } else {
        let end = min(Version(version.rawValue + span), before.from)
        made.append(try Self.read(after: end, followedBy: before, in: snapshot))
      }
    }
    let result = try Self.read(
      after: version, followedBy: made.last ?? RecordedPast(at: newest), in: snapshot)
    (tails, last, historyID) = (made, result, snapshot.head.historyID)
    return result
  }

  private static func read(
    after version: Version, followedBy tail: RecordedPast, in snapshot: Snapshot
  ) throws(StorageError) -> RecordedPast {
    if version == tail.from { return tail }
    return try RecordedPast(after: version, upTo: tail.from, in: snapshot.transaction)
      .merging(tail)
  }

  /// Adds what was committed since; `newer` is read once for all tails.
  private static func extend(
    _ tail: RecordedPast, to snapshot: Snapshot, _ newer: inout RecordedPast?
  ) throws(StorageError) -> RecordedPast {
    if tail.to == snapshot.version { return tail }
    if newer?.from != tail.to {
      newer = try RecordedPast(
        after: tail.to, upTo: snapshot.version, in: snapshot.transaction)
    }
    return newer.map { tail.merging($0) } ?? tail
  }
}
