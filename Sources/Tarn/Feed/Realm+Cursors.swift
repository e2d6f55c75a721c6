import Foundation
package import TarnStore

/// Where a new cursor begins.
public enum CursorStart: Sendable, Hashable {
  /// With the commits after this call.
  case newest
  /// With the oldest version after which all changes are in the file: for cursors, for the
  /// retention, or for readers. Like ``newest`` if the file has no change records.
  case oldest
  /// With a snapshot of the current objects, reported as ``FullResyncReason/snapshot``, and then
  /// with the commits after it.
  case snapshot
}

extension CursorStart {
  fileprivate var stored: CursorRequest.Start {
    switch self {
    case .newest: .newest
    case .oldest: .oldest
    case .snapshot: .snapshot
    }
  }
}

/// The state before a commit that its change record keeps for a cursor.
public enum KeptValues: Sendable, Hashable, CaseIterable {
  /// Nothing: deleted objects have only their object keys.
  case none
  /// The primary keys of deleted objects.
  case keys
  /// All values of deleted objects.
  case deletedObjects
  /// Also the old values of modified properties.
  case oldValues

  var level: OldValueLevel {
    switch self {
    case .none: .none
    case .keys: .keys
    case .deletedObjects: .deletedObjects
    case .oldValues: .oldValues
    }
  }
}

extension Realm {
  /// Opens a cursor of this file, or creates it if the name is new. See <doc:Cursors>.
  ///
  /// Traps in a write and for a frozen Realm.
  ///
  /// - Parameters:
  ///   - name: identifies the cursor in the file.
  ///   - selection: the objects and changes to report. If it differs from the cursor's stored
  ///     selection, the consumer gets a full resync.
  ///   - start: where a new cursor begins.
  ///   - values: the values that commits from now on keep for the cursor, at a small cost for each.
  ///     By default old values if the selection has a condition, because they show whether an
  ///     object matched it before, and otherwise the primary keys of deleted objects.
  ///   - limit: how far it may fall behind; nil to keep the cursor's limit, or
  ///     ``LagLimit/standard`` for a new cursor.
  ///   - position: the position that the consumer has stored with its effect; nil without one.
  ///     Changes up to there are not reported again; a position that is not in this file's log is
  ///     ``FullResyncReason/restored``.
  ///   - patience: how long to wait for another owner.
  ///   - takes: true to take the cursor from another owner at once, such as a process that is
  ///     stopped or hangs. Later acknowledgements by that owner throw.
  /// - Throws: `Realm.Error.busy` if another process or another part of this one has it, with the
  ///   process and since when; `.filePermissionDenied` for a read-only Realm; `.invalidInput` for a
  ///   selection that does not fit the file.
  public func cursor(
    _ name: String, of selection: CursorSelection = .wholeRealm,
    startingAt start: CursorStart = .newest, keeping values: KeptValues? = nil,
    limit: LagLimit? = nil, expecting position: ChangePosition? = nil,
    waiting patience: Duration = .zero, taking takes: Bool = false
  ) throws -> ChangeCursor {
    try cursor(
      name, of: selection, startingAt: start, keeping: values, limit: limit, expecting: position,
      delivered: nil, waiting: patience, taking: takes
    ) { held, _ throws(StorageError) in held }
  }

  /// Like the public `cursor`, for a caller that wraps the cursor's access to the file.
  ///
  /// - Parameter last: the end of the last batch that the consumer may have received; nil if
  ///   that is unknown.
  package func cursor(
    _ name: String, of selection: CursorSelection, startingAt start: CursorStart,
    keeping values: KeptValues?, limit: LagLimit?, expecting position: ChangePosition?,
    delivered last: ChangePosition? = nil, waiting patience: Duration, taking takes: Bool,
    keeper: (HeldCursor, Snapshot) throws(StorageError) -> any FeedKeeper
  ) throws -> ChangeCursor {
    core.checkThread()
    if core.isFrozen { core.trapFrozen("Cannot open a cursor of") }
    require(
      !core.isInWriteTransaction,
      "A cursor cannot be opened in a write: opening it is a commit of its own. Open it before.")
    guard !core.configuration.readOnly else {
      throw Realm.Error(
        .filePermissionDenied,
        message: "A cursor keeps its position in the file, and this Realm is read-only: open "
          + "'\(core.store.path)' for writing.", fileURL: core.store.fileURL)
    }
    let (store, model) = (core.store, core.classes.model)
    let snapshot = try publicly { () throws(StorageError) in try store.newestSnapshot() }
    let frozen = try RealmCore.frozen(
      at: snapshot, of: store, core.configuration, model, home: core.scheduler.key)
    let bound = try BoundSelection(selection, frozen)
    let level = (values ?? bound.keptValues).level
    var request = CursorRequest(
      name, selection: bound.names, level: level, limits: limit?.limits,
      start: start.stored, takes: takes, patience: patience)
    request.related = bound.related(in: snapshot.schema)
    request.place = position.map { FeedPlace($0) }
    return try publicly { () throws(StorageError) in
      let held = try store.openCursor(request)
      var (toldThrough, pending) = (held.toldThrough, FeedReason?.none)
      let newest = try store.newestSnapshot()
      let state = try held.state(in: newest)
      if let place = request.place {
        switch try FeedExpectation(place, with: state, isNew: held.isNew, in: newest) {
        case .agrees: toldThrough = place.version
        case .isAhead where state.reason == nil:
          try held.acknowledge(from: state.acknowledged, to: place)
          toldThrough = place.version
        case .isAhead: break
        case .isElsewhere: pending = .restored
        case .isRemoved: pending = .expired
        }
        // A new beginning has all objects anyway.
        if state.reason == .snapshot, place.historyID == state.acknowledged.historyID {
          pending = nil
        }
      }
      if let last, last.historyID == UUID(newest.head.historyID) {
        toldThrough = min(
          held.toldThrough, max(state.acknowledged.version, Version(last.version)))
      }
      return ChangeCursor(
        name, try keeper(held, store.newestSnapshot()), core, selection, keeping: level,
        toldThrough: toldThrough, pending: pending)
    }
  }

  /// A cursor whose position the caller stores: the file retains nothing for it.
  ///
  /// - Parameters:
  ///   - name: for messages.
  ///   - values: the old values to read, as far as the file keeps them for other reasons.
  ///   - last: the last version that the consumer may have received.
  ///   - keeper: stores the position.
  package func reader(
    _ name: String, of selection: CursorSelection, keeping values: KeptValues,
    delivered last: UInt64 = 0, keeper: any FeedKeeper
  ) -> ChangeCursor {
    core.checkThread()
    return ChangeCursor(
      name, keeper, core, selection, keeping: values.level, toldThrough: Version(last))
  }
}

extension Realm {
  /// Whether a selection differs from a cursor's selection in the file.
  package func selectionDiffers(
    _ selection: CursorSelection, from names: [FeedSelectionName]?
  ) throws -> Bool {
    let snapshot = try publicly { () throws(StorageError) in try core.store.newestSnapshot() }
    let frozen = try RealmCore.frozen(
      at: snapshot, of: core.store, core.configuration, core.classes.model,
      home: core.scheduler.key)
    return try BoundSelection(selection, frozen).names != names
  }
}

extension FeedPlace {
  package init(_ position: ChangePosition) {
    self.init(
      historyID: position.historyID.bytes, version: Version(position.version),
      commitID: position.commitID)
  }
}
