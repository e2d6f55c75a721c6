/// Builds the parts of paths through a move: the targets and positions of links, and the changes of
/// properties. Each collection is compared once, by the model that its observers use.
///
/// Threading: confined to one thread at a time.
final class ChangePathReader {
  /// A position in the newer version.
  enum Spot {
    case element(SequencePlace, CollectionKind, Int)
    /// Among the objects that link to one through a column of a class.
    case origin(ObjectRef, ClassID, ColumnID, Int)
  }

  private struct OriginsName: Hashable {
    let target: ObjectRef
    let id: ClassID
    let column: ColumnID
  }

  let move: LiveMove
  private var steps: [SequencePlace: SequenceModel.Step] = [:]
  private var originMoves: [OriginsName: EditScript] = [:]
  private let nothing: BoundScope

  init(_ move: LiveMove) {
    self.move = move
    nothing = BoundScope(.paths([]), from: [], move.rows.schema)
  }

  // MARK: - Links

  /// The targets of a link, and their positions in the property.
  func targets(
    of object: ObjectRef, through link: LinkStep
  ) throws(StorageError) -> [(ObjectRef, [Spot])] {
    if link.isBackwards {
      let keys = try move.rows.origins(of: object, in: link.classID, through: link.column)
      return keys.enumerated().map { position, key in
        (
          ObjectRef(classID: link.classID, key: key),
          [.origin(object, link.classID, link.column, position)]
        )
      }
    }
    let column = move.rows.schema[link.classID][link.column]
    var found: [(ObjectRef, [Spot])] = []
    try forEachValue(of: column, in: object) { value, spots in
      guard let target = column.linkTarget(of: value), target.classID == link.target else { return }
      found.append((target, spots))
    }
    return found
  }

  /// The lists and maps within the values of a property, and their positions.
  private func nestedCollections(
    of column: ColumnSchema, in object: ObjectRef
  ) throws(StorageError) -> [CollectionID: (kind: CollectionKind, spots: [Spot])] {
    var found: [CollectionID: (kind: CollectionKind, spots: [Spot])] = [:]
    try forEachValue(of: column, in: object) { value, spots in
      switch value {
      case .list(let id): found[id] = (.list, spots)
      case .map(let id): found[id] = (.map, spots)
      default: break
      }
    }
    return found
  }

  /// Every value of a property, including those in nested lists and maps.
  private func forEachValue(
    of column: ColumnSchema, in object: ObjectRef,
    _ body: (_ value: Value, _ spots: [Spot]) -> Void
  ) throws(StorageError) {
    let place = SequencePlace(classID: object.classID, key: object.key, column: column.id)
    if column.collection != .none {
      return try forEachElement(of: place, column.collection, [], body)
    }
    let value = try move.rows.plainValue(of: column.id, at: object.key, in: object.classID)
    try take(value, in: place, [], body)
  }

  private func forEachElement(
    of place: SequencePlace, _ kind: CollectionKind, _ outer: [Spot],
    _ body: (_ value: Value, _ spots: [Spot]) -> Void
  ) throws(StorageError) {
    guard let sequence = try move.rows.stored(at: place) else { return }
    var position = 0
    try sequence.forEach(in: 0..<sequence.count) { value throws(StorageError) in
      try take(value, in: place, outer + [.element(place, kind, position)], body)
      position += 1
      return true
    }
  }

  private func take(
    _ value: Value, in place: SequencePlace, _ spots: [Spot],
    _ body: (_ value: Value, _ spots: [Spot]) -> Void
  ) throws(StorageError) {
    body(value, spots)
    switch value {
    case .list(let id): try forEachElement(of: place.nested(id), .list, spots, body)
    case .map(let id): try forEachElement(of: place.nested(id), .map, spots, body)
    default: break
    }
  }

  // MARK: - Positions

  func positions(_ spots: [Spot]) throws(StorageError) -> [ChangePath.Position] {
    var positions: [ChangePath.Position] = []
    for spot in spots { positions.append(try position(spot)) }
    return positions
  }

  private func position(_ spot: Spot) throws(StorageError) -> ChangePath.Position {
    switch spot {
    case .element(let place, .map, let position):
      guard let sequence = try move.rows.stored(at: place) else {
        trap("internal error: a map entry is missing")
      }
      return .key(try sequence.key(at: position))
    case .element(let place, let kind, let position):
      if isNew(ObjectRef(classID: place.classID, key: place.key)) {
        return .index(old: nil, new: position)
      }
      return .index(old: try step(of: place, kind).oldPosition(of: position), new: position)
    case .origin(let target, let id, let column, let position):
      if isNew(target) { return .index(old: nil, new: position) }
      let script = try originMove(of: target, in: id, through: column)
      return .index(old: script.oldPosition(of: position), new: position)
    }
  }

  private func isNew(_ object: ObjectRef) -> Bool {
    move.changes[object.classID]?.inserted.contains(object.key) == true
  }

  // MARK: - Changes

