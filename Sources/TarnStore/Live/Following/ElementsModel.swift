/// The elements that results of objects come from, if they are not simply a class's rows in order.
package enum ElementsOrigin: Hashable, Sendable {
  /// All objects of the query's class, for distinct results.
  case objects
  /// A collection of an object.
  case sequence(SequencePlace)
  /// The objects that link to an object through a column of a class.
  case backlinks(to: ObjectRef, from: ClassID, ColumnID)

  package var owner: ObjectRef? {
    switch self {
    case .objects: nil
    case .sequence(let place): ObjectRef(classID: place.classID, key: place.key)
    case .backlinks(let target, _, _): target
    }
  }
}

/// The rows of a query over an object's collection, or of a query with distinct values over a
/// class.
///
/// The first evaluation reads all elements. The first step of observed rows converts them to a form
/// in which later steps cost time only for their changes. Without the owner there are no rows.
package struct ElementsModel: LiveModel {
  package struct Content: LiveContent {
    package internal(set) var isOwnerGone = false
    package internal(set) var rows = ElementRows()
    /// The elements of the collection, nil for those that are not objects; empty for a class, and
    /// if the rows know them.
    var elements: [ObjectKey?] = []

    package init() {}

    var elementCount: Int { rows.kept?.elements?.count ?? elements.count }

    /// The rows of those objects.
    func rows(of keys: KeySet) throws(StorageError) -> KeySet {
      guard let kept = rows.kept, ElementIndex.isFew(keys.count, among: kept.elementCount) else {
        return rows.rows(of: keys)
      }
      return kept.rows(named: try kept.names(of: keys))
    }
  }

  package let query: CompiledQuery
  package let origin: ElementsOrigin

  package init(_ query: CompiledQuery, _ origin: ElementsOrigin) {
    self.query = query
    self.origin = origin
  }

  package var owner: ObjectRef? { origin.owner }
  package var concerningClasses: Set<ClassID> { query.concerningClasses }
  package var elementClasses: Set<ClassID> { [query.classID] }

  package func isConcerned(by changes: ChangeSet) -> Bool {
    changes.schemaChanged || owner.map { changes.contains($0.classID) } == true
      || query.concerningClasses.contains(where: changes.contains)
  }

  // MARK: - Evaluating

  package func evaluate(_ rows: Rows) throws(StorageError) -> Content {
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

  /// Nil if the owner is deleted.
  private func elements(_ rows: Rows) throws(StorageError) -> [ObjectKey?]? {
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
    _ content: Content, _ rows: Rows
  ) throws(StorageError) -> LiveElements {
    .rows(.elements(content))
  }

  package func baseline(
    _ content: Content, _ rows: Rows
  ) throws(StorageError) -> LiveBaseline {
    .count(content.rows.count)
  }

  // MARK: - Costs

  package func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost {
    switch origin {
    case .objects: LiveCost(scanned: try rows.count(of: query.classID))
    case .sequence(let place): .readingElements(try rows.elementCount(of: place))
    case .backlinks(let target, let id, let column):
      .readingElements(try rows.origins(of: target, in: id, through: column).count)
    }
  }

  package func cost(
    ofFollowing changes: ChangeSet, from content: Content, seen scopes: [BoundScope]
  ) -> LiveCost {
    if content.isOwnerGone { return .none }
    guard isConcerned(by: changes) else {
      let isSeen = scopes.contains { $0.mayBeConcerned(by: changes) }
      return isSeen ? passing(content) : .none
    }
    if origin == .objects, !query.mayRearrange(changes) { return passing(content) }
    let kept = content.rows.kept
    let touched = query.lookups(for: changes, among: content.elementCount)
    let all = origin == .objects ? kept?.elementCount ?? content.rows.count : content.elementCount
    guard query.stages.isEmpty || kept?.grouped != nil, ElementIndex.isFew(touched, among: all)
    else { return .readingElements(all) }
    var cost = passing(content)
    cost.lookedUp = touched
    return cost
  }

  /// The cost of a step that looks up what it changes. Maintained rows need no pass over elements.
  private func passing(_ content: Content) -> LiveCost {
    content.rows.kept != nil ? .none : .passing(content.elementCount + content.rows.count)
  }

  // MARK: - Steps

  package struct Step {
    fileprivate let old: ElementRows
    /// How rows may have moved; nil if all are replaced.
    fileprivate let moves: Moves?
    /// The change for observers that see no row modified, once it was computed.
    fileprivate var unmodified: LiveChange??
  }

  /// How rows may have moved.
  fileprivate enum Moves {
    /// The rows did not move.
    case none
    /// The rows move like the elements; nil without a script for these.
    case along(EditScript?)
    /// The script of the rows is known.
    case known(EditScript)
  }

  package func advance(
    _ content: inout Content, over move: LiveMove
  ) throws(StorageError) -> Step {
    let old = content.rows
    return Step(old: old, moves: try moveRows(&content, move))
  }

  package func isQuiet(_ step: Step) -> Bool {
    if case .some(.none) = step.moves { true } else { false }
  }

  package func change(
    _ step: inout Step, _ content: inout Content, _ move: LiveMove, seen scope: BoundScope
  ) throws(StorageError) -> LiveChange? {
    let (old, new) = (step.old, content.rows)
    guard let moves = step.moves else {
      return .news(.replacingAll(oldCount: old.count, newCount: new.count))
    }
    let observed = ObservedObjects(count: new.count) { [query.classID: KeySet(new.keys)] }
    let concerned = try scope.concerned(by: move.changes, move.rows, among: observed)
    let modified = concerned[query.classID] ?? KeySet()
    if modified.isEmpty, let known = step.unmodified { return known }
    let changed = move.changes[query.classID]
    let script =
      switch moves {
      case .none: EditScript.identity(count: new.count).modifying(try content.rows(of: modified))
      case .along(let script):
        new.script(from: old, along: script, modified: modified) { changed?.isReplaced($0) == true }
      case .known(let script): script.modifying(try content.rows(of: modified))
      }
    let change = LiveChange.news(script)
    if modified.isEmpty { step.unmodified = .some(change) }
    return change
  }

  /// Applies the step to the rows. The result is nil if all rows are replaced.
  private func moveRows(
    _ content: inout Content, _ move: LiveMove
  ) throws(StorageError) -> Moves? {
    let changes = move.changes
    guard !isOwnerDeleted(by: changes) else {
      content = Content()
      content.isOwnerGone = true
      return nil
    }
    let edit = changes.schemaChanged ? .unknown : try edit(content, move)
    if case .none = edit {
      keep(&content)
      let isClass = origin == .objects
      let mayMove = isClass ? query.mayRearrange(changes) : query.mayReorder(changes)
      if !mayMove { return Moves.none }
    }
    if let script = try moveKept(&content, edit, move) { return .known(script) }
    content = try evaluate(move.rows)
    if content.isOwnerGone || changes.schemaChanged { return nil }
    let count = content.elementCount
    try group(&content, move.rows)
    return switch edit {
    case .none where origin != .objects: .along(.identity(count: count))
    case .script(let script): .along(script)
    default: .along(nil)
    }
  }

  /// Brings rows into the form that steps update.
  private func keep(_ content: inout Content) {
    if content.rows.kept != nil { return }
    let elements = origin == .objects ? nil : content.elements
    content.rows = ElementRows(query.keeping(content.rows, of: elements))
    content.elements = []
  }

  /// The same with the groups of equal rows for distinct results, for rows that were read again.
  private func group(_ content: inout Content, _ rows: Rows) throws(StorageError) {
    guard query.stages.count == 1 else { return }
    let elements = origin == .objects ? nil : content.elements
    keep(&content)
    content.rows = ElementRows(try query.grouping(content.rows.kept!, of: elements, rows))
  }

  /// Moves the rows that the step changes.
  ///
  /// - Returns: nil if there are many, or the maintained state is not sufficient.
  private func moveKept(
    _ content: inout Content, _ edit: Edit, _ move: LiveMove
  ) throws(StorageError) -> EditScript? {
    let changes = move.changes
    let own = changes[query.classID]
    if case .unknown = edit { return nil }
    if own?.isCleared == true { return nil }
    keep(&content)
    let old = content.rows.kept!
    let isReplaced = { (key: ObjectKey) in own?.isReplaced(key) == true }
    let concerned = try query.touchedRows(changes, move.rows, among: old.root).candidates
    guard ElementIndex.isFew(concerned.count, among: old.elementCount) else { return nil }
    var elements = old.elements
    var touched = ChangedNames()
    if case .script(let script) = edit, case .sequence(let place) = origin {
      guard let now = try move.rows.sequence(at: place),
        let made = try elements?.follow(script, to: now, isReplaced: isReplaced)
      else { return nil }
      touched.gone = made.gone
      touched.set = KeySet(made.set)
      touched.candidates = KeySet(made.come + made.moved + made.set)
    }
    if let elements {
      touched.candidates.formUnion(KeySet(try elements.names(of: concerned)))
    } else {
      touched.candidates.formUnion(concerned)
    }
    guard
      let (rows, script) = try query.advance(
        old, to: elements, touched, move.rows, isReplaced: isReplaced)
    else { return nil }
    content.rows = ElementRows(rows)
    return script
  }

  // MARK: - Elements

  /// The effect of a step on the elements of a collection.
  private enum Edit {
    case none
    case script(EditScript)
    /// Without a script.
    case unknown
  }

  private func edit(_ content: Content, _ move: LiveMove) throws(StorageError) -> Edit {
    let own = owner.flatMap { move.changes[$0.classID] }
    switch origin {
    case .objects: return .none
    case .sequence(let place):
      let name = SequenceName(column: place.column, key: place.key, nested: place.nested)
      guard let script = own?.script(of: name) else { return .none }
      let count = try move.rows.elementCount(of: place)
      return script.leads(from: content.elementCount, to: count) ? .script(script) : .unknown
    case .backlinks(let target, let id, let column):
      let hasMoved = own?.backTouchedKeys(from: id, column).contains(target.key) == true
      return hasMoved ? .unknown : .none
    }
  }

  /// The change of rows over `changes` that were not followed.
  func difference(
    _ old: Content, _ new: Content, over changes: ChangeSet, _ rows: Rows,
    seen scope: BoundScope
  ) throws(StorageError) -> IndexChanges {
    let keys = Set(old.rows.keys + new.rows.keys)
    let observed = ObservedObjects(count: keys.count) { [query.classID: KeySet(keys)] }
    let modified = try scope.concerned(by: changes, rows, among: observed)[query.classID]
    let own = changes[query.classID]
    return new.rows.script(from: old.rows, along: nil, modified: modified ?? KeySet()) {
      own?.isReplaced($0) == true
    }.indexChanges()
  }
}
