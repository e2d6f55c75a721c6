package import TarnStore

extension Realm {
  /// Runs `block` in a write transaction that belongs to a cursor, and commits it: the cursor does
  /// not report this commit. For consumers that write their effect into the same file: acknowledge
  /// the batch in the block, so that the effect and the acknowledgement are one commit.
  ///
  /// ```swift
  /// try realm.write(as: cursor) {
  ///   apply(batch)
  ///   try batch.acknowledge()
  /// }
  /// ```
  ///
  /// Changes of the same objects by other commits are reported, with the values of the newest
  /// version. A write that acknowledges a batch belongs to its cursor without this, too.
  ///
  /// Traps for a cursor of another file, and in the same cases as `write`.
  ///
  /// - Parameters:
  ///   - cursor: the cursor.
  ///   - tokens: observations that do not receive this commit.
  ///   - block: the changes.
  /// - Throws: `Realm.Error` if the commit fails (the write is rolled back), or the block's error.
  @discardableResult
  public func write<R>(
    as cursor: ChangeCursor, withoutNotifying tokens: [NotificationToken] = [],
    _ block: () throws -> R
  ) throws -> R {
    require(
      cursor.store === core.store,
      "The cursor '\(cursor.name)' is one of '\(cursor.store.path)', and this is a Realm of "
        + "'\(core.store.path)'. Write in a Realm of the cursor's file.")
    return try write(withoutNotifying: tokens) {
      cursor.keeper.own(core.sessionToCommit())
      return try block()
    }
  }

  /// The net difference between two versions whose change records are retained, limited to a
  /// selection. Records are retained for cursors, for the file's retention, and for readers.
  ///
  /// Objects have the values of the newest version; ``ObjectChanges/recorded`` has those of the
  /// last of the two versions where old values are retained. Threading: like the Realm; the result
  /// may be passed anywhere.
  ///
  /// - Parameters:
  ///   - from: the version before the first change.
  ///   - to: the version after the last change.
  ///   - selection: the objects and changes to report.
  /// - Throws: `Realm.Error.invalidInput` if the versions are in the wrong order or too new, if the
  ///   records of the commits after the first one are no longer in the file, or if a migration is
  ///   between them; `.invalidDatabase` if a record is damaged.
  public func changes(
    from: UInt64, to: UInt64, of selection: CursorSelection = .wholeRealm
  ) throws -> VersionChanges {
    var tail = PastTail()
    return try changes(from: from, to: to, of: selection, &tail)
  }

  /// Like the public `changes`, for a caller that proceeds from version to version.
  package func changes(
    from: UInt64, to: UInt64, of selection: CursorSelection, _ tail: inout PastTail
  ) throws -> VersionChanges {
    core.checkThread()
    let (start, end) = (Version(from), Version(to))
    let snapshot = try publicly { () throws(StorageError) in try core.store.newestSnapshot() }
    guard start <= end, end <= snapshot.version else {
      throw core.error(
        "There are no changes from version \(from) to \(to): the newest version of "
          + "'\(core.store.path)' is \(snapshot.version.rawValue), and the first number must not "
          + "be greater than the second.")
    }
    try checkRecords(after: start, upTo: end, in: snapshot)
    let frozen = try RealmCore.frozen(
      at: snapshot, of: core.store, core.configuration, core.classes.model,
      home: core.scheduler.key)
    let bound = try BoundSelection(selection, frozen)
    var range = FeedRange(after: start, commitID: 0)
    try publicly { () throws(StorageError) in
      try range.extend(upTo: end, tellsAllDeaths: false, in: snapshot)
    }
    guard range.to == end else {
      throw core.error(
        "Version \(range.to.rawValue + 1) is a migration: the changes before and after it have "
          + "different classes or properties. Ask for those on one side of it.")
    }
    let difference = try publicly { () throws(StorageError) in
      // An empty range needs no past version, and there may be no records to read one from.
      let first = start < end ? try tail.past(at: start, in: snapshot) : nil
      return try FeedDifference(
        of: bound.parts, over: range.changes, deaths: range.deaths, mayRepeat: false,
        SnapshotReader(snapshot),
        start: first,
        end: first != nil && end < snapshot.version ? tail.past(at: end, in: snapshot) : nil)
    }
    return VersionChanges(from: start, to: end, difference, frozen, bound)
  }

  /// - Throws: `.invalidInput` if records after a version were removed.
  private func checkRecords(
    after start: Version, upTo end: Version, in snapshot: Snapshot
  ) throws {
    guard start < end else { return }
    let oldest = try publicly { () throws(StorageError) in
      try ChangeLog.isRemoved(after: start, in: snapshot.transaction)
        ? ChangeLog.oldestVersion(in: snapshot.transaction) : nil
    }
    guard let oldest else { return }
    throw core.error(
      "The change records after version \(start.rawValue) are no longer all in the file: the "
        + "oldest version to compare with is \(oldest.rawValue - 1). Retain records longer with "
        + "Realm.Configuration.retention, or with a cursor.")
  }
}
