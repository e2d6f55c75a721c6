package import TarnStore

/// A cursor's report to its consumer: the net changes of consecutive versions, or a snapshot to
/// start over from.
///
/// A consumer checks ``startAnew`` first. If it is not nil, it drops what it has and takes the
/// objects of ``snapshot``; otherwise it drops what is absent and stores what is present, class by
/// class. Then it calls ``acknowledge()``.
///
/// Threading: any. Everything that is read through a batch is frozen. A batch keeps a version in
/// the file for as long as it, or an object of it, is referenced.
public final class ChangeBatch: Sendable {
  let cursor: ChangeCursor
  let start: FeedPlace
  let end: FeedPlace
  /// The changes; none if the consumer must start over.
  public let changes: VersionChanges
  /// Why the consumer must start over; nil if ``changes`` has everything since the acknowledged
  /// position.
  public let startAnew: StartAnewReason?
  /// True if some of it may have been delivered before: to this program, or to one that had the
  /// cursor before. Repeated changes are merged with later ones; objects that came and went
  /// meanwhile are then among the deleted ones.
  public let isRepeated: Bool

  init(
    _ cursor: ChangeCursor, _ changes: VersionChanges, from start: FeedPlace, to end: FeedPlace,
    isRepeated: Bool, startAnew: StartAnewReason?
  ) {
    self.cursor = cursor
    self.changes = changes
    self.start = start
    self.end = end
    self.isRepeated = isRepeated
    self.startAnew = startAnew
  }

  /// The version before the first change: the acknowledged one.
  public var from: UInt64 { changes.from }
  /// The version after the last change; of the snapshot if the consumer must start over.
  public var to: UInt64 { changes.to }

  /// Where the consumer is when it has applied the batch. Kept together with the effect and given
  /// back when the cursor is opened, it makes the effect exactly once.
  public var position: ChangePosition { ChangePosition(end) }

  /// The Realm that objects are read from, frozen at the newest version when the batch was made.
  public var realm: Realm { changes.realm }

  /// The classes of ``realm`` as the file describes them.
  package var storeSchema: StoreSchema { changes.core.schemaToBind().schema }

  /// The Realm to start over from; nil if the changes suffice. See ``objects(_:)`` for the objects
  /// that the cursor selects.
  public var snapshot: Realm? { startAnew == nil ? nil : realm }

  /// True if there is nothing to apply: the position moves over commits that change nothing that is
  /// selected.
  public var isEmpty: Bool { startAnew == nil && changes.isEmpty }

  /// The names of the classes with something to tell.
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

  /// All objects of a class that the cursor selects, at the version of ``realm``: what a consumer
  /// that starts over takes. Traps if the class is not in the Realm's schema.
  public func objects<Element: Object>(_ type: Element.Type) -> Results<Element> {
    changes.selected(QuerySpec(type))
  }

  /// The same for a class as the file describes it.
  public func objects(ofClass className: String) -> Results<DynamicObject> {
    changes.selected(QuerySpec(dynamicClass: className))
  }

  // MARK: - Acknowledging

  /// Makes it durable that the consumer has applied the batch: the next one begins at its end.
  ///
  /// In a write of the same file that is open where this is called, the acknowledgement is part of
  /// that write: an effect in the file and its acknowledgement are one commit, which the cursor is
  /// not told of. Otherwise it waits for other writers and is a small commit of its own, which no
  /// observer receives.
  ///
  /// - Throws: `Realm.Error` if the batch does not begin at the acknowledged position; the message
  ///   says what that is. Also if the cursor is closed, was taken by another process or deleted.
  public func acknowledge() throws {
    try cursor.acknowledge(from: start, to: end)
  }

  /// The same from a task: waits without blocking a thread of the task's executor.
  ///
  /// - Throws: the same errors.
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
