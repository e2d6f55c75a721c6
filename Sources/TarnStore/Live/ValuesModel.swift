/// The elements of a list, set or map of values in an order of their own.
///
/// Rows are found by going through the whole collection. When the owner is gone there are none.
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
  /// Of values of any type: all classes, for they may be objects of any.
  package let concerningClasses: Set<ClassID>

  /// - Parameters:
  ///   - ascending: whether the least value comes first; nil for the order of the collection.
  ///   - isDistinct: leaves each value's first element only.
  package init(
    _ place: SequencePlace, ascending: Bool?, isDistinct: Bool, _ schema: SchemaView
  ) {
    self.place = place
    self.ascending = ascending
    self.isDistinct = isDistinct
    let isAny = schema[place.classID][place.column].type == .any
    concerningClasses = isAny ? Set(schema.schema.classes.map(\.id)) : []
  }

  package var owner: LinkTarget? { LinkTarget(classID: place.classID, key: place.key) }
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

  package func evaluate(_ rows: StoreRows) throws(StorageError) -> Content {
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
    _ content: Content, _ rows: StoreRows
  ) throws(StorageError) -> LiveElements {
    .rows(.values(content))
  }

  package func baseline(
    _ content: Content, _ rows: StoreRows
  ) throws(StorageError) -> LiveBaseline {
    .count(content.rows.values.count)
  }

  package func cost(ofEvaluating rows: StoreRows) throws(StorageError) -> LiveCost {
    LiveCost(scanned: try rows.elementCount(of: place))
  }

  package func cost(ofFollowing changes: ChangeSet, from content: Content) -> LiveCost {
    if content.isOwnerGone { return .none }
    if isConcerned(by: changes) { return LiveCost(scanned: content.count) }
    return concerningClasses.contains { changes[$0] != nil } ? .passing(content.count) : .none
  }

  // MARK: - Steps

  package func step(
    _ content: inout Content, _ move: LiveMove
  ) throws(StorageError) -> LiveChange? {
    guard let script = try script(&content, move), !script.isIdentity else { return nil }
    return .positions(script)
  }

  private func script(
    _ content: inout Content, _ move: LiveMove
  ) throws(StorageError) -> EditScript? {
    let (old, changes) = (content, move.changes)
    guard !isOwnerDeleted(by: changes), let sequence = try move.rows.sequence(at: place) else {
      content = Content()
      content.isOwnerGone = true
      return .replacingAll(oldCount: old.rows.values.count, newCount: 0)
    }
    let moves = changes[place.classID]?.script(of: name)
    if moves == nil, !changes.schemaChanged {
      let touched = touchedPlaces(changes, old.rows)
      if touched.isEmpty { return nil }
      return old.rows.script(
        from: old.rows, along: .identity(count: old.count), touched: touched)
    }
    content = try evaluate(sequence)
    let next = content.rows
    guard let moves, !changes.schemaChanged, moves.leads(from: old.count, to: content.count)
    else {
      return .replacingAll(oldCount: old.rows.values.count, newCount: next.values.count)
    }
    return next.script(from: old.rows, along: moves, touched: touchedPlaces(changes, next))
  }

  /// What `changes` made of rows that nobody was told of.
  func difference(_ old: Content, _ new: Content, over changes: ChangeSet) -> IndexChanges {
    new.rows.script(from: old.rows, along: nil, touched: touchedPlaces(changes, new.rows))
      .indexChanges()
  }

  /// Where the elements are that are objects with a touched property, or others under their keys.
  private func touchedPlaces(_ changes: ChangeSet, _ rows: ValueRows) -> KeySet {
    if concerningClasses.isEmpty { return KeySet() }
    var changed: [ClassID: (changes: ClassChanges, touched: KeySet)] = [:]
    for own in changes.classes { changed[own.id] = (own, own.touchedKeys(in: .all)) }
    if changed.isEmpty { return KeySet() }
    var places: [ObjectKey] = []
    for (value, place) in zip(rows.values, rows.places) {
      guard case .object(let id, let key) = value, let own = changed[id] else { continue }
      if own.touched.contains(key) || own.changes.isReplaced(key) {
        places.append(ObjectKey(Int64(place)))
      }
    }
    return KeySet(places.sorted())
  }
}
