/// A list, set or map.
///
/// A step is interpreted while the snapshots of both its ends are held: positions from the scripts
/// in the change set, values of sets and keys of maps from the two states. Nothing of a snapshot is
/// kept beyond that.
package struct SequenceModel: LiveModel {
  package struct Content: LiveContent {
    package internal(set) var isOwnerGone: Bool
    package internal(set) var count: Int
    /// Finds the positions of objects among the elements.
    var finder: ElementFinder
  }

  package let place: SequencePlace
  package let kind: CollectionKind
  /// All classes for mixed values, which may be objects of any class.
  package let elementClasses: Set<ClassID>
  private let target: ClassID?

  package init(_ place: SequencePlace, _ kind: CollectionKind, _ schema: SchemaView) {
    self.place = place
    self.kind = kind
    let column = schema[place.classID][place.column]
    target = column.target
    elementClasses =
      column.type == .any
      ? Set(schema.schema.classes.map(\.id)) : Set([column.target].compactMap { $0 })
  }

  package var owner: ObjectRef? { ObjectRef(classID: place.classID, key: place.key) }
  package var concerningClasses: Set<ClassID> { [] }
  package var route: Route? {
    guard place.nested == nil, let target else { return nil }
    return Route(elementsOf: place, target)
  }
  package var readsPastState: Bool { true }
  package var needsOwner: Bool { true }

  package func isConcerned(by changes: ChangeSet) -> Bool {
    changes.schemaChanged || changes.contains(place.classID)
  }

  package func evaluate(_ rows: Rows) throws(StorageError) -> Content {
    let sequence = try rows.sequence(at: place)
    return Content(
      isOwnerGone: sequence == nil, count: sequence?.count ?? 0,
      finder: ElementFinder(target: target))
  }

  package func elements(
    _ content: Content, _ rows: Rows
  ) throws(StorageError) -> LiveElements {
    .sequence(try rows.stored(at: place))
  }

  /// The keys of a map; nil for other collections.
  package func keys(_ rows: Rows) throws(StorageError) -> [String]? {
    guard kind == .map else { return nil }
    var keys: [String] = []
    try rows.forEachKey(of: place) { key in
      keys.append(key)
      return true
    }
    return keys
  }

  package func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost { .none }

  package func cost(
    ofFollowing changes: ChangeSet, from content: Content, seen scopes: [BoundScope]
  ) -> LiveCost {
    if content.isOwnerGone { return .none }
    let isScripted = changes.schemaChanged || changes[place.classID]?.script(of: name) != nil
    return isScripted || scopes.contains { $0.mayBeConcerned(by: changes) }
      ? .passing(content.count) : .none
  }

  private var name: SequenceName {
    SequenceName(column: place.column, key: place.key, nested: place.nested)
  }

  // MARK: - Steps

  package struct Step {
    /// How elements moved or were set; nil if they were not.
    fileprivate let script: EditScript?
    /// The sequence before, if anything moved, and now, if it exists.
    fileprivate let old: StoredSequence?
    fileprivate let now: StoredSequence?
    /// The change for observers that see no element modified, once it was computed.
    fileprivate var unmodified: LiveChange??

    /// The old position of an element; nil if it was inserted.
    func oldPosition(of new: Int) -> Int? { script.map { $0.oldPosition(of: new) } ?? new }

    /// True if the element at a position was set.
    func wasSet(at new: Int) -> Bool {
      guard let script else { return false }
      return script.modified.contains(ObjectKey(Int64(new))) || script.oldPosition(of: new) == nil
    }
  }

  package func advance(
    _ content: inout Content, over move: LiveMove
  ) throws(StorageError) -> Step {
    let changes = move.changes
    let stored = try move.rows.stored(at: place)
    guard let now = stored, !changes.deletes(owner) else {
      // Another object may have the owner's key.
      content.isOwnerGone = stored == nil
      content.count = stored?.count ?? 0
      content.finder.forget()
      let old = try move.pastRows().stored(at: place)
      let script = EditScript.replacingAll(oldCount: old?.count ?? 0, newCount: content.count)
      return Step(script: script, old: old, now: stored)
    }
    content.count = now.count
    let script = changes[place.classID]?.script(of: name)
    guard script != nil || changes.schemaChanged else {
      return Step(script: nil, old: nil, now: now)
    }
    let old = try move.pastRows().stored(at: place)
    content.finder.forget()
    return Step(script: try checked(script, from: old, to: now, changes), old: old, now: now)
  }

  package func isQuiet(_ step: Step) -> Bool { step.script == nil }

  package func change(
    _ step: inout Step, _ content: inout Content, _ move: LiveMove, seen scope: BoundScope
  ) throws(StorageError) -> LiveChange? {
    let modified = try modifiedPositions(&content.finder, move, step.now, scope)
    if modified.isEmpty {
      if let known = step.unmodified { return known }
      if step.script == nil { return nil }
    }
    let all = (step.script ?? .identity(count: content.count)).modifying(modified)
    let change = all.isIdentity ? nil : try change(all, from: step.old, to: step.now)
    if modified.isEmpty { step.unmodified = .some(change) }
    return change
  }

  /// The script, if it fits both states; otherwise one that replaces everything.
  private func checked(
    _ script: EditScript?, from old: StoredSequence?, to now: StoredSequence,
    _ changes: ChangeSet
  ) throws(StorageError) -> EditScript {
    let known = changes.schemaChanged ? nil : script
    let fitting = EditScript.fitting(known, from: old?.count ?? 0, to: now.count)
    guard kind == .set, let old, fitting == known else { return fitting }
    return try keepingRepeats(fitting, old, now, changes)
  }

  /// The positions of objects whose data changed.
  private func modifiedPositions(
    _ finder: inout ElementFinder, _ move: LiveMove, _ now: StoredSequence?, _ scope: BoundScope
  ) throws(StorageError) -> KeySet {
    guard let now, now.count > 0, scope.mayBeConcerned(by: move.changes) else { return KeySet() }
    let observed = ObservedObjects(count: now.count) { [finder] () throws(StorageError) in
      try finder.objects(in: now)
    }
    let concerned = try scope.concerned(by: move.changes, move.rows, among: observed)
    return try finder.positions(of: concerned, in: now)
  }

  /// A value that was removed and inserted again within the step has stayed. It is modified if its
  /// form changed, such as from 1 to 1.0. A deleted object has not stayed: one with the same key is
  /// another object.
  private func keepingRepeats(
    _ script: EditScript, _ old: StoredSequence, _ now: StoredSequence, _ changes: ChangeSet
  ) throws(StorageError) -> EditScript {
    let moved = script.indexChanges()
    if moved.deletions.isEmpty || moved.insertions.isEmpty { return script }
    let removed = try Self.values(at: moved.deletions, in: old)
    let added = try Self.values(at: moved.insertions, in: now)
    let kept = ScriptStep.common(removed, added).filter {
      !isReplaced(removed[$0.0].value, by: changes)
    }
    let reformed = kept.filter { removed[$0.0].value != added[$0.1].value }
    return script.keeping(kept.map { (removed[$0].position, added[$1].position) })
      .modifying(KeySet(reformed.map { ObjectKey(Int64(added[$0.1].position)) }))
  }

  private func isReplaced(_ value: Value, by changes: ChangeSet) -> Bool {
    switch value {
    case .link(let key): target.flatMap { changes[$0] }?.isReplaced(key) == true
    case .object(let id, let key): changes[id]?.isReplaced(key) == true
    default: false
    }
  }

  // MARK: - Values and keys

  private func change(
    _ script: EditScript, from old: StoredSequence?, to now: StoredSequence?
  ) throws(StorageError) -> LiveChange {
    switch kind {
    case .none, .list: return .script(ScriptStep(script))
    case .set:
      let changes = script.indexChanges()
      var values = ScriptStep.SetValues()
      if let old { values.removed = try Self.values(at: changes.deletions, in: old) }
      if let now { values.added = try Self.values(at: changes.insertions, in: now) }
      return .script(ScriptStep(script, values: values))
    case .map:
      let changes = script.indexChanges()
      return .keys(
        KeyChanges(
          deletions: try Self.keys(at: changes.deletions, in: old),
          insertions: try Self.keys(at: changes.insertions, in: now),
          modifications: try Self.keys(at: changes.modificationsNew, in: now)))
    }
  }

  private static func values(
    at positions: [Int], in sequence: StoredSequence
  ) throws(StorageError) -> [ScriptStep.PositionedValue] {
    var values: [ScriptStep.PositionedValue] = []
    values.reserveCapacity(positions.count)
    for position in positions {
      values.append(
        ScriptStep.PositionedValue(position: position, value: try sequence.value(at: position)))
    }
    return values
  }

  private static func keys(
    at positions: [Int], in sequence: StoredSequence?
  ) throws(StorageError) -> [String] {
    guard let sequence else { return [] }
    var keys: [String] = []
    for position in positions { keys.append(try sequence.key(at: position)) }
    return keys
  }
}

extension CompiledQuery {
  /// The query for all objects of a class.
  convenience init(everythingIn id: ClassID, _ schema: SchemaView) {
    do {
      try self.init(.constant(true), [], on: id, schema)
    } catch {
      trap("internal error: a query for all objects failed: \(error)")
    }
  }
}
