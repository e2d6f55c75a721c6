/// The elements of a list, set or map of values, sorted or distinct.
///
/// Every evaluation reads the whole collection. It is empty without the owner.
package struct ValuesModel: LiveModel {
  package struct Content: LiveContent {
    package internal(set) var isOwnerGone = false
    package internal(set) var rows = ValueRows()
    /// The number of elements.
    var count = 0

    package init() {}
  }

  package let place: SequencePlace
  private let ascending: Bool?
  private let isDistinct: Bool
  /// All classes for mixed values, which may be objects of any class.
  package let elementClasses: Set<ClassID>

  /// - Parameters:
  /// - ascending: whether the least value comes first; nil for the order of the collection.
  /// - isDistinct: keeps only the first element of each value.
  package init(
    _ place: SequencePlace, ascending: Bool?, isDistinct: Bool, _ schema: SchemaView
  ) {
    self.place = place
    self.ascending = ascending
    self.isDistinct = isDistinct
    let isAny = schema[place.classID][place.column].type == .any
    elementClasses = isAny ? Set(schema.schema.classes.map(\.id)) : []
  }

  package var concerningClasses: Set<ClassID> { [] }
  package var owner: ObjectRef? { ObjectRef(classID: place.classID, key: place.key) }
  private var name: SequenceName {
    SequenceName(column: place.column, key: place.key, nested: place.nested)
  }

  package func isConcerned(by all: ChangeSet) -> Bool {
    if all.schemaChanged { return true }
    guard let changes = all[place.classID] else { return false }
    return isOwnerDeleted(by: all) || changes.inserted.contains(place.key)
      || changes.touchedKeys(in: place.column).contains(place.key)
      || changes.script(of: name) != nil
  }

  // MARK: - Evaluating

  package func evaluate(_ rows: Rows) throws(StorageError) -> Content {
    guard let sequence = try rows.sequence(at: place) else {
      var content = Content()
      content.isOwnerGone = true
      return content
    }
    return try evaluate(sequence)
  }

  private func evaluate(_ sequence: any SequenceReading) throws(StorageError) -> Content {
    var elements: [Value] = []
    elements.reserveCapacity(sequence.count)
    try sequence.forEach(in: 0..<sequence.count) { value throws(StorageError) in
      elements.append(value)
      return true
    }
    var content = Content()
    content.count = elements.count
    content.rows = ValueRows(elements, ascending: ascending, isDistinct: isDistinct)
    return content
  }

  package func elements(
    _ content: Content, _ rows: Rows
  ) throws(StorageError) -> LiveElements {
    .rows(.values(content))
  }

  package func baseline(
    _ content: Content, _ rows: Rows
  ) throws(StorageError) -> LiveBaseline {
    .count(content.rows.values.count)
  }

  package func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost {
    LiveCost(scanned: try rows.elementCount(of: place))
  }

  package func cost(
    ofFollowing changes: ChangeSet, from content: Content, seen scopes: [BoundScope]
  ) -> LiveCost {
    if content.isOwnerGone { return .none }
    if isConcerned(by: changes) { return LiveCost(scanned: content.count) }
    return scopes.contains { $0.mayBeConcerned(by: changes) } ? .passing(content.count) : .none
  }

  // MARK: - Steps

  package struct Step {
    fileprivate let old: ValueRows
    /// How elements moved; nil if all are replaced.
    fileprivate let moves: EditScript?
  }

  package func advance(
    _ content: inout Content, over move: LiveMove
  ) throws(StorageError) -> Step {
    let old = content.rows
    return Step(old: old, moves: try moveElements(&content, move))
  }

  package func isQuiet(_ step: Step) -> Bool { step.moves?.isIdentity == true }

  package func change(
    _ step: inout Step, _ content: inout Content, _ move: LiveMove, seen scope: BoundScope
  ) throws(StorageError) -> LiveChange? {
    let next = content.rows
    guard let moves = step.moves else {
      return .news(
        .replacingAll(oldCount: step.old.values.count, newCount: next.values.count))
    }
    let touched = try touchedPositions(move.changes, move.rows, next, scope)
    if moves.isIdentity, touched.isEmpty { return nil }
    return .news(next.script(from: step.old, along: moves, touched: touched))
  }

  /// Applies the step to the rows. The result is nil if all rows are replaced.
  private func moveElements(
    _ content: inout Content, _ move: LiveMove
  ) throws(StorageError) -> EditScript? {
    let changes = move.changes
    guard !isOwnerDeleted(by: changes), let sequence = try move.rows.sequence(at: place) else {
      content = Content()
      content.isOwnerGone = true
      return nil
    }
    let moves = changes[place.classID]?.script(of: name)
    if moves == nil, !changes.schemaChanged { return .identity(count: content.count) }
    let before = content.count
    content = try evaluate(sequence)
    guard let moves, !changes.schemaChanged, moves.leads(from: before, to: content.count) else {
      return nil
    }
    return moves
  }

  /// The change of rows over `changes` that were not followed.
  func difference(
    _ old: Content, _ new: Content, over changes: ChangeSet, _ rows: Rows,
    seen scope: BoundScope
  ) throws(StorageError) -> IndexChanges {
    let touched = try touchedPositions(changes, rows, new.rows, scope)
    return new.rows.script(from: old.rows, along: nil, touched: touched).indexChanges()
  }

  /// The positions of elements that are changed objects, or other objects under their keys.
  private func touchedPositions(
    _ changes: ChangeSet, _ rows: Rows, _ content: ValueRows, _ scope: BoundScope
  ) throws(StorageError) -> KeySet {
    guard !elementClasses.isEmpty, !changes.classes.isEmpty else { return KeySet() }
    let observed = ObservedObjects(count: content.values.count) { content.objects }
    let concerned = try scope.concerned(by: changes, rows, among: observed)
    var positions: [ObjectKey] = []
    for (value, position) in zip(content.values, content.positions) {
      guard case .object(let id, let key) = value else { continue }
      if concerned[id]?.contains(key) == true || changes[id]?.isReplaced(key) == true {
        positions.append(ObjectKey(Int64(position)))
      }
    }
    return KeySet(positions.sorted())
  }
}

extension ValueRows {
  fileprivate var objects: [ClassID: KeySet] {
    var found: [ClassID: [ObjectKey]] = [:]
    for case .object(let id, let key) in values { found[id, default: []].append(key) }
    return found.mapValues { KeySet($0) }
  }
}
