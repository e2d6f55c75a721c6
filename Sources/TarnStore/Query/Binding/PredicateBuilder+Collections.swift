extension PredicateBuilder {
  func node(
    _ condition: CollectionCondition, depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    if case .any(let op, .path(let right), let options) = condition.test {
      return try pairOfElements(condition, op, right, options, depth)
    }
    let path = try NamedCollectionPath(condition.path, from: classID, in: schema)
    if condition.test.isAboutSome {
      if !path.rest.isEmpty { return try behind(path, condition, depth) }
      return try some(path, condition, depth)
    }
    if let node = try collectionOfElement(path, condition, depth) { return node }
    if case .aggregate(let aggregate, let op, let right) = condition.test {
      return try self.aggregate(aggregate, path, condition, op, right, depth)
    }
    guard path.rest.isEmpty else {
      throw PredicateError(
        "'\(Operand.path(condition.path))' continues past a collection: write ANY before it "
          + "to match any element")
    }
    switch condition.test {
    case .count(let op, let right):
      if case .path(let names) = right {
        return try total(.count, .int, path, condition, op, names, depth)
      }
      return try count(path, condition, op, try constant(right, condition))
    case .elements(let values):
      guard path.column.collection == .list else {
        throw PredicateError("only the elements of lists have positions: \(condition)")
      }
      let element = try elementBuilder(path, condition)
      var nodes: [ResolvedNode] = []
      for value in values { nodes.append(try element.node(.equal, value)) }
      return .collection(CollectionTest(path, .each(nodes)))
    case .matching(let predicate, let op, let right):
      let number = try constant(right, condition)
      return try matching(predicate, path, condition, op, number, depth)
    case .any, .anyWithin, .allWithin, .anyCount, .aggregate:
      trap("internal error: the condition is bound already")
    }
  }

  /// A comparison of a constant with the value of a map's key, or with a mixed value; nil for
  /// others.
  func nodeOfElement(
    _ comparison: Comparison, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode? {
    let (names, op, right): ([String], ComparisonOperator?, Operand)
    switch (comparison.left, comparison.right) {
    case (.path, .path): return nil
    case (.path(let left), let value): (names, op, right) = (left, comparison.op, value)
    case (let value, .path(let path)): (names, op, right) = (path, comparison.op.mirrored, value)
    default: return nil
    }
    guard let path = try elementPath(names) else { return nil }
    guard let op else {
      throw PredicateError("\(comparison.op) needs a property on its left: \(comparison)")
    }
    let condition = CollectionCondition(names, .any(op, right, comparison.options))
    return path.rest.isEmpty
      ? try some(path, condition, depth) : try behind(path, condition, depth)
  }

  /// Nil for a path without a step into a value.
  func elementPath(_ names: [String]) throws(PredicateError) -> NamedCollectionPath? {
    // Most paths are one name of a plain column, which needs no search.
    if names.count == 1, let column = schema[classID]?.named(names[0]),
      column.collection == .none, column.type != .any
    {
      return nil
    }
    let found: NamedCollectionPath?
    if names.contains(where: { ValueStep($0) != nil }) {
      found = try NamedCollectionPath.find(names, from: classID, in: schema)
    } else {
      // Errors of other paths are reported elsewhere.
      found = try? NamedCollectionPath.find(names, from: classID, in: schema)
    }
    guard let found, found.hasSteps else { return nil }
    return found
  }

  private func matching(
    _ predicate: Predicate, _ path: NamedCollectionPath, _ condition: CollectionCondition,
    _ op: ComparisonOperator, _ value: Value, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    guard !path.hasSteps || path.column.type == .any else {
      throw PredicateError(
        "SUBQUERY needs a collection, and '\(Operand.path(condition.path))' "
          + "is not one")
    }
    let target = path.column.type == .link ? path.column.target : nil
    let node: ResolvedNode
    if let target {
      node = try PredicateBuilder(classID: target, schema: schema).node(predicate, depth: depth + 1)
    } else {
      node = try elementBuilder(path, condition).node(predicate, depth: depth + 1)
    }
    let count = try number(path, condition, .int).node(op, value)
    return .collection(CollectionTest(path, .matching(target, node, count: count)))
  }

  /// A condition on a collection of an object that is an element of another collection:
  /// `parts['left'].screws.@count`. Nil for others.
  private func collectionOfElement(
    _ path: NamedCollectionPath, _ condition: CollectionCondition, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode? {
    guard path.leadsToOneElement, !path.rest.isEmpty, let target = path.column.target else {
      return nil
    }
    if condition.test.isAboutProperty {
      throw PredicateError(
        "\(Operand.path(condition.path)) can be compared only with values: \(condition)")
    }
    let inner = PredicateBuilder(classID: target, schema: schema, isElement: true)
    let rest = CollectionCondition(path.rest, condition.test)
    let node = try inner.node(.collection(rest), depth: depth + 1)
    return .collection(CollectionTest(path, .object(target, node)))
  }

  private func aggregate(
    _ aggregate: CollectionAggregate, _ path: NamedCollectionPath, _ condition: CollectionCondition,
    _ op: ComparisonOperator, _ right: Operand, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    var behind: ColumnPath?
    var type = path.column.type
    if !path.rest.isEmpty {
      let found = try ColumnPath(
        path.rest, from: path.elementClass(for: condition), in: schema, for: .aggregate)
      (behind, type) = (found, found.type)
    }
    guard !path.hasSteps, type.isNumeric || type == .date && aggregate.isOfExtremes else {
      throw PredicateError(
        "\(aggregate.rawValue) needs numbers\(aggregate.isOfExtremes ? " or dates" : ""): "
          + "'\(Operand.path(condition.path))' is of type \(type)")
    }
    let result = aggregate.type(of: type)
    let total = CollectionFigure.aggregate(aggregate, behind, result)
    if case .path(let names) = right {
      return try self.total(total, result, path, condition, op, names, depth)
    }
    let value = try constant(right, condition)
    let node = try number(path, condition, result).node(op, value)
    if aggregate == .sum, result == .int, value != .null {
      // The sum may be beyond the range of integers.
      return .pair(ValuePair(.total(ResolvedCollectionPath(path), total), op, .constant(value)))
    }
    return .collection(CollectionTest(path, .aggregate(aggregate, behind, result, node)))
  }

  /// Builds tests of a collection's aggregate.
  private func number(
    _ path: NamedCollectionPath, _ condition: CollectionCondition, _ type: ColumnType
  ) -> ColumnConstants {
    var number = ColumnPath(path.column, of: path.owner.id)
    number.type = type
    number.isOptional = true
    number.target = nil
    return ColumnConstants(number, condition.path, schema, [])
  }

  private func count(
    _ path: NamedCollectionPath, _ condition: CollectionCondition, _ op: ComparisonOperator,
    _ value: Value
  ) throws(PredicateError) -> ResolvedNode {
    if path.hasSteps, path.column.type != .any {
      throw PredicateError("only collections have a @count: \(condition)")
    }
    var number = ColumnPath(path.column, of: path.owner.id)
    number.type = .int
    number.isOptional = !path.links.isEmpty || path.hasSteps || isElement
    number.target = nil
    let names = condition.path + ["@count"]
    let builder = ColumnConstants(number, names, schema, [])
    return .collection(CollectionTest(path, .count(try builder.node(op, value))))
  }

  /// A condition on the rest of the path, from elements that are objects.
  private func behind(
    _ path: NamedCollectionPath, _ condition: CollectionCondition, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    let target = try path.elementClass(for: condition)
    let inner = PredicateBuilder(classID: target, schema: schema, isElement: path.hasSteps)
    let rest: Predicate
    if let next = try NamedCollectionPath.find(path.rest, from: target, in: schema) {
      var test = condition.test
      if next.rest.isEmpty, case .anyCount(let op, let value) = test {
        test = .count(op, .value(value))
      }
      rest = .collection(CollectionCondition(path.rest, test))
    } else {
      rest = try condition.test.onOneValue(.path(path.rest), condition)
    }
    let node = try inner.node(rest, depth: depth + 1)
    return .collection(CollectionTest(path, .object(target, node)))
  }

  /// A condition on the elements themselves.
  private func some(
    _ path: NamedCollectionPath, _ condition: CollectionCondition, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    if case .anyCount = condition.test {
      throw PredicateError("'\(Operand.path(condition.path)).@count' is one number: omit ANY")
    }
    if case .any(let op, .members(let name, let members), _) = condition.test {
      guard path.column.type == .link, let target = path.column.target else {
        throw PredicateError("the elements are not objects: \(condition)")
      }
      let inner = PredicateBuilder(classID: target, schema: schema, isElement: path.hasSteps)
      let node = try inner.node(op, membersOf: name, members, condition, depth: depth + 1)
      return .collection(CollectionTest(path, .object(target, node)))
    }
    if case .any(let op, .shape(let shape), let options) = condition.test {
      guard path.column.type == .link, let target = path.column.target else {
        throw PredicateError("the elements are not objects: \(condition)")
      }
      let inner = PredicateBuilder(classID: target, schema: schema)
      let node = try inner.location(
        [], shape, Comparison(.path(condition.path), op, .shape(shape), options))
      return .collection(CollectionTest(path, .object(target, node)))
    }
    let builder = try elementBuilder(path, condition)
    if case .allWithin(let low, let high, let isClosed) = condition.test {
      return try builder.all(path, from: low, to: high, isClosed: isClosed)
    }
    let comparison = try condition.test.onOneValue(.path([]), condition)
    return .collection(CollectionTest(path, .value(try builder.node(comparison, depth: depth))))
  }

  private func elementBuilder(
    _ path: NamedCollectionPath, _ condition: CollectionCondition
  ) throws(PredicateError) -> ColumnConstants {
    let element = ColumnPath(path.column, of: path.owner.id)
    return ColumnConstants(element, condition.path, schema, [])
  }

  /// For an element that may not exist: true for every existing object of the class.
  private func isThere(_ owner: ClassSchema) -> ResolvedNode {
    guard isElement, let column = owner.columns.first(where: { !$0.isRemoved }) else {
      return .constant(true)
    }
    var path = ColumnPath(column, of: owner.id)
    path.isOptional = false
    return .test(ColumnTest(path, .isNull, isNegated: true))
  }

  /// Compares an object with the members of another.
  func node(
    _ op: ComparisonOperator, membersOf name: String, _ members: Predicate,
    _ condition: some CustomStringConvertible, depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    guard op == .equal || op == .notEqual else {
      throw PredicateError("compare embedded objects only with == and !=: \(condition)")
    }
    guard let owner = schema[classID], owner.name == name else {
      throw PredicateError(
        "an object of class '\(schema[classID]?.name ?? "")' cannot be compared with one of class "
          + "'\(name)'")
    }
    let isEqual = ResolvedNode.all([isThere(owner), try node(members, depth: depth)])
    return op == .equal ? isEqual : !isEqual
  }
}

extension NamedCollectionPath {
  /// The class of the elements, which are objects.
  func elementClass(
    for condition: some CustomStringConvertible
  ) throws(PredicateError) -> ClassID {
    if column.type == .link, let target = column.target { return target }
    throw PredicateError(
      "the elements of property '\(column.name)' of class '\(owner.name)' are not objects: "
        + "\(condition)")
  }
}

extension CollectionAggregate {
  /// The type in which the aggregate of values of a type is compared.
  fileprivate func type(of type: ColumnType) -> ColumnType {
    switch self {
    case .minimum, .maximum: type
    case .sum: type == .float ? .double : type
    case .average: type == .decimal ? .decimal : .double
    }
  }
}

extension CollectionCondition.Test {
  /// True if the path may lead through several collections.
  fileprivate var isAboutSome: Bool {
    switch self {
    case .any, .anyWithin, .allWithin, .anyCount: true
    case .count, .elements, .aggregate, .matching: false
    }
  }

  /// True if the aggregate is compared with a property.
  fileprivate var isAboutProperty: Bool {
    switch self {
    case .count(_, .path), .aggregate(_, _, .path): true
    default: false
    }
  }

  /// The condition on the value of any element, or of a property of it.
  fileprivate func onOneValue(
    _ left: Operand, _ condition: CollectionCondition
  ) throws(PredicateError) -> Predicate {
    switch self {
    case .any(let op, let right, let options):
      return .comparison(Comparison(left, op, right, options))
    case .anyWithin(let low, let high, let isClosed):
      return .and([
        .comparison(Comparison(left, .greaterOrEqual, .value(low))),
        .comparison(Comparison(left, isClosed ? .lessOrEqual : .less, .value(high))),
      ])
    case .allWithin:
      throw PredicateError("a range for all elements needs a collection: \(condition)")
    case .anyCount, .count, .elements, .aggregate, .matching:
      throw PredicateError("@count must follow a collection: \(condition)")
    }
  }
}

extension ColumnConstants: ConditionBuilder {
  /// A comparison of a value that is not in a row.
  func node(
    _ comparison: Comparison, depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    let builder = ColumnConstants(path, names, schema, comparison.options)
    switch (comparison.left, comparison.right) {
    case (.path([]), .value(let value)): return try builder.node(comparison.op, value)
    case (.path([]), .values(let values)) where comparison.op == .in:
      return try builder.node(anyOf: values)
    case (.value(let value), .path([])):
      guard let op = comparison.op.mirrored else { break }
      return try builder.node(op, value)
    default: break
    }
    throw PredicateError(
      "values have no properties and can be compared only with constants: \(comparison)")
  }

  func node(
    _ condition: CollectionCondition, depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    throw PredicateError("values have no collections: \(condition)")
  }

  /// Some element is in the range, and none is below or above it.
  fileprivate func all(
    _ path: NamedCollectionPath, from low: Value, to high: Value, isClosed: Bool
  ) throws(PredicateError) -> ResolvedNode {
    let inside = ResolvedNode.all([
      try node(.greaterOrEqual, low), try node(isClosed ? .lessOrEqual : .less, high),
    ])
    // Null sorts before strings, but is not one.
    let outside = ResolvedNode.all([
      try node(.notEqual, .null),
      .any([try node(.less, low), try node(isClosed ? .greater : .greaterOrEqual, high)]),
    ])
    var number = self.path
    (number.type, number.isOptional) = (.int, true)
    let none = try ColumnConstants(number, names, schema, []).node(.equal, .int(0))
    return .all([
      .collection(CollectionTest(path, .value(inside))),
      .collection(CollectionTest(path, .matching(nil, outside, count: none))),
    ])
  }
}
