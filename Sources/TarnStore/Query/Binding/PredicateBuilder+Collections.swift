/// Conditions on the elements of collections, and on numbers computed from them.
extension PredicateBuilder {
  /// A condition on some element, or on all: the path may lead through several collections.
  func nodeOfElements(_ comparison: Comparison, _ depth: Int) throws(PredicateError) -> ResolvedNode
  {
    if case (.path(let left), .path(let right)) = (comparison.left, comparison.right) {
      return try pairOfElements(comparison, left, right, depth)
    }
    let path = try NamedCollectionPath(comparison.leftPath, from: classID, in: schema)
    return path.rest.isEmpty
      ? try some(path, comparison, depth) : try behind(path, comparison, depth)
  }

  /// Compares a number computed from a collection.
  func figure(
    _ figure: Figure, of names: Path, _ comparison: Comparison, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    let path = try NamedCollectionPath(names, from: classID, in: schema)
    if let node = try collectionOfElement(path, comparison, depth) { return node }
    switch figure {
    case .aggregate(let aggregate):
      return try self.aggregate(aggregate, path, comparison, depth)
    case .count:
      try requireEnd(path, names)
      if case .path(let right) = comparison.right {
        return try total(.count, .int, path, comparison, with: right, depth)
      }
      return try count(path, comparison)
    case .matching(let predicate):
      try requireEnd(path, names)
      return try matching(predicate, path, comparison, depth)
    }
  }

  /// The elements of a list equal these, in this order.
  func elements(
    _ values: [Value], of names: Path, _ comparison: Comparison, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    let path = try NamedCollectionPath(names, from: classID, in: schema)
    if let node = try collectionOfElement(path, comparison, depth) { return node }
    try requireEnd(path, names)
    guard path.column.collection == .list else {
      throw PredicateError("only the elements of lists have positions: \(comparison)")
    }
    let element = elementBuilder(path, comparison)
    var nodes: [ResolvedNode] = []
    for value in values { nodes.append(try element.node(.equal, value)) }
    return .collection(CollectionPredicate(path, .each(nodes)))
  }

  private func requireEnd(_ path: NamedCollectionPath, _ names: Path) throws(PredicateError) {
    guard path.rest.isEmpty else {
      throw PredicateError(
        "'\(names.text())' continues past a collection: write ANY before it to match any element")
    }
  }

