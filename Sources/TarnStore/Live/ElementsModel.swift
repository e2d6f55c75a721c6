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
    /// The last step left the elements where they were; of a class, the rows. Then it is worth
    /// while to know where objects are.
    var isCalm = false
    /// Where objects are among the elements, and among rows that are listed; nil if nobody asked.
    var elementPlaces: KeyPlaces?
    var rowPlaces: KeyPlaces?

    package init() {}

    /// Elements or rows are others.
    mutating func forgetPlaces() {
      elementPlaces = nil
      rowPlaces = nil
    }

    /// The places of objects among the elements.
    mutating func places(of keys: KeySet) -> [Int] {
      let places = elementPlaces ?? KeyPlaces(elements)
      elementPlaces = places
      return places.places(of: keys)
    }

    /// The rows that objects are.
    mutating func rows(of keys: KeySet) -> KeySet {
      if let placed = rows.placed { return placed.rows(at: places(of: keys)) }
      let places = rowPlaces ?? KeyPlaces(rows.keys.map { $0 })
      rowPlaces = places
      return KeySet(places.places(of: keys).map(PlacedRows.name))
    }
  }

  package let query: CompiledQuery
  package let origin: ElementsOrigin

  package init(_ query: CompiledQuery, _ origin: ElementsOrigin) {
    self.query = query
    self.origin = origin
  }

  package var owner: LinkTarget? { origin.owner }
  package var concerningClasses: Set<ClassID> { query.concerningClasses }
  package var elementClasses: Set<ClassID> { [query.classID] }

  package func isConcerned(by changes: ChangeSet) -> Bool {
    changes.schemaChanged || owner.map { changes.contains($0.classID) } == true
      || query.concerningClasses.contains(where: changes.contains)
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
    .count(content.rows.count)
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

  package func cost(
    ofFollowing changes: ChangeSet, from content: Content, seen reaches: [ReachPlan]
  ) -> LiveCost {
    if content.isOwnerGone { return .none }
    guard isConcerned(by: changes) else {
      let isSeen = reaches.contains { $0.mayBeConcerned(by: changes) }
      return isSeen ? passing(content) : .none
    }
    if case .objects = origin {
      return query.mayRearrange(changes)
        ? .readingElements(content.rows.count) : passing(content)
    }
    let touched = changes[query.classID]?.keyCount ?? 0
    let count = content.elements.count
    if query.staysInRow, query.stages.isEmpty, Self.isFew(touched, among: count) {
      var cost = passing(content)
      cost.lookedUp = touched
      return cost
    }
    return .readingElements(count)
  }

  /// Of a step that moves no elements. Where they are known, nothing is gone through.
  private func passing(_ content: Content) -> LiveCost {
    content.isCalm ? .none : .passing(content.elements.count + content.rows.count)
  }

  /// So many changed objects are sooner looked up than met on the way through all of them.
  private static func isFew(_ number: Int, among count: Int) -> Bool {
    number <= Swift.max(8, count / 16)
  }

  // MARK: - Steps

  package struct Step {
    fileprivate let old: ElementRows
    /// How rows may have moved; nil if all are others.
    fileprivate let moves: Moves?
    /// Few objects are sooner looked up than met on the way through all rows.
    fileprivate let looksUp: Bool
    /// What it is to those who see no row modified, once somebody has asked.
    fileprivate var unmodified: LiveChange??
  }

  /// How rows may have moved.
  fileprivate enum Moves {
    /// Not at all.
    case none
    /// As the elements did; nil if nobody has written that down.
    case along(EditScript?)
    /// So. Their elements have not moved.
    case known(EditScript)
  }

  package func advance(
    _ content: inout Content, over move: LiveMove
  ) throws(StorageError) -> Step {
    let old = content.rows
    let wasCalm = content.isCalm
    let moves =
      try origin == .objects
      ? moveRowsOfClass(&content, move) : moveRowsOfElements(&content, move)
    return Step(old: old, moves: moves, looksUp: wasCalm && content.isCalm)
  }

  package func isQuiet(_ step: Step) -> Bool {
    if case .some(.none) = step.moves { true } else { false }
  }

  package func change(
    _ step: inout Step, _ content: inout Content, _ move: LiveMove, seen reach: ReachPlan
  ) throws(StorageError) -> LiveChange? {
    let (old, new) = (step.old, content.rows)
    guard let moves = step.moves else {
      return .news(.replacingAll(oldCount: old.count, newCount: new.count))
    }
    let lookedAt = LookedAt(count: new.count) { [query.classID: KeySet(new.keys)] }
    let concerned = try reach.concerned(by: move.changes, move.rows, among: lookedAt)
    let modified = concerned[query.classID] ?? KeySet()
    if modified.isEmpty, let known = step.unmodified { return known }
    let changed = move.changes[query.classID]
    let isFew = step.looksUp && Self.isFew(modified.count, among: new.count)
    let script =
      switch moves {
      case .none where isFew || modified.isEmpty:
        EditScript.identity(count: new.count).modifying(
          modified.isEmpty ? KeySet() : content.rows(of: modified))
      case .none: old.script(modified: modified)
      case .along(let script):
        new.script(from: old, along: script, modified: modified) { changed?.isReplaced($0) == true }
      case .known(let script):
        script.modifying(isFew ? content.rows(of: modified) : new.rows(of: modified))
      }
    let change = LiveChange.news(script)
    if modified.isEmpty { step.unmodified = .some(change) }
    return change
  }

  /// Brings rows up to the step. The result is nil if all rows are others.
  private func moveRowsOfElements(
    _ content: inout Content, _ move: LiveMove
  ) throws(StorageError) -> Moves? {
    let (old, changes) = (content.rows, move.changes)
    guard !isOwnerDeleted(by: changes), let moves = try moveElements(&content.elements, move)
    else {
      content = Content()
      content.isOwnerGone = true
      return nil
    }
    let wasCalm = content.isCalm
    content.isCalm = moves.script?.isIdentity == true && !changes.schemaChanged
    if content.isCalm {
      if !query.mayReorder(changes) { return Moves.none }
      if wasCalm, let script = try moveFewRows(&content, move) { return .known(script) }
    }
    let touched = touchedElements(content.elements, changes)
    if content.isCalm, touched.isEmpty, query.staysInRow { return Moves.none }
    content.forgetPlaces()
    content.rows = try query.advance(
      old, along: changes.schemaChanged ? nil : moves.script, to: content.elements,
      touched: touched, move.rows)
    return changes.schemaChanged ? nil : .along(moves.script)
  }

  /// Puts the rows anew that changed themselves, if they are few. The elements have not moved.
  ///
  /// - Returns: nil if they are many, or not they alone decide where they belong.
  private func moveFewRows(
    _ content: inout Content, _ move: LiveMove
  ) throws(StorageError) -> EditScript? {
    guard query.staysInRow, query.stages.isEmpty,
      let touched = move.changes[query.classID]?.touchedKeys(in: .all),
      Self.isFew(touched.count, among: content.elements.count)
    else { return nil }
    let old =
      content.rows.placed
      ?? PlacedRows(content.rows, of: content.elements, isUnsorted: query.isUnsorted)
    let places = content.places(of: touched)
    let new = try query.moving(old, at: places, move.rows)
    content.rows = ElementRows(new)
    return EditScript(from: old.root, to: new.root, moving: places.map(PlacedRows.name))
  }

  /// Of a class. The rows are found anew only if some of them may have come, gone or moved.
  private func moveRowsOfClass(
    _ content: inout Content, _ move: LiveMove
  ) throws(StorageError) -> Moves? {
    let changes = move.changes
    content.isCalm = !changes.schemaChanged && !query.mayRearrange(changes)
    if content.isCalm { return Moves.none }
    content.forgetPlaces()
    content.rows = try query.evaluateStages(move.rows)
    return changes.schemaChanged ? nil : .along(nil)
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

  /// The objects of which a property was set, if one of them is an element.
  private func touchedElements(_ elements: [ObjectKey?], _ changes: ChangeSet) -> KeySet {
    guard let touched = changes[query.classID]?.touchedKeys(in: .all), !touched.isEmpty else {
      return KeySet()
    }
    let isHit = elements.contains { $0.map(touched.contains) == true }
    return isHit ? touched : KeySet()
  }

  /// What `changes` made of rows that nobody was told of.
  func difference(
    _ old: Content, _ new: Content, over changes: ChangeSet, _ rows: StoreRows,
    seen reach: ReachPlan
  ) throws(StorageError) -> IndexChanges {
    let keys = Set(old.rows.keys + new.rows.keys)
    let lookedAt = LookedAt(count: keys.count) { [query.classID: KeySet(keys)] }
    let modified = try reach.concerned(by: changes, rows, among: lookedAt)[query.classID]
    let own = changes[query.classID]
    return new.rows.script(from: old.rows, along: nil, modified: modified ?? KeySet()) {
      own?.isReplaced($0) == true
    }.indexChanges()
  }
}
