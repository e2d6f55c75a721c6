import TestSupport

@testable import TarnStore

/// Random conditions and orders that fit a random schema.
extension RandomStore {
  /// A property without elements, behind up to two links.
  private mutating func path(in id: ClassID) -> (names: Path, column: ColumnSchema) {
    var (names, at) = (Path(), schema[id]!)
    while names.count < 2, random.chance(25),
      let link = at.columns.first(where: { $0.type == .link && $0.collection == .none })
    {
      names.append(.property(link.name))
      at = schema[link.target!]!
    }
    let column = random.pick(at.columns.filter { $0.collection == .none && $0.type != .link })
    return (names + [.property(column.name)], column)
  }

  mutating func order(in id: ClassID, atMost count: Int = 3) -> [OrderTerm] {
    (0..<random.below(count + 1)).map { _ in
      OrderTerm(path: path(in: id).names, isAscending: random.chance(60))
    }
  }

  mutating func distinctPaths(in id: ClassID) -> [Path] {
    (0..<(1 + random.below(2))).map { _ in path(in: id).names }
  }

  mutating func condition(in id: ClassID, depth: Int) -> Predicate {
    if depth > 0 {
      switch random.below(8) {
      case 0, 1: return condition(in: id, depth: depth - 1) && condition(in: id, depth: depth - 1)
      case 2, 3: return condition(in: id, depth: depth - 1) || condition(in: id, depth: depth - 1)
      case 4: return !condition(in: id, depth: depth - 1)
      default: break
      }
    }
    return random.chance(20) ? collectionCondition(in: id, depth) : comparison(in: id)
  }

  private mutating func comparison(in id: ClassID) -> Predicate {
    if random.chance(25) { return pair(in: id) }
    let (names, column) = path(in: id)
    if random.chance(10) {
      return .comparison(.init(.path(names), random.chance(50) ? .equal : .notEqual, .value(.null)))
    }
    if random.chance(10), let other = schema[id]!.columns.first(where: { isLike($0, column) }) {
      return .comparison(.init(.path(names), op(column.type), .path([.property(other.name)])))
    }
    if random.chance(15), column.type != .bool {
      return .comparison(.init(.path(names), .in, .values([constant(column), constant(column)])))
    }
    let (op, options) = textOp(column.type) ?? (op(column.type), [])
    return .comparison(.init(.path(names), op, .value(constant(column)), options))
  }

  /// Of two properties of which one is of any type or in a map, in either order.
  private mutating func pair(in id: ClassID) -> Predicate {
    let map = schema[id]!.named("map")!
    let key = PathStep.element(.key(random.pick(Self.mapKeys)))
    let (first, type): (Path, ColumnType) =
      random.chance(50)
      ? ([.property(map.name), key], map.type)
      : ([.property(random.pick(["any", "other"]))], .any)
    var (second, column) = path(in: id)
    if !type.compares(with: column.type) { (second, column) = (["any"], schema[id]!.named("any")!) }
    let (op, options) = pairOp(type, column.type)
    return random.chance(50)
      ? .comparison(.init(.path(first), op, .path(second), options))
      : .comparison(.init(.path(second), op, .path(first), options))
  }

  /// What compares two properties of types.
  private mutating func pairOp(
    _ first: ColumnType, _ second: ColumnType
  ) -> (ComparisonOperator, StringOptions) {
    let areTexts = [first, second].allSatisfy { $0 == .string || $0 == .any }
    if areTexts, let (op, options) = textOp(.string) { return (op, options) }
    return (op([first, second].contains(.bool) ? .bool : .any), [])
  }

  private func isLike(_ other: ColumnSchema, _ column: ColumnSchema) -> Bool {
    other.type == column.type && other.collection == .none
  }

  /// No NaN: text has no word for it.
  private mutating func constant(_ column: ColumnSchema) -> Value {
    while true {
      // As text the others look like text.
      let types: [ColumnType] = [.int, .double, .float, .decimal, .string, .data]
      let type = column.type == .any ? random.pick(types) : column.type
      let value = random.smallValue(type, of: 6)
      if !"\(value)".contains("nan") { return value }
    }
  }

  private mutating func op(_ type: ColumnType) -> ComparisonOperator {
    let orders: [ComparisonOperator] = [.less, .lessOrEqual, .greater, .greaterOrEqual]
    return type == .bool || random.chance(40)
      ? random.pick([.equal, .notEqual]) : random.pick(orders)
  }

  private mutating func textOp(_ type: ColumnType) -> (ComparisonOperator, StringOptions)? {
    guard type == .string, random.chance(40) else { return nil }
    let op: ComparisonOperator = random.pick([.contains, .beginsWith, .endsWith, .equal])
    return (op, random.chance(40) ? .caseInsensitive : [])
  }

  private mutating func collectionCondition(in id: ClassID, _ depth: Int) -> Predicate {
    let column = random.pick(schema[id]!.columns.filter { $0.collection != .none })
    if random.chance(30) { return elementPair(column, of: id) }
    let number = Operand.value(.int(Int64(random.below(3))))
    guard column.type == .link, let target = column.target else {
      return elementTest([.property(column.name)], column, of: id)
    }
    switch random.below(4) {
    case 0:
      return .compare([.property(column.name)], .count, op(.int), numberColumn(of: id) ?? number)
    case 1:
      let inner = condition(in: target, depth: min(depth, 1))
      return .compare([.property(column.name)], .matching(inner), op(.int), number)
    default:
      let own = schema[target]!.columns.filter { $0.collection == .none && $0.type != .link }
      let inner = random.pick(own)
      return elementTest([.property(column.name), .property(inner.name)], inner, of: id)
    }
  }

  /// Of the elements of a collection, or a property of theirs, and a property of the object.
  private mutating func elementPair(_ column: ColumnSchema, of id: ClassID) -> Predicate {
    var (names, element) = ([PathStep.property(column.name)], column)
    if column.type == .link, let target = column.target {
      let link = schema[id]!.columns.first {
        $0.type == .link && $0.collection == .none && $0.target == target
      }
      if let link, random.chance(30) {
        let op: ComparisonOperator = random.chance(50) ? .equal : .notEqual
        return .any(names, op, .path([.property(link.name)]))
      }
      let (inner, found) = path(in: target)
      (names, element) = (names + inner, found)
    }
    var (right, other) = path(in: id)
    if !element.type.compares(with: other.type) {
      (right, other) = (["any"], schema[id]!.named("any")!)
    }
    let (op, options) = pairOp(element.type, other.type)
    return .any(names, op, .path(right), options)
  }

  /// Of the object that has a collection, to compare with what that comes to; or nil.
  private mutating func numberColumn(of id: ClassID) -> Operand? {
    let numbers = schema[id]!.columns.filter {
      $0.collection == .none && [.int, .double, .any].contains($0.type)
    }
    guard random.chance(40), !numbers.isEmpty else { return nil }
    return .path([.property(random.pick(numbers).name)])
  }

  private mutating func elementTest(
    _ path: Path, _ column: ColumnSchema, of id: ClassID
  ) -> Predicate {
    if [.int, .double].contains(column.type), random.chance(40) {
      let aggregate = random.pick(CollectionAggregate.allCases)
      let number = Operand.value(.int(Int64(random.below(4))))
      return .compare(path, .aggregate(aggregate), op(.int), numberColumn(of: id) ?? number)
    }
    return .any(path, op(column.type), .value(constant(column)))
  }
}

extension ColumnType {
  fileprivate func compares(with other: ColumnType) -> Bool {
    self == other || self == .any || other == .any || isNumeric && other.isNumeric
  }
}
