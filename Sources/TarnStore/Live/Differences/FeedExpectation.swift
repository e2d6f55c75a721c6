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
