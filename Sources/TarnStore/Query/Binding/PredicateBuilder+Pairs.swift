/// Comparisons of properties with each other, and with values in collections and mixed values.
extension PredicateBuilder {
  /// One side of a comparison.
  private struct Side {
    let source: ValueSource
    /// Describes its values: their type, and the class that has them.
    let column: ColumnPath
    let path: Path

    func described(in schema: StoreSchema) -> String {
      "'\(path.text())' (\(column.typeName(in: schema)))"
    }
  }

  func pair(
    _ comparison: Comparison, _ left: Path, _ right: Path, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    let (first, second) = (try side(left, depth), try side(right, depth))
    return try pair(first, comparison.op, second, comparison.options, comparison)
  }

  /// A property and the elements of a collection, on either side.
  func pairOfElements(
    _ comparison: Comparison, _ left: Path, _ right: Path, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    if try NamedCollectionPath.find(left, from: classID, in: schema) == nil,
      try NamedCollectionPath.find(right, from: classID, in: schema) == nil
    {
      throw PredicateError(
        "neither '\(left.text())' nor '\(right.text())' leads to a collection: "
          + "omit ANY")
    }
    let (first, second) = (
      try sideOfElements(left, depth), try sideOfElements(right, depth)
    )
    return try pair(first, comparison.op, second, comparison.options, comparison)
  }

  /// An aggregate of that type, compared with the value of a path.
  func total(
    _ total: CollectionFigure, _ type: ColumnType, _ path: NamedCollectionPath,
    _ comparison: Comparison, with right: Path, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    if path.hasSteps, path.column.type != .any {
      throw PredicateError("only collections have a @count: \(comparison)")
    }
    let side = try side(right, depth)
    let other = side.column.type
    guard other == type || other.isNumeric && type.isNumeric || other == .any else {
      throw PredicateError(
        "cannot compare the aggregate '\(comparison.leftPath.text())' (\(type)) with "
          + side.described(in: schema))
    }
    let op = comparison.op
    guard op.mirrored != nil else {
      throw PredicateError("\(op) cannot compare an aggregate of a collection: \(comparison)")
    }
    let source = ValueSource.total(ResolvedCollectionPath(path), total)
    try requireOne(source, side.source, comparison)
    return .pair(ValuePair(source, op, side.source))
  }

  /// The right side of a condition that compares only with a value.
  func constant(in comparison: Comparison) throws(PredicateError) -> Value {
    guard case .value(let value) = comparison.right else {
      throw PredicateError("compare the @count of a SUBQUERY with a number: \(comparison)")
    }
    return value
  }

  private func pair(
    _ left: Side, _ op: ComparisonOperator, _ right: Side, _ options: StringOptions,
    _ comparison: Comparison
  ) throws(PredicateError) -> ResolvedNode {
    let (a, b) = (left.column, right.column)
    let areComparable =
      a.type == b.type
      ? a.target == b.target
      : a.type == .any || b.type == .any || a.type.isNumeric && b.type.isNumeric
    guard areComparable else {
      throw PredicateError(
        "cannot compare \(left.described(in: schema)) with \(right.described(in: schema))")
    }
    for side in [left, right] {
      guard let target = side.column.target, schema[target]?.isEmbedded == true else { continue }
      throw PredicateError(
        "'\(side.path.text())' is an embedded object, which as a whole compares only with "
          + "a value. Compare its properties: \(comparison)")
    }
    try a.check(op, options, .path(left.path), schema)
    try b.check(op, options, .path(right.path), schema)
    guard op != .in else {
      throw PredicateError("IN needs a list of values on its right: \(comparison)")
    }
    try requireOne(left.source, right.source, comparison)
    return .pair(
      ValuePair(
        left.source, op, right.source, options,
        areStrings: a.type == .string && b.type == .string))
  }

  private func requireOne(
    _ left: ValueSource, _ right: ValueSource, _ comparison: Comparison
  ) throws(PredicateError) {
    guard !left.hasOne, !right.hasOne else { return }
    throw PredicateError(
      "cannot compare the elements of one collection with those of another, nor two properties of "
        + "elements with each other outside a SUBQUERY: \(comparison)")
  }

  /// A property, or a value inside a value or collection by steps.
  private func side(_ path: Path, _ depth: Int) throws(PredicateError) -> Side {
    if let found = try elementPath(path) { return try side(found, path, depth) }
    return try plainSide(path)
  }

  /// The same, also through collections.
  private func sideOfElements(_ path: Path, _ depth: Int) throws(PredicateError) -> Side {
    guard let found = try NamedCollectionPath.find(path, from: classID, in: schema) else {
      return try plainSide(path)
    }
    return try side(found, path, depth)
  }

  private func plainSide(_ path: Path) throws(PredicateError) -> Side {
    let column = try ColumnPath(path, from: classID, in: schema)
    return Side(source: .column(column), column: column, path: path)
  }

  private func side(
    _ found: NamedCollectionPath, _ path: Path, _ depth: Int
  ) throws(PredicateError) -> Side {
    guard depth <= Self.depthMax else {
      throw PredicateError("a path leads through more than \(Self.depthMax) collections")
    }
    let way = ResolvedCollectionPath(found)
    if found.rest.isEmpty {
      let element = ColumnPath(found.column, of: found.owner.id)
      return Side(source: .elements(way, target: element.target), column: element, path: path)
    }
    let target = try found.elementClass(for: Operand.path(path))
    let inner = PredicateBuilder(classID: target, schema: schema)
    let rest = try inner.sideOfElements(found.rest, depth + 1)
    return Side(source: .behind(way, target, rest.source), column: rest.column, path: path)
  }
}

extension PredicateBuilder {
  /// Two properties with embedded objects: they are equal if their members are, one by one, or if
  /// both are nil. Nil for other properties.
  func embeddedPair(
    _ comparison: Comparison, _ left: Path, _ right: Path, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode? {
    // Errors in paths are reported where all pairs are bound.
    guard let first = try? ColumnPath(left, from: classID, in: schema),
      let second = try? ColumnPath(right, from: classID, in: schema),
      let target = first.target, target == second.target,
      let members = schema[target], members.isEmbedded
    else { return nil }
    guard comparison.op == .equal || comparison.op == .notEqual else {
      throw PredicateError("compare embedded objects only with == and !=: \(comparison)")
    }
    var both = [first, second].map {
      ResolvedNode.test(ColumnPredicate($0, .isNull, isNegated: true))
    }
    for column in members.columns where !column.isRemoved {
      guard column.collection == .none, column.type != .any else {
        let kind = column.collection == .none ? "an AnyRealmValue" : "a collection"
        throw PredicateError(
          "'\(left.text())' and '\(right.text())' cannot be compared as a whole: "
            + "'\(members.name).\(column.name)' is \(kind). Compare their other properties")
      }
      let member = PathStep.property(column.name)
      let pair = Comparison(.path(left + [member]), .equal, .path(right + [member]))
      both.append(try node(.comparison(pair), depth: depth + 1))
    }
    let neither = [first, second].map { ResolvedNode.test(ColumnPredicate($0, .isNull)) }
    let areEqual = ResolvedNode.any([.all(neither), .all(both)])
    return comparison.op == .equal ? areEqual : !areEqual
  }
}
