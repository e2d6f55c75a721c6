/// The elements of a list, set or map of values, sorted or distinct.
///
/// Every evaluation reads the whole collection. It is empty without the owner.
package struct ValuesModel: Sendable {
  struct Content: Sendable {
    var isOwnerGone = false
    var rows = ValueRows()
    /// The number of elements.
    var count = 0
  }

  private let place: SequencePlace
  private let ascending: Bool?
  private let isDistinct: Bool
  /// All classes for mixed values, which may be objects of any class.
  let elementClasses: Set<ClassID>

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

  var owner: ObjectRef { ObjectRef(classID: place.classID, key: place.key) }
  private var name: SequenceName {
    SequenceName(column: place.column, key: place.key, nested: place.nested)
  }

  func isConcerned(by all: ChangeSet) -> Bool {
    if all.schemaChanged { return true }
    guard let changes = all[place.classID] else { return false }
    return all.deletes(owner) || changes.inserted.contains(place.key)
      || changes.touchedKeys(in: place.column).contains(place.key)
      || changes.script(of: name) != nil
  }

  // MARK: - Evaluating

  func evaluate(_ rows: Rows) throws(StorageError) -> Content {
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

  func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost {
    LiveCost(scanned: try rows.elementCount(of: place))
  }

  func cost(
    ofFollowing changes: ChangeSet, from content: Content, seen scopes: [BoundScope]
  ) -> LiveCost {
    if content.isOwnerGone { return .none }
    if isConcerned(by: changes) { return LiveCost(scanned: content.count) }
    return scopes.contains { $0.mayBeConcerned(by: changes) } ? .passing(content.count) : .none
  }

  // MARK: - Steps

  /// Applies a move to the rows.
  ///
  /// - Returns: how they moved or were set.
  func advance(
    _ content: inout Content, over move: LiveMove
  ) throws(StorageError) -> EditScript {
    let (changes, old) = (move.changes, content)
    let stored = try move.rows.sequence(at: place)
    guard let sequence = stored, !changes.deletes(owner) else {
      // Another object may have the owner's key.
      content = try evaluate(move.rows)
      return .replacingAll(
        oldCount: old.rows.values.count, newCount: content.rows.values.count)
    }
    let moves = changes[place.classID]?.script(of: name)
    if moves == nil, !changes.schemaChanged { return .identity(count: old.rows.values.count) }
    content = try evaluate(sequence)
    guard let moves, !changes.schemaChanged, moves.leads(from: old.count, to: content.count) else {
      return .replacingAll(
        oldCount: old.rows.values.count, newCount: content.rows.values.count)
    }
    return content.rows.script(from: old.rows, along: moves)
  }

  /// The positions of rows that are changed objects, or other objects under their keys.
  func modifiedRows(
    _ content: Content, _ changes: ChangeSet, _ rows: Rows, _ scope: BoundScope
  ) throws(StorageError) -> KeySet {
    // A migration replaces all rows.
    guard !elementClasses.isEmpty, !changes.classes.isEmpty, !changes.schemaChanged else {
      return KeySet()
    }
    let values = content.rows.values
    let observed = ObservedObjects(count: values.count) { content.rows.objects }
    let concerned = try scope.concerned(by: changes, rows, among: observed)
    var modified: [ObjectKey] = []
    for (row, value) in values.enumerated() {
      guard case .object(let id, let key) = value else { continue }
      if concerned[id]?.contains(key) == true || changes[id]?.isReplaced(key) == true {
        modified.append(ObjectKey(Int64(row)))
      }
    }
    return KeySet(modified)
  }
}

extension ValueRows {
  fileprivate var objects: [ClassID: KeySet] {
    var found: [ClassID: [ObjectKey]] = [:]
    for case .object(let id, let key) in values { found[id, default: []].append(key) }
    return found.mapValues { KeySet($0) }
  }
}
