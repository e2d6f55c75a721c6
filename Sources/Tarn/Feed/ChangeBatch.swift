package import TarnStore

/// A cursor's report to its consumer: the net changes of consecutive versions, or a snapshot to
/// replace its copy with.
///
/// A consumer checks ``fullResync`` first. If it is not nil, it discards its copy and stores the
/// objects of ``snapshot``; otherwise it removes the objects in `removals` and stores those in
/// `upserts`, class by class. Then it calls ``acknowledge()``.
///
/// Threading: any. Everything that is read through a batch is frozen. A batch keeps a version in
/// the file as long as the batch, or an object read from it, is referenced.
public final class ChangeBatch: Sendable {
  let cursor: ChangeCursor
  let start: FeedPlace
  let end: FeedPlace
  /// The changes; empty for a full resync.
  public let changes: VersionChanges
  /// Why the consumer needs a full resync; nil if ``changes`` is complete since the acknowledged
  /// position.
  public let fullResync: FullResyncReason?
  /// True if some of the changes may have been delivered before: to this program, or to one that
  /// had the cursor before and did not close it. Only a position that the consumer stored shows how
  /// far that one had got. Repeated changes are merged with later ones; objects that were added and
  /// deleted meanwhile are then reported as deleted.
  public let isRepeated: Bool

  init(
    _ cursor: ChangeCursor, _ changes: VersionChanges, from start: FeedPlace, to end: FeedPlace,
    isRepeated: Bool, fullResync: FullResyncReason?
  ) {
    self.cursor = cursor
    self.changes = changes
    self.start = start
    self.end = end
    self.isRepeated = isRepeated
    self.fullResync = fullResync
  }

  /// The version before the first change: the acknowledged one.
  public var from: UInt64 { changes.from }
  /// The version after the last change, or of the snapshot of a full resync.
  public var to: UInt64 { changes.to }

  /// The consumer's position once it has applied the batch. To apply every batch exactly once,
  /// store it together with the effect, and pass it when the cursor is opened.
  public var position: ChangePosition { ChangePosition(end) }

  /// Where a consumer is that has everything before the batch.
  package var startPosition: ChangePosition { ChangePosition(start) }

  /// The Realm that objects are read from, frozen at the newest version when the batch was made.
  public var realm: Realm { changes.realm }

  /// The classes of ``realm`` as the file describes them.
  package var storeSchema: StoreSchema { changes.core.schemaToBind().schema }

  /// The Realm for a full resync; nil if the changes suffice. See ``objects(_:)`` for the objects
  /// that the cursor selects.
  public var snapshot: Realm? { fullResync == nil ? nil : realm }

  /// True if there is nothing to apply: the commits since the position changed nothing that the
  /// cursor selects.
  public var isEmpty: Bool { fullResync == nil && changes.isEmpty }

  /// The names of the classes with changes.
  public var classNames: [String] { changes.classNames }

  /// The changes of the objects of a class. Traps if the class is not in the Realm's schema.
  public subscript<Element: Object>(type: Element.Type) -> ObjectChanges<Element> {
    changes[type]
  }

  /// The changes of the objects of a class as the file describes it. Traps if the file has no
  /// such class.
  public func changes(ofClass className: String) -> ObjectChanges<DynamicObject> {
    changes.changes(ofClass: className)
  }

  /// All objects of a class that the cursor selects, at the version of ``realm``: the content for a
  /// consumer in a full resync. Traps if the class is not in the Realm's schema.
  public func objects<Element: Object>(_ type: Element.Type) -> Results<Element> {
    changes.selected(QuerySpec(type))
  }

  /// Like ``objects(_:)``, for a class as the file describes it.
  public func objects(ofClass className: String) -> Results<DynamicObject> {
    changes.selected(QuerySpec(dynamicClass: className))
  }

  /// Notes that a batch of `ChangeCursor.nextToDeliver` is delivered now: it may be from here on.
  package func noteDelivery() { cursor.noteDelivery(through: end.version) }

  // MARK: - Acknowledging

  /// Records durably that the consumer has applied the batch: the next one begins at its end.
  ///
  /// If a write of the same file is open where this is called, the acknowledgement is part of that
  /// write: an effect in the file and its acknowledgement are one commit, which the cursor does not
  /// report. Otherwise this waits for other writers and makes a small commit, which no observer
  /// receives.
  ///
  /// - Throws: `Realm.Error` if the batch does not begin at the acknowledged position, which the
  ///   message names. Also if the cursor is closed, deleted, or was taken by another process.
  public func acknowledge() throws {
    try cursor.acknowledge(from: start, to: end)
  }

  /// Acknowledges the batch from a task, without blocking a thread of the task's executor.
  ///
  /// - Throws: the same errors as ``acknowledge()``.
  public func acknowledge(
    isolation actor: isolated (any Actor)? = #isolation
  ) async throws {
    if try cursor.acknowledgeInOpenWrite(from: start, to: end) { return }
    try await FeedWork.run { [cursor, start, end] () throws(Realm.Error) in
      try cursor.acknowledge(from: start, to: end)
    }.get()
  }
}

extension VersionChanges {
  /// The objects of a class that are selected.
  func selected<Element: Object>(_ spec: QuerySpec) -> Results<Element> {
    let id = core.binding(of: spec).classID
    guard let part = selection.parts.first(where: { $0.classID == id }) else {
      return Results(core, spec.filtered(.constant(false)))
    }
    return Results(core, spec.filtered(part.condition))
  }
}
