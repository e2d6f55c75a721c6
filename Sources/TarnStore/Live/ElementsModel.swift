/// What results of objects go over, where no order of a class's rows alone gives them.
package enum ElementsOrigin: Hashable, Sendable {
  /// All objects of the query's class, of which distinct ones are left.
  case objects
  /// A collection of an object.
  case sequence(SequencePlace)
  /// What links to an object through a column of a class.
  case backlinks(to: LinkTarget, from: ClassID, ColumnID)

  package var owner: LinkTarget? {
    switch self {
    case .objects: nil
    case .sequence(let place): LinkTarget(classID: place.classID, key: place.key)
    case .backlinks(let target, _, _): target
    }
  }
}

/// The rows of one query over a collection that belongs to an object, or of one with distinct
/// values over a class.
///
/// Rows are found by going through all of the collection's elements. When the owner is gone there
/// are none.
package struct ElementsModel: LiveModel {
  package struct Content: LiveContent {
    package internal(set) var isOwnerGone = false
    package internal(set) var rows = ElementRows()
    /// The elements of the collection, nil where one is no object; none for a class.
    var elements: [ObjectKey?] = []

    package init() {}
  }

  package let query: CompiledQuery
  package let origin: ElementsOrigin

  package init(_ query: CompiledQuery, _ origin: ElementsOrigin) {
    self.query = query
    self.origin = origin
  }

  package var owner: LinkTarget? { origin.owner }
  package var concerningClasses: Set<ClassID> { query.concerningClasses }

  package func isConcerned(by changes: ChangeSet) -> Bool {
    changes.schemaChanged || owner.map { changes[$0.classID] != nil } == true
      || query.concerningClasses.contains { changes[$0] != nil }
  }

  // MARK: - Evaluating

  package func evaluate(_ rows: StoreRows) throws(StorageError) -> Content {
    var content = Content()
    if case .objects = origin {
      content.rows = try query.evaluateStages(rows)
    } else if let elements = try elements(rows) {
      content.rows = try query.evaluate(elements, rows)
      content.elements = elements
    } else {
      content.isOwnerGone = true
    }
    return content
  }

  /// Nil if the owner is gone.
  private func elements(_ rows: StoreRows) throws(StorageError) -> [ObjectKey?]? {
    switch origin {
    case .objects: return []
    case .sequence(let place):
      guard let sequence = try rows.sequence(at: place) else { return nil }
      var elements: [ObjectKey?] = []
      elements.reserveCapacity(sequence.count)
      try sequence.forEach(in: 0..<sequence.count) { value throws(StorageError) in
        if case .link(let key) = value { elements.append(key) } else { elements.append(nil) }
        return true
      }
      return elements
    case .backlinks(let target, let id, let column):
      guard try rows.contains(target) else { return nil }
      return try rows.origins(of: target, in: id, through: column)
    }
  }

  package func elements(
    _ content: Content, _ rows: StoreRows
  ) throws(StorageError) -> LiveElements {
    .rows(.elements(content))
  }

  package func baseline(
    _ content: Content, _ rows: StoreRows
  ) throws(StorageError) -> LiveBaseline {
    .count(content.rows.keys.count)
  }

  // MARK: - Costs

  package func cost(ofEvaluating rows: StoreRows) throws(StorageError) -> LiveCost {
    switch origin {
    case .objects: LiveCost(scanned: try rows.count(of: query.classID))
    case .sequence(let place): .readingElements(try rows.elementCount(of: place))
    case .backlinks(let target, let id, let column):
      .readingElements(try rows.origins(of: target, in: id, through: column).count)
    }
  }

  package func cost(ofFollowing changes: ChangeSet, from content: Content) -> LiveCost {
    guard isConcerned(by: changes), !content.isOwnerGone else { return .none }
    if case .objects = origin {
      let count = content.rows.keys.count
      return query.mayRearrange(changes) ? .readingElements(count) : .passing(count)
    }
    let touched = changes[query.classID]?.keyCount ?? 0
    let count = content.elements.count
    if query.staysInRow, query.stages.isEmpty, touched < max(8, count / 16) {
      var cost = LiveCost.passing(count)
      cost.lookedUp = touched
      return cost
    }
    return .readingElements(count)
  }

  // MARK: - Steps

  package func step(
    _ content: inout Content, _ move: LiveMove
  ) throws(StorageError) -> LiveChange? {
    let script =
      origin == .objects ? try stepOfClass(&content, move) : try stepOfElements(&content, move)
    guard let script, !script.isIdentity else { return nil }
    return .positions(script)
  }

  private func stepOfElements(
    _ content: inout Content, _ move: LiveMove
  ) throws(StorageError) -> EditScript? {
    let (old, changes) = (content.rows, move.changes)
    guard !isOwnerDeleted(by: changes), let moves = try moveElements(&content.elements, move)
    else {
      content = Content()
      content.isOwnerGone = true
      return .replacingAll(oldCount: old.keys.count, newCount: 0)
    }
    let modified = try modifiedElements(content.elements, move)
    if query.staysInRow, moves.script?.isIdentity == true, modified.isEmpty { return nil }
    let next = try query.advance(
      old, along: changes.schemaChanged ? nil : moves.script, to: content.elements,
      touched: modified, move.rows)
    content.rows = next
    if changes.schemaChanged {
      return .replacingAll(oldCount: old.keys.count, newCount: next.keys.count)
    }
    let changed = changes[query.classID]
    return next.script(from: old, along: moves.script, modified: modified) {
      changed?.isReplaced($0) == true
    }
  }

  /// Of a class. The rows are found anew only if some of them may have come, gone or moved.
  private func stepOfClass(
    _ content: inout Content, _ move: LiveMove
  ) throws(StorageError) -> EditScript? {
    let (old, changes) = (content.rows, move.changes)
    if changes.schemaChanged {
      content.rows = try query.evaluateStages(move.rows)
      return .replacingAll(oldCount: old.keys.count, newCount: content.rows.keys.count)
    }
    let modified = try query.modifiedRows(changes, move.rows) { KeySet(old.keys.sorted()) }
    if !query.mayRearrange(changes) { return old.script(modified: modified) }
    content.rows = try query.evaluateStages(move.rows)
    let changed = changes[query.classID]
    return content.rows.script(from: old, along: nil, modified: modified) {
      changed?.isReplaced($0) == true
    }
  }

  /// Brings the elements up to the step. The result is nil if the owner is gone, its script if
  /// nobody has written down how the elements moved.
  private func moveElements(
    _ elements: inout [ObjectKey?], _ move: LiveMove
  ) throws(StorageError) -> (script: EditScript?, Void)? {
    let own = owner.flatMap { move.changes[$0.classID] }
    var script: EditScript?
    let mayHaveMoved: Bool
    switch origin {
    case .objects: mayHaveMoved = false
    case .sequence(let place):
      script = own?.script(
        of: SequenceName(column: place.column, key: place.key, nested: place.nested))
      mayHaveMoved = script != nil
    case .backlinks(let target, let id, let column):
      mayHaveMoved = own?.backTouchedKeys(from: id, column).contains(target.key) == true
    }
    guard mayHaveMoved || move.changes.schemaChanged else {
      return (.identity(count: elements.count), ())
    }
    guard let now = try self.elements(move.rows) else { return nil }
    let before = elements.count
    elements = now
    let fits = script?.leads(from: before, to: now.count) == true
    return (fits ? script : nil, ())
  }

  /// The elements whose data changed, be it behind one link.
  private func modifiedElements(
    _ elements: [ObjectKey?], _ move: LiveMove
  ) throws(StorageError) -> KeySet {
    guard !elements.isEmpty, query.isConcerned(by: move.changes) else { return KeySet() }
    let modified = try query.modifiedRows(move.changes, move.rows) {
      KeySet(Set(elements.compactMap { $0 }).sorted())
    }
    if modified.isEmpty { return modified }
    let isHit = elements.contains { $0.map(modified.contains) == true }
    return isHit ? modified : KeySet()
  }

  /// What `changes` made of rows that nobody was told of.
  func difference(
    _ old: Content, _ new: Content, over changes: ChangeSet, _ rows: StoreRows
  ) throws(StorageError) -> IndexChanges {
    let modified = try query.modifiedRows(changes, rows) {
      KeySet(Set(old.rows.keys + new.rows.keys).sorted())
    }
    let own = changes[query.classID]
    return new.rows.script(from: old.rows, along: nil, modified: modified) {
      own?.isReplaced($0) == true
    }.indexChanges()
  }
}
