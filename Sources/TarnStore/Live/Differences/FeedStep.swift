/// The report of a cursor at a snapshot.
package enum FeedStep: Sendable {
  /// Nothing since the acknowledged version.
  case nothing
  /// Some versions after it, merged.
  case range(FeedRange)
  /// The changes are not known: the consumer needs a full resync.
  case fullResync(FeedReason)

  /// Finds the changes after the acknowledged version.
  ///
  /// - Parameters:
  ///   - state: the state of the cursor in the snapshot.
  ///   - end: the last version to report; nil for the newest.
  ///   - number: the number of the cursor, whose own commits are left out.
  ///   - isRepeated: whether some of the range may have been delivered before.
  ///   - isExact: whether a range includes all of its versions, even irrelevant ones.
  ///   - quiet: versions after the acknowledged one that are not read again; nil for none.
  ///   - parts: the selection, to skip commits that do not concern it at `limit`.
  ///   - isNews: whether a range has something to report.
  package static func next(
    after state: FeedState, upTo end: Version?, _ limit: FeedRange.Limit, without number: UInt32?,
    isRepeated: Bool, isExact: Bool = false, passing quiet: QuietVersions? = nil,
    for parts: [FeedPart], in snapshot: Snapshot,
    _ isNews: (FeedRange) throws(StorageError) -> Bool
  ) throws(StorageError) -> FeedStep {
    if let reason = state.reason { return .fullResync(reason) }
    let (head, from) = (snapshot.head, state.acknowledged)
    guard from.historyID == head.historyID, from.version <= head.version,
      from.version < head.version || from.commitID == head.commitID
    else { return .fullResync(.restored) }
    let end = min(end ?? head.version, head.version)
    guard (quiet?.last ?? from).version < end else { return .nothing }
    let start = quiet?.start ?? from
    var range = FeedRange(after: start.version, commitID: start.commitID)
    repeat {
      do throws(StorageError) {
        try range.extend(
          upTo: end, limit, without: number, tellsAllDeaths: isRepeated, in: snapshot)
      } catch {
        guard error.code == .corrupted else { throw error }
        let isRemoved = try ChangeLog.isRemoved(after: from.version, in: snapshot.transaction)
        return .fullResync(isRemoved ? .expired : .unreadable)
      }
      if range.concerns(parts, snapshot.schema), try isNews(range) { break }
      if range.to < end, !range.endsBeforeMigration, !isExact { range.dropWhatTellsNothing() }
    } while range.to < end && !range.endsBeforeMigration
    return range.commits == 0 ? .fullResync(.schema) : .range(range)
  }
}

/// The position that a consumer has stored, compared with that of its cursor.
package enum FeedExpectation: Sendable {
  /// They are equal.
  case agrees
  /// The consumer has applied more than was acknowledged.
  case isAhead
  /// The position is not between the acknowledged one and the newest version: the file or the
  /// consumer was restored to an earlier state.
  case isElsewhere
  /// The position is before that of a new cursor, and its record is not in the file any more.
  case isRemoved

  /// - Parameter isNew: whether nothing was acknowledged yet.
  package init(
    _ expected: FeedPlace, with state: FeedState, isNew: Bool = false, in snapshot: Snapshot
  ) throws(StorageError) {
    let head = FeedPlace(snapshot.head)
    if expected == state.acknowledged {
      self = .agrees
    } else if expected == head {
      self = .isAhead
    } else if expected.historyID == head.historyID,
      expected.historyID == state.acknowledged.historyID,
      expected.version > state.acknowledged.version, expected.version < head.version
    {
      let commitID = try Self.commitID(of: expected.version, in: snapshot)
      self = commitID == expected.commitID ? .isAhead : .isElsewhere
    } else if isNew, expected.historyID == head.historyID,
      expected.version < state.acknowledged.version,
      try Self.commitID(of: expected.version, in: snapshot) == nil
    {
      self = .isRemoved
    } else {
      self = .isElsewhere
    }
  }

  /// The id of the commit that made a version; nil if its record cannot be read.
  private static func commitID(
    of version: Version, in snapshot: Snapshot
  ) throws(StorageError) -> UInt64? {
    do throws(StorageError) {
      return try ChangeLog.record(of: version, in: snapshot.transaction).header.meta.commitID
    } catch {
      guard error.code == .corrupted else { throw error }
      return nil
    }
  }
}
