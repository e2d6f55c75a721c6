import TarnStore

extension Realm {
  /// Opens the cursor with that name, or makes one, and keeps other processes from having it until
  /// it is closed or released.
  ///
  /// ```swift
  /// let cursor = try realm.cursor("indexer", of: .objects(of: Dog.self), startingAt: .snapshot)
  /// ```
  ///
  /// From then on the file keeps the change records that the cursor has not acknowledged, at most a
  /// gibibyte of them; a cursor that falls further behind is expired, and its next batch says so.
  /// The selection belongs to the cursor: opened with another one, it begins anew with
  /// ``StartAnewReason/selection``.
  ///
  /// Threading: like the Realm; the cursor may be used anywhere. Waits for other writers, as a write
  /// does.
  ///
  /// - Parameters:
  ///   - name: 1 to 255 bytes without control characters. Each consumer has one of its own.
  ///   - selection: the objects and changes that it tells of.
  ///   - start: where a new cursor begins; an existing one goes on where it is.
  ///   - values: what records keep of the state before a commit.
  ///   - position: where the consumer is, if it keeps that with its effect. If the cursor is behind,
  ///     it moves there; if the position is not in the file's history from the cursor on, the next
  ///     batch begins anew with ``StartAnewReason/restored``.
  ///   - patience: how long to wait for another process that has the cursor.
  ///   - taking: whether to take the cursor from another process at once. That one's
  ///     acknowledgements are refused from then on.
  /// - Throws: `Realm.Error`, which names the process, if another one has the cursor; if the
  ///   selection does not fit the file's classes; if the Realm is read-only, or the file can be read
  ///   only from a private copy.
  public func cursor(
    _ name: String, of selection: CursorSelection = .wholeRealm,
    startingAt start: CursorStart = .newest, keeping values: FormerValues = .keys,
    expecting position: ChangePosition? = nil, waiting patience: Duration = .zero,
    taking: Bool = false
  ) throws -> ChangeCursor {
    core.checkThread()
    guard !core.configuration.readOnly, core.frozen == nil else {
      let kind = core.frozen == nil ? "read-only" : "frozen"
      throw core.error(
        "A cursor keeps its position in the file, and this Realm is \(kind): open "
          + "'\(core.store.path)' for writing.")
    }
    guard !core.isInWriteTransaction else {
      throw core.error(
        "The cursor '\(name)' cannot be opened in a write transaction, because that is a write of its "
          + "own. Open it before.")
    }
    let snapshot = try publicly { () throws(StorageError) in try core.store.newestSnapshot() }
    let frozen = try RealmCore.frozen(
      at: snapshot, of: core.store, core.configuration, core.classes.model,
      home: core.scheduler.key)
    let names = try BoundSelection(selection, frozen).names
    let request = CursorRequest(
      name, selection: names, level: values.level, startsWithSnapshot: start == .snapshot,
      takes: taking, patience: patience)
    let held = try publicly { () throws(StorageError) in try core.store.openCursor(request) }
    let pending = try position.map { try held.move(to: $0.place) } ?? nil
    return ChangeCursor(
      name, held, core, selection, keeping: values.level, toldThrough: held.openedAt,
      pending: pending)
  }
}

extension HeldCursor {
  /// Moves to the consumer's position.
  ///
  /// - Returns: why the consumer must begin anew; nil if it can go on.
  fileprivate func move(to place: FeedPlace) throws(Realm.Error) -> FeedReason? {
    try publicly { () throws(StorageError) in
      let snapshot = try store.newestSnapshot()
      let state = try state(in: snapshot)
      switch try FeedExpectation(place, with: state, in: snapshot) {
      case .agrees: return nil
      case .isElsewhere: return .restored
      case .isAhead:
        try acknowledge(from: state.acknowledged, to: place)
        return nil
      }
    }
  }
}

extension ChangePosition {
  var place: FeedPlace {
    FeedPlace(historyID: historyID.bytes, version: Version(version), commitID: commitID)
  }
}