  /// A comparison of a constant with the value of a map's key, or with a mixed value; nil for
  /// others.
  func nodeOfElement(
    _ comparison: Comparison, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode? {
    let (names, op, right): (Path, ComparisonOperator?, Operand)
    switch (comparison.left, comparison.right) {
    case (.path, .path), (.figure, _): return nil
    case (.path, .values) where comparison.op == .equal: return nil
    case (.path(let left), let value): (names, op, right) = (left, comparison.op, value)
    case (let value, .path(let path)): (names, op, right) = (path, comparison.op.mirrored, value)
    default: return nil
    }
    guard let path = try elementPath(names) else { return nil }
    guard let op else {
      throw PredicateError("\(comparison.op) needs a property on its left: \(comparison)")
    }
    let some = Comparison(.path(names), op, right, comparison.options, quantifier: .any)
    return path.rest.isEmpty ? try self.some(path, some, depth) : try behind(path, some, depth)
  }

  /// Nil for a path without a step into a value.
  func elementPath(_ path: Path) throws(PredicateError) -> NamedCollectionPath? {
    // Most paths are one name of a plain column, which needs no search.
    if path.count == 1, case .property(let name) = path[0],
      let column = schema[classID]?.named(name), column.collection == .none, column.type != .any
    {
      return nil
    }
    let found: NamedCollectionPath?
    if path.contains(where: { $0.element != nil }) {
      found = try NamedCollectionPath.find(path, from: classID, in: schema)
    } else {
      // Errors of other paths are reported elsewhere.
      found = try? NamedCollectionPath.find(path, from: classID, in: schema)
    }
    guard let found, found.hasSteps else { return nil }
    return found
  }

  private func matching(
    _ predicate: Predicate, _ path: NamedCollectionPath, _ comparison: Comparison, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    let number = try constant(in: comparison)
    guard !path.hasSteps || path.column.type == .any else {
      throw PredicateError(
        "SUBQUERY needs a collection, and '\(comparison.leftPath.text())' is not one")
    }
    let target = path.column.type == .link ? path.column.target : nil
    let node: ResolvedNode
    if let target {
      node = try PredicateBuilder(classID: target, schema: schema).node(predicate, depth: depth + 1)
    } else {
      node = try elementBuilder(path, comparison).node(predicate, depth: depth + 1)
    }
    let count = try self.number(path, comparison, .int).node(comparison.op, number)
    return .collection(
      CollectionPredicate(path, .figure(.matching(ElementCondition(target, node)), count)))
  }

  /// A condition on a collection of an object that is an element of another collection:
  /// `parts['left'].screws.@count`. Nil for others.
  private func collectionOfElement(
    _ path: NamedCollectionPath, _ comparison: Comparison, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode? {
    guard path.leadsToOneElement, !path.rest.isEmpty, let target = path.column.target else {
      return nil
    }
    switch (comparison.left, comparison.right) {
    case (.figure(_, .count), .path), (.figure(_, .aggregate), .path):
      throw PredicateError(
        "\(comparison.leftPath.text()) can be compared only with values: \(comparison)")
    default: break
    }
    let inner = PredicateBuilder(classID: target, schema: schema, isElement: true)
    let node = try inner.node(comparison.of(path.rest), depth: depth + 1)
    return .collection(CollectionPredicate(path, .some(ElementCondition(target, node))))
  }

  private func aggregate(
    _ aggregate: CollectionAggregate, _ path: NamedCollectionPath, _ comparison: Comparison,
    _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    var behind: ColumnPath?
    var type = path.column.type
    if !path.rest.isEmpty {
      let found = try ColumnPath(
        path.rest, from: path.elementClass(for: comparison), in: schema, for: .aggregate)
      (behind, type) = (found, found.type)
    }
    guard !path.hasSteps, type.isNumeric || type == .date && aggregate.isOfExtremes else {
      throw PredicateError(
        "\(aggregate.rawValue) needs numbers\(aggregate.isOfExtremes ? " or dates" : ""): "
          + "'\(comparison.leftPath.text())' is of type \(type)")
    }
    let result = aggregate.type(of: type)
    let total = CollectionFigure.aggregate(aggregate, behind, result)
    if case .path(let right) = comparison.right {
      return try self.total(total, result, path, comparison, with: right, depth)
    }
    let value = try constant(in: comparison)
    let node = try number(path, comparison, result).node(comparison.op, value)
    if aggregate == .sum, result == .int, value != .null {
      // The sum may be beyond the range of integers.
      let sum = ValueSource.total(ResolvedCollectionPath(path), total)
      return .pair(ValuePair(sum, comparison.op, .constant(value)))
    }
    return .collection(CollectionPredicate(path, .figure(total, node)))
  }

  /// Builds tests of a collection's aggregate.
  private func number(
    _ path: NamedCollectionPath, _ comparison: Comparison, _ type: ColumnType
  ) -> ColumnConstants {
    var number = ColumnPath(path.column, of: path.owner.id)
    number.type = type
    number.isOptional = true
    number.target = nil
    return ColumnConstants(number, .path(comparison.leftPath), schema, [])
  }

  private func count(
    _ path: NamedCollectionPath, _ comparison: Comparison
  ) throws(PredicateError) -> ResolvedNode {
    let value = try constant(in: comparison)
    if path.hasSteps, path.column.type != .any {
      throw PredicateError("only collections have a @count: \(comparison)")
    }
    var number = ColumnPath(path.column, of: path.owner.id)
    number.type = .int
    number.isOptional = !path.links.isEmpty || path.hasSteps || isElement
    number.target = nil
    let builder = ColumnConstants(number, comparison.left, schema, [])
    return .collection(
      CollectionPredicate(path, .figure(.count, try builder.node(comparison.op, value))))
  }

  /// A condition on the rest of the path, from elements that are objects.
  private func behind(
    _ path: NamedCollectionPath, _ comparison: Comparison, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    let target = try path.elementClass(for: comparison)
    let inner = PredicateBuilder(classID: target, schema: schema, isElement: path.hasSteps)
    let node: ResolvedNode
    if let next = try NamedCollectionPath.find(path.rest, from: target, in: schema) {
      var rest = comparison.of(path.rest)
      // There is one count of one collection.
      if next.rest.isEmpty, case .figure = rest.left { rest.quantifier = nil }
      node = try inner.node(rest, depth: depth + 1)
    } else {
      node = try inner.node(comparison.ofOneValue(at: path.rest), depth: depth + 1)
    }
    return .collection(CollectionPredicate(path, .some(ElementCondition(target, node))))
  }

  /// A condition on the elements themselves.
  private func some(
    _ path: NamedCollectionPath, _ comparison: Comparison, _ depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    if case .figure = comparison.left {
      throw PredicateError("'\(comparison.left)' is one number: omit ANY")
    }
    switch (comparison.quantifier, comparison.right) {
    case (_, .members(let name, let members)):
      let target = try elementClass(path, comparison)
      let inner = PredicateBuilder(classID: target, schema: schema, isElement: path.hasSteps)
      let node = try inner.node(
        comparison.op, membersOf: name, members, comparison, depth: depth + 1)
      return .collection(CollectionPredicate(path, .some(ElementCondition(target, node))))
    case (_, .shape(let shape)):
      let target = try elementClass(path, comparison)
      let one = Comparison(comparison.left, comparison.op, comparison.right, comparison.options)
      let node = try PredicateBuilder(classID: target, schema: schema).location([], shape, one)
      return .collection(CollectionPredicate(path, .some(ElementCondition(target, node))))
    case (.all, .range(let low, let high, let isClosed)):
      return try elementBuilder(path, comparison)
        .all(path, from: low, to: high, isClosed: isClosed)
    default:
      let one = try comparison.ofOneValue(at: [])
      let node = try elementBuilder(path, comparison).node(one, depth: depth)
      return .collection(CollectionPredicate(path, .some(ElementCondition(nil, node))))
    }
  }

  private func elementClass(
    _ path: NamedCollectionPath, _ comparison: Comparison
  ) throws(PredicateError) -> ClassID {
    guard path.column.type == .link, let target = path.column.target else {
      throw PredicateError("the elements are not objects: \(comparison)")
    }
    return target
  }

  private func elementBuilder(
    _ path: NamedCollectionPath, _ comparison: Comparison
  ) -> ColumnConstants {
    let element = ColumnPath(path.column, of: path.owner.id)
    return ColumnConstants(element, .path(comparison.leftPath), schema, [])
  }

  /// For an element that may not exist: true for every existing object of the class.
  private func isThere(_ owner: ClassSchema) -> ResolvedNode {
    guard isElement, let column = owner.columns.first(where: { !$0.isRemoved }) else {
      return .constant(true)
    }
    var path = ColumnPath(column, of: owner.id)
    path.isOptional = false
    return .test(ColumnPredicate(path, .isNull, isNegated: true))
  }

  /// Compares an object with the members of another.
  func node(
    _ op: ComparisonOperator, membersOf name: String, _ members: Predicate,
    _ comparison: Comparison, depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    guard op == .equal || op == .notEqual else {
      throw PredicateError("compare embedded objects only with == and !=: \(comparison)")
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

extension Comparison {
  /// The path of the left side, which compares the values or a figure of a collection.
  var leftPath: Path {
    switch left {
    case .path(let path), .figure(let path, _): path
    case .value, .values, .range, .members, .shape: []
    }
  }

  /// True for a comparison of elements or of a figure.
  fileprivate var isOnCollection: Bool {
    switch (left, right) {
    case _ where quantifier != nil: true
    case (.figure, _): true
    case (_, .values): op != .in
    default: false
    }
  }

  /// The same of a collection at another path.
  fileprivate func of(_ path: Path) -> Comparison {
    var comparison = self
    comparison.left =
      if case .figure(_, let figure) = left { .figure(path, figure) } else { .path(path) }
    return comparison
  }

  /// The condition on the value of any element, or of a property of it.
  fileprivate func ofOneValue(at path: Path) throws(PredicateError) -> Predicate {
    if case .figure = left { throw PredicateError("@count must follow a collection: \(self)") }
    if quantifier == .all {
      throw PredicateError("a range for all elements needs a collection: \(self)")
    }
    guard case .range(let low, let high, let isClosed) = right else {
      return .comparison(Comparison(.path(path), op, right, options))
    }
    return .between(.path(path), .value(low), .value(high), isClosed: isClosed)
  }
}

extension ColumnConstants: ConditionBuilder {
  /// A comparison of a value that is not in a row.
  func node(
    _ comparison: Comparison, depth: Int
  ) throws(PredicateError) -> ResolvedNode {
    guard !comparison.isOnCollection else {
      throw PredicateError("values have no collections: \(comparison)")
    }
    let builder = ColumnConstants(path, name, schema, comparison.options)
    switch (comparison.left, comparison.right) {
    case (.path([]), .value(let value)): return try builder.node(comparison.op, value)
    case (.path([]), .values(let values)): return try builder.node(anyOf: values)
    case (.value(let value), .path([])):
      guard let op = comparison.op.mirrored else { break }
      return try builder.node(op, value)
    default: break
    }
    throw PredicateError(
      "values have no properties and can be compared only with constants: \(comparison)")
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
    let none = try ColumnConstants(number, name, schema, []).node(.equal, .int(0))
    return .all([
      .collection(CollectionPredicate(path, .some(ElementCondition(nil, inside)))),
      .collection(
        CollectionPredicate(path, .figure(.matching(ElementCondition(nil, outside)), none))),
    ])
  }
}
