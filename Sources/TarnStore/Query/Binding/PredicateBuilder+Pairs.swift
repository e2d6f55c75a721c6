/// Comparisons of properties with each other, and with values in collections and mixed values.
extension PredicateBuilder {
  /// One side of a comparison.
  private struct Side {
    let source: ValueSource
    /// Describes its values: their type, and the class that has them.
    let column: ColumnPath
    let names: [String]

    func described(in schema: StoreSchema) -> String {
      "'\(Operand.path(names))' (\(column.typeName(in: schema)))"
    }
  }

  func pair(
    _ comparison: Comparison, _ left: [String], _ right: [String], _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    let (first, second) = (try side(left, depth), try side(right, depth))
    return try pair(first, comparison.op, second, comparison.options, comparison)
  }

  /// A property and the elements of a collection, on either side.
  func pairOfElements(
    _ condition: CollectionCondition, _ op: ComparisonOperator, _ right: [String],
    _ options: StringOptions, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    let left = condition.path
    if try NamedCollectionPath.find(left, from: classID, in: schema) == nil,
      try NamedCollectionPath.find(right, from: classID, in: schema) == nil
    {
      throw PredicateError(
        "neither '\(Operand.path(left))' nor '\(Operand.path(right))' leads to a collection: "
          + "omit ANY")
    }
    let (first, second) = (
      try sideOfElements(left, depth), try sideOfElements(right, depth)
    )
    return try pair(first, op, second, options, condition)
  }

  /// An aggregate of that type, compared with the value of a path.
  func total(
    _ total: CollectionFigure, _ type: ColumnType, _ path: NamedCollectionPath,
    _ condition: CollectionCondition, _ op: ComparisonOperator, _ names: [String], _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    if path.hasSteps, path.column.type != .any {
      throw PredicateError("only collections have a @count: \(condition)")
    }
    let side = try side(names, depth)
    let other = side.column.type
    guard other == type || other.isNumeric && type.isNumeric || other == .any else {
      throw PredicateError(
        "cannot compare the aggregate '\(Operand.path(condition.path))' (\(type)) with "
          + side.described(in: schema))
    }
    guard op.mirrored != nil else {
      throw PredicateError("\(op) cannot compare an aggregate of a collection: \(condition)")
    }
    let source = ValueSource.total(ResolvedCollectionPath(path), total)
    try requireOne(source, side.source, condition)
    return .pair(ValuePair(source, op, side.source))
  }

  /// The right side of a condition that compares only with a value.
  func constant(
    _ right: Operand, _ condition: CollectionCondition
  ) throws(PredicateError) -> Value {
    guard case .value(let value) = right else {
      throw PredicateError("compare the @count of a SUBQUERY with a number: \(condition)")
    }
    return value
  }

  private func pair(
    _ left: Side, _ op: ComparisonOperator, _ right: Side, _ options: StringOptions,
    _ condition: some CustomStringConvertible
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
        "'\(Operand.path(side.names))' is an embedded object, which as a whole compares only with "
          + "a value. Compare its properties: \(condition)")
    }
    try a.check(op, options, left.names, schema)
    try b.check(op, options, right.names, schema)
    guard op != .in else {
      throw PredicateError("IN needs a list of values on its right: \(condition)")
    }
    try requireOne(left.source, right.source, condition)
    return .pair(
      ValuePair(
        left.source, op, right.source, options,
        areStrings: a.type == .string && b.type == .string))
  }

  private func requireOne(
    _ left: ValueSource, _ right: ValueSource, _ condition: some CustomStringConvertible
  ) throws(PredicateError) {
    guard !left.hasOne, !right.hasOne else { return }
    throw PredicateError(
      "cannot compare the elements of one collection with those of another, nor two properties of "
        + "elements with each other outside a SUBQUERY: \(condition)")
  }

  /// A property, or a value inside a value or collection by steps.
  private func side(_ names: [String], _ depth: Int) throws(PredicateError) -> Side {
    if let path = try elementPath(names) { return try side(path, names, depth) }
    return try plainSide(names)
  }

  /// The same, also through collections.
  private func sideOfElements(_ names: [String], _ depth: Int) throws(PredicateError) -> Side {
    guard let path = try NamedCollectionPath.find(names, from: classID, in: schema) else {
      return try plainSide(names)
    }
    return try side(path, names, depth)
  }

  private func plainSide(_ names: [String]) throws(PredicateError) -> Side {
    let column = try ColumnPath(names, from: classID, in: schema)
    return Side(source: .column(column), column: column, names: names)
  }

  private func side(
    _ path: NamedCollectionPath, _ names: [String], _ depth: Int
  ) throws(PredicateError) -> Side {
    guard depth <= Self.depthMax else {
      throw PredicateError("a path leads through more than \(Self.depthMax) collections")
    }
    let way = ResolvedCollectionPath(path)
    if path.rest.isEmpty {
      let element = ColumnPath(path.column, of: path.owner.id)
      return Side(
        source: .elements(way, target: element.target), column: element, names: names)
    }
    let target = try path.elementClass(for: Operand.path(names))
    let inner = PredicateBuilder(classID: target, schema: schema)
    let rest = try inner.sideOfElements(path.rest, depth + 1)
    return Side(source: .behind(way, target, rest.source), column: rest.column, names: names)
  }
}

extension PredicateBuilder {
  /// Two properties with embedded objects: they are equal if their members are, one by one, or if
  /// both are nil. Nil for other properties.
  func embeddedPair(
    _ comparison: Comparison, _ left: [String], _ right: [String], _ depth: Int
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
    var both = [first, second].map { ResolvedNode.test(ColumnTest($0, .isNull, isNegated: true)) }
    for column in members.columns where !column.isRemoved {
      guard column.collection == .none, column.type != .any else {
        let kind = column.collection == .none ? "an AnyRealmValue" : "a collection"
        throw PredicateError(
          "'\(Operand.path(left))' and '\(Operand.path(right))' cannot be compared as a whole: "
            + "'\(members.name).\(column.name)' is \(kind). Compare their other properties")
      }
      let pair = Comparison(.path(left + [column.name]), .equal, .path(right + [column.name]))
      both.append(try node(.comparison(pair), depth: depth + 1))
    }
    let neither = [first, second].map { ResolvedNode.test(ColumnTest($0, .isNull)) }
    let areEqual = ResolvedNode.any([.all(neither), .all(both)])
    return comparison.op == .equal ? areEqual : !areEqual
  }
}
