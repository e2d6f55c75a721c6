extension PredicateParser {
  /// `['key']`, `[0]`, `[FIRST]`, `[LAST]` or `[#any]` after a property; or `[%K]` with one of
  /// these as its argument.
  mutating func valueStep() throws(PredicateSyntaxError) -> ValueStep? {
    guard try take("[") else { return nil }
    let step: ValueStep
    if let word = token.propertyName, let known = Self.valueSteps[word.uppercased()] {
      try advance()
      step = known
    } else if token == .placeholder("K") {
      step = try argument { (all) throws(PredicateArguments.Mistake) in try all.step() }
    } else {
      let first = start
      switch try literal() {
      case .string(let key): step = .key(key)
      case .int(let position) where position >= 0: step = .position(Int(position))
      default:
        throw lexer.error(at: first, "expected a key in quotes, a position from 0, or #any")
      }
    }
    try demand("]", "']'")
    return step
  }

  private static let valueSteps: [String: ValueStep] = [
    "ANY": .each, "FIRST": .position(0), "LAST": .position(-1),
  ]
}

extension PredicateArguments {
  /// The argument for `[%K]`: `#any`, `FIRST`, `LAST`, a position, or any other text as a key.
  fileprivate mutating func step() throws(Mistake) -> ValueStep {
    switch try next(for: "K") {
    case .value(.string("#any")): .each
    case .value(.string("FIRST")): .position(0)
    case .value(.string("LAST")): .position(-1)
    case .value(.string(let key)): .key(key)
    case .value(.int(let position)) where position >= 0: .position(Int(position))
    default: throw wrong("neither a key nor a position, but [%K] needs one")
    }
  }
}

extension PredicateParser {
  /// The aggregate in a path for `%K` that has a collection operator: `dogs.@count`.
  func total(of names: [String], at position: Int) throws(PredicateSyntaxError) -> Side? {
    let operators = ["@count"] + CollectionAggregate.allCases.map(\.rawValue)
    guard let index = names.firstIndex(where: operators.contains) else { return nil }
    let (before, after) = (Array(names[..<index]), Array(names[(index + 1)...]))
    guard !before.isEmpty, !after.contains(where: operators.contains),
      names[index] != "@count" || after.isEmpty
    else {
      throw lexer.error(
        at: position,
        "\(names[index]) must follow a collection, once in a path, and @count must be last")
    }
    guard let aggregate = CollectionAggregate(rawValue: names[index]) else {
      return .count(located(before))
    }
    return .collection(located(before + after)) { .aggregate(aggregate, $0, $1) }
  }
}

/// BETWEEN, for a property, an aggregate, or any element.
extension PredicateParser {
  /// After ANY: one element is within both bounds.
  mutating func anyBetween(
    _ path: [String], at first: Int
  ) throws(PredicateSyntaxError) -> Predicate {
    let second = start
    let (low, high) = try bounds()
    let condition = CollectionCondition(path, .anyWithin(low, high, isClosed: true))
    return try noted(.collection(condition), first, second)
  }

  private mutating func bounds() throws(PredicateSyntaxError) -> (Value, Value) {
    let position = start
    let bounds = try list("BETWEEN")
    guard bounds.count == 2 else {
      throw lexer.error(at: position, "expected two values after BETWEEN, found \(bounds.count)")
    }
    return (bounds[0], bounds[1])
  }

  mutating func between(
    _ side: Side, at first: Int
  ) throws(PredicateSyntaxError) -> Predicate {
    let second = start
    let (low, high) = try bounds()
    let predicate: Predicate
    switch side {
    case .operand(let operand): predicate = .between(operand, .value(low), .value(high))
    case .count(let path): predicate = .between(path, low, high) { .count($0, $1) }
    case .collection(let path, let test): predicate = .between(path, low, high, test)
    }
    for term in predicate.terms { note(term, first, second) }
    return predicate
  }
}

extension Predicate {
  /// An aggregate is between two values.
  fileprivate static func between(
    _ path: [String], _ low: Value, _ high: Value,
    _ test: (ComparisonOperator, Operand) -> CollectionCondition.Test
  ) -> Predicate {
    .and([
      .collection(CollectionCondition(path, test(.greaterOrEqual, .value(low)))),
      .collection(CollectionCondition(path, test(.lessOrEqual, .value(high)))),
    ])
  }

  fileprivate var terms: [Predicate] {
    if case .and(let terms) = self { terms } else { [self] }
  }
}

/// The operands of IN other than a property and a list of constants.
extension PredicateParser {
  /// After IN, a list with objects that are compared member by member; nil if something else is
  /// next.
  private mutating func objects() throws(PredicateSyntaxError) -> [Operand]? {
    guard token == .placeholder("@"), let objects = arguments.objects() else { return nil }
    try advance()
    return objects
  }

  /// After `path IN`, or after `ANY path IN` with another condition on the path's values.
  mutating func isOneOfObjects(
    _ path: Operand?, _ condition: (Operand, Operand) -> Predicate?
  ) throws(PredicateSyntaxError) -> Predicate? {
    guard let path, let objects = try objects() else { return nil }
    return .any(objects.compactMap { condition(path, $0) })
  }

  /// After `dogs.@count IN`.
  mutating func isOneOfNumbers(
    _ condition: (Value) -> CollectionCondition
  ) throws(PredicateSyntaxError) -> Predicate {
    .any(try list("IN").map { .collection(condition($0)) })
  }
}

extension Predicate {
  fileprivate static func any(_ terms: [Predicate]) -> Predicate {
    terms.isEmpty ? .constant(false) : terms.count == 1 ? terms[0] : .or(terms)
  }
}
