/// Reads one past version after another, for a reader that advances through many: the records
/// behind the next versions are read once for all of them.
package struct PastTail: Sendable {
  /// The number of versions that share a tail, the farthest first: a tail is read up to the one
  /// before it, so that each record is read about four times per level, however many follow.
  private static let spans: [UInt64] = [1024, 128, 16, 2]

  /// The records from a version ahead of the reader to the newest, for each span.
  private var tails: [RecordedPast] = []
  /// The last result, which the next batch needs again: that begins where this one ends.
  private var last: RecordedPast?
  private var historyID = Bytes16(high: 0, low: 0)

  package init() {}

  /// The records between a version and that of a snapshot.
  ///
  /// - Throws: `.corrupted` if a record is damaged or missing.
  package mutating func past(
    at version: Version, in snapshot: Snapshot
  ) throws(StorageError) -> RecordedPast {
    let newest = snapshot.version
    if let last, historyID == snapshot.head.historyID, last.from == version, last.to == newest {
      return last
    }
    // The state left by an error is not used.
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

  /// Adds the records committed since; `newer` is read once for all tails.
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
