extension ResolvedPredicate {
  /// Binds a predicate to a class. Throws, with the names of the class and the property, if a
  /// property does not exist, a path leads through a property that is not a link, a constant does
  /// not fit its column or an operator its type.
  package init(
    _ predicate: Predicate, on classID: ClassID, in schema: StoreSchema
  ) throws(PredicateError) {
    guard schema[classID] != nil else {
      throw PredicateError("there is no class with id \(classID.rawValue)")
    }
    let builder = PredicateBuilder(classID: classID, schema: schema)
    self.init(classID: classID, root: try builder.node(predicate, depth: 0))
  }
}

/// Binds the conditions in a tree of names. All builders combine conditions in the same way.
protocol ConditionBuilder {
  func node(_ comparison: Comparison, depth: Int) throws(PredicateError) -> ResolvedNode
}

extension ConditionBuilder {
  func node(_ predicate: Predicate, depth: Int) throws(PredicateError) -> ResolvedNode {
    guard depth <= PredicateBuilder.depthMax else {
      throw PredicateError(
        "the predicate is nested deeper than \(PredicateBuilder.depthMax) levels")
    }
    switch predicate {
    case .constant(let value): return .constant(value)
    case .comparison(let comparison): return try node(comparison, depth: depth)
    case .not(let inner): return !(try node(inner, depth: depth + 1))
    case .and(let terms):
      return .all(try nodes(PredicateChain.and.united(terms), depth: depth + 1))
    case .or(let terms):
      return .any(try nodes(PredicateChain.or.united(terms), depth: depth + 1))
    }
  }

  private func nodes(_ terms: [Predicate], depth: Int) throws(PredicateError) -> [ResolvedNode] {
    var result: [ResolvedNode] = []
    for term in terms { result.append(try node(term, depth: depth)) }
    return result
  }
}

/// Binds conditions on an object: names become columns.
struct PredicateBuilder: ConditionBuilder {
  /// Deeper trees than the parser builds come from programs; beyond this the recursion would
  /// overflow.
  static let depthMax = 2 * PredicateParser.depthMax

  let classID: ClassID
  let schema: StoreSchema
  /// The object is an element of a map or list that may not exist, so all of its properties may be
  /// null.
  var isElement = false

  func node(
    _ comparison: Comparison, depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    if comparison.quantifier != nil { return try nodeOfElements(comparison, depth) }
    if let node = try nodeOfElement(comparison, depth) { return node }
    let options = comparison.options
    switch (comparison.left, comparison.right) {
    case (.figure(let path, let figure), _):
      return try self.figure(figure, of: path, comparison, depth)
    case (.path(let path), .value(let value)):
      return try constants(path, options).node(comparison.op, value)
    case (.path(let path), .values(let values)):
      switch comparison.op {
      case .in: return try constants(path, options).node(anyOf: values)
      case .equal: return try elements(values, of: path, comparison, depth)
      default: throw PredicateError("a list of values is allowed only after IN: \(comparison)")
      }
    case (.value(let value), .path(let path)):
      guard let op = comparison.op.mirrored else {
        throw PredicateError("\(comparison.op) needs a property on its left: \(comparison)")
      }
      return try constants(path, options).node(op, value)
    case (.path(let left), .path(let right)):
      if let node = try embeddedPair(comparison, left, right, depth) { return node }
      return try pair(comparison, left, right, depth)
    case (.path(let path), .members(let name, let members)),
      (.members(let name, let members), .path(let path)):
      return try node(comparison, path, membersOf: name, members, depth)
    case (.path(let path), .shape(let shape)):
      return try location(path, shape, comparison)
    default:
      throw PredicateError("a comparison needs a property on one side: \(comparison)")
    }
  }

  /// Builds tests of the column at a path.
  private func constants(
    _ path: Path, _ options: StringOptions
  ) throws(PredicateError) -> ColumnConstants {
    let column = try ColumnPath(path, from: classID, in: schema)
    return ColumnConstants(column, .path(path), schema, options, mayBeNowhere: isElement)
  }

  /// Compares a link's target with the members of an object.
  private func node(
    _ comparison: Comparison, _ path: Path, membersOf name: String, _ members: Predicate,
    _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    let column = try ColumnPath(path, from: classID, in: schema)
    guard column.type == .link, let target = column.target else {
      throw PredicateError(
        "property '\(path.text())' of class '\(schema[column.classID]?.name ?? "")' "
          + "is of type \(column.typeName(in: schema)), which cannot be compared with an object of "
          + "class '\(name)'")
    }
    // Reports mismatches in terms of the class that has the members.
    let inner = PredicateBuilder(classID: target, schema: schema)
    _ = try inner.node(.equal, membersOf: name, members, comparison, depth: depth + 1)
    guard comparison.op == .equal || comparison.op == .notEqual else {
      throw PredicateError("compare embedded objects only with == and !=: \(comparison)")
    }
    let isThere = ResolvedNode.test(ColumnPredicate(column, .isNull, isNegated: true))
    let isEqual = ResolvedNode.all([isThere, try node(members.behind(path), depth: depth + 1)])
    return comparison.op == .equal ? isEqual : !isEqual
  }
}

/// Places are objects in the form of GeoJSON: `{ type: "Point", coordinates: [longitude, latitude]
/// }`.
extension PredicateBuilder {
  /// The condition that the place at a path is within a shape; with an empty path the object itself
  /// is the place.
  func location(
    _ path: Path, _ shape: GeoShape, _ comparison: Comparison
  ) throws(PredicateError) -> ResolvedNode {
    guard comparison.op == .in, comparison.options.isEmpty else {
      throw PredicateError("compare a place with a shape only with IN: \(comparison)")
    }
    let region: GeoRegion
    do throws(GeoMistake) {
      region = try GeoRegion(shape)
    } catch {
      throw PredicateError("\(error.message): \(comparison)")
    }
    let link = path.isEmpty ? nil : try ColumnPath(path, from: classID, in: schema)
    let place = path.isEmpty ? schema[classID] : link?.target.flatMap { schema[$0] }
    guard let place, let type = place.named("type"), type.type == .string, type.collection == .none,
      let coordinates = place.named("coordinates"), coordinates.type == .double,
      coordinates.collection == .list
    else {
      let what =
        path.isEmpty
        ? "class '\(schema[classID]?.name ?? "")'" : "the object of '\(path.text())'"
      throw PredicateError(
        "\(what) is not a place, which has a string 'type' and a list of doubles 'coordinates': "
          + "\(comparison)")
    }
    guard place.isEmbedded else {
      throw PredicateError(
        "a place is an embedded object, and class '\(place.name)' is not embedded: \(comparison)")
    }
    let numbers = try NamedCollectionPath(
      path + [.property(coordinates.name)], from: classID, in: schema)
    return .collection(
      CollectionPredicate(numbers, .location(type: ColumnPath(type, of: place.id), region)))
  }
}