  /// The changes of a property that was set: more than one if lists and maps within its value
  /// changed.
  func changes(
    of property: ChangedProperty, in object: ObjectRef, behind steps: [ChangePath.Step]
  ) throws(StorageError) -> [ChangePath] {
    func way(_ change: ChangePath.Change, _ positions: [ChangePath.Position] = []) -> ChangePath {
      ChangePath(
        steps: steps, object: object, column: property.column, origin: property.origin,
        positions: positions,
        change: change)
    }
    if let origin = property.origin {
      let script = try originMove(of: object, in: origin, through: property.column)
      return [way(.origins(script.indexChanges(withMoves: true)))]
    }
    let column = move.rows.schema[object.classID][property.column]
    let place = SequencePlace(classID: object.classID, key: object.key, column: column.id)
    let own = move.changes[object.classID]
    var ways: [ChangePath] = []
    for (id, kind, spots) in try changedWithin(column, object) {
      ways.append(way(try change(in: place.nested(id), kind), try positions(spots)))
    }
    let name = SequenceName(column: column.id, key: object.key)
    if column.collection != .none, ways.isEmpty || own?.script(of: name) != nil {
      ways.insert(way(try change(in: place, column.collection)), at: 0)
    } else if ways.isEmpty {
      ways.append(way(.value))
    }
    return ways
  }

  /// The nested lists and maps of a property's value that existed before and have changed.
  private func changedWithin(
    _ column: ColumnSchema, _ object: ObjectRef
  ) throws(StorageError) -> [(CollectionID, CollectionKind, [Spot])] {
    let scripts = move.changes[object.classID]?.nestedChanges(column.id, object.key) ?? []
    if scripts.isEmpty { return [] }
    let known = try nestedCollections(of: column, in: object)
    let place = SequencePlace(classID: object.classID, key: object.key, column: column.id)
    var found: [(CollectionID, CollectionKind, [Spot])] = []
    for id in scripts {
      guard let there = known[id], try move.pastRows().stored(at: place.nested(id)) != nil else {
        continue
      }
      found.append((id, there.kind, there.spots))
    }
    return found
  }

  private func change(
    in place: SequencePlace, _ kind: CollectionKind
  ) throws(StorageError) -> ChangePath.Change {
    let model = SequenceModel(place, kind, move.rows.schema)
    var content = try model.evaluate(move.rows)
    var step = try step(of: place, kind)
    let made = try model.change(&step, &content, move, seen: nothing)
    let difference = made?.difference() ?? LiveDifference()
    return switch kind {
    case .map: .map(difference.keys)
    case .set: .set(difference.indices)
    case .none, .list: .list(difference.indices)
    }
  }

  /// How a collection moved.
  func step(
    of place: SequencePlace, _ kind: CollectionKind
  ) throws(StorageError) -> SequenceModel.Step {
    if let known = steps[place] { return known }
    let model = SequenceModel(place, kind, move.rows.schema)
    var content = try model.evaluate(move.rows)
    let made = try model.advance(&content, over: move)
    steps[place] = made
    return made
  }

  /// How the objects that link to one moved.
  private func originMove(
    of target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> EditScript {
    let name = OriginsName(target: target, id: id, column: column)
    if let known = originMoves[name] { return known }
    let model = BacklinksModel(to: target, from: id, column, move.rows.schema)
    let keys = try move.pastRows().origins(of: target, in: id, through: column)
    var content = BacklinksModel.Content(isOwnerGone: false, keys: keys)
    let made = try model.advance(&content, over: move)
    originMoves[name] = made
    return made
  }
}

extension ClassChanges {
  /// The nested lists and maps of a property whose elements moved or were set.
  fileprivate func nestedChanges(_ column: ColumnID, _ key: ObjectKey) -> [CollectionID] {
    let first = SequenceName(column: column, key: key)
    let start = sequences.partitioningIndex { $0.name >= first }
    return sequences[start...].prefix { $0.name.column == column && $0.name.key == key }
      .compactMap(\.name.nested)
  }
}

/// A path from an element of a collection to something that a move has changed.
package struct ChangePath: Sendable {
  /// From one object to the next.
  package struct Step: Sendable {
    package let link: LinkStep
    /// The position of the link in the property; empty if the link is the property itself.
    package let positions: [Position]
  }

  /// A position in a list, set or map.
  package enum Position: Sendable {
    /// The old position, if the element existed, and the new one.
    case index(old: Int?, new: Int)
    case key(String)
  }

  /// The change of a property.
  package enum Change: Sendable {
    case value
    case list(IndexChanges)
    case set(IndexChanges)
    case map(KeyChanges)
    /// The object's backlinks changed.
    case origins(IndexChanges)
  }

  package let steps: [Step]
  /// The object that has the property.
  package let object: ObjectRef
  package let column: ColumnID
  /// For backlinks the class of the origins, which then has the column.
  package let origin: ClassID?
  /// The position of the changed list or map, if it is nested in the property's value.
  package let positions: [Position]
  package let change: Change
}
