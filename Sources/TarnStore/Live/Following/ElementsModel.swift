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
package struct ElementsModel: Sendable {
  struct Content: Sendable {
    var isOwnerGone = false
    var rows = ElementRows()
    /// The elements of the collection, nil for those that are not objects; empty for a class, and
    /// if the rows know them.
    var elements: [ObjectKey?] = []

    var elementCount: Int { rows.kept?.elements?.count ?? elements.count }

    /// The rows of those objects.
    func rows(of keys: KeySet) throws(StorageError) -> KeySet {
      guard let kept = rows.kept, ElementIndex.isFew(keys.count, among: kept.elementCount) else {
        return rows.rows(of: keys)
      }
      return kept.rows(named: try kept.names(of: keys))
    }
  }

  let query: CompiledQuery
  let origin: ElementsOrigin

  package init(_ query: CompiledQuery, _ origin: ElementsOrigin) {
    self.query = query
    self.origin = origin
  }

  var route: Route? {
    if case .sequence(let place) = origin { return Route(query, elementsOf: place) }
    return Route(query)
  }

  func isConcerned(by changes: ChangeSet) -> Bool {
    changes.schemaChanged || origin.owner.map { changes.contains($0.classID) } == true
      || query.concerningClasses.contains(where: changes.contains)
  }

  // MARK: - Evaluating

  func evaluate(_ rows: Rows) throws(StorageError) -> Content {
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

  // MARK: - Costs

  func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost {
    switch origin {
    case .objects: LiveCost(scanned: try rows.count(of: query.classID))
    case .sequence(let place): .readingElements(try rows.elementCount(of: place))
    case .backlinks(let target, let id, let column):
      .readingElements(try rows.origins(of: target, in: id, through: column).count)
    }
  }

  func cost(
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

  /// Applies a move to the rows.
  ///
  /// - Returns: how they moved or were set, without changes behind them.
  func advance(
    _ content: inout Content, over move: LiveMove
  ) throws(StorageError) -> EditScript {
    let (changes, old) = (move.changes, content.rows)
    if changes.deletes(origin.owner) {
      // Another object may have the owner's key.
      content = try evaluate(move.rows)
      return .replacingAll(oldCount: old.count, newCount: content.rows.count)
    }
    let edit = changes.schemaChanged ? .unknown : try edit(content, move)
    if case .none = edit {
      keep(&content)
      let isClass = origin == .objects
      let mayMove = isClass ? query.mayRearrange(changes) : query.mayReorder(changes)
      if !mayMove { return .identity(count: old.count) }
    }
    if let script = try moveKept(&content, edit, move) { return script }
    content = try evaluate(move.rows)
    if content.isOwnerGone || changes.schemaChanged {
      return .replacingAll(oldCount: old.count, newCount: content.rows.count)
    }
    let count = content.elementCount
    try group(&content, move.rows)
    let moves: EditScript? =
      switch edit {
      case .none where origin != .objects: .identity(count: count)
      case .script(let script): script
      default: nil
      }
    return content.rows.script(from: old, along: moves, isReplaced: replacements(in: changes))
  }

  /// The positions of rows whose data a move changed.
  func modifiedRows(
    _ content: Content, _ changes: ChangeSet, _ rows: Rows, _ scope: BoundScope
  ) throws(StorageError) -> KeySet {
    let shown = content.rows
    // A migration replaces all rows.
    if shown.count == 0 || changes.schemaChanged { return KeySet() }
    let observed = ObservedObjects(count: shown.count) { [query.classID: KeySet(shown.keys)] }
    let concerned = try scope.concerned(by: changes, rows, among: observed)
    guard let modified = concerned[query.classID], !modified.isEmpty else { return KeySet() }
    return try content.rows(of: modified)
  }

  private func replacements(in changes: ChangeSet) -> (ObjectKey) -> Bool {
    let own = changes[query.classID]
    return { own?.isReplaced($0) == true }
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
    let isReplaced = replacements(in: changes)
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
    let own = origin.owner.flatMap { move.changes[$0.classID] }
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
  func script(
    from old: Content, to new: Content, over changes: ChangeSet, _ rows: Rows,
    seen scope: BoundScope
  ) throws(StorageError) -> EditScript {
    let keys = Set(old.rows.keys + new.rows.keys)
    let observed = ObservedObjects(count: keys.count) { [query.classID: KeySet(keys)] }
    let modified = try scope.concerned(by: changes, rows, among: observed)[query.classID]
    return new.rows.script(from: old.rows, along: nil, isReplaced: replacements(in: changes))
      .modifying(new.rows.rows(of: modified ?? KeySet()))
  }
}

extension ElementsModel {
  /// How changes find the elements of a collection that match.
  func routeExplanation(_ schema: SchemaView) -> String {
    guard case .sequence(let place) = origin, place.nested == nil else {
      return query.routeExplanation(schema)
    }
    let own = "route: changes find it by the collection of an object"
    let texts = Route.texts(of: query, schema, ofValuesOnly: true)
    return texts.isEmpty ? own : own + ", or by " + texts.joined(separator: ", or by ")
  }
}
