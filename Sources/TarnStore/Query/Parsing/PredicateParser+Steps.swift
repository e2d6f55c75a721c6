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
  /// The figure in a path for `%K` that has a collection operator: `dogs.@count`.
  func figure(in path: Path, at position: Int) throws(PredicateSyntaxError) -> Operand? {
    let operators = ["@count"] + CollectionAggregate.allCases.map(\.rawValue)
    func isOperator(_ step: PathStep) -> Bool { operators.contains { step == .property($0) } }
    guard let index = path.firstIndex(where: isOperator), case .property(let name) = path[index]
    else { return nil }
    let (before, after) = (Array(path[..<index]), Array(path[(index + 1)...]))
    guard !before.isEmpty, !after.contains(where: isOperator), name != "@count" || after.isEmpty
    else {
      throw lexer.error(
        at: position,
        "\(name) must follow a collection, once in a path, and @count must be last")
    }
    guard let aggregate = CollectionAggregate(rawValue: name) else {
      return .figure(located(before), .count)
    }
    return .figure(located(before + after), .aggregate(aggregate))
  }
}

/// BETWEEN, for a property, a figure, or any element.
extension PredicateParser {
  /// After ANY: one element is within both bounds.
  mutating func anyBetween(
    _ elements: Operand, at first: Int
  ) throws(PredicateSyntaxError) -> Predicate {
    let second = start
    let (low, high) = try bounds()
    let range = Operand.range(low, high, isClosed: true)
    return noted(.comparison(Comparison(elements, .in, range, quantifier: .any)), first, second)
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
    _ left: Operand, at first: Int
  ) throws(PredicateSyntaxError) -> Predicate {
    let second = start
    let (low, high) = try bounds()
    let terms = [
      Predicate.comparison(Comparison(left, .greaterOrEqual, .value(low))),
      .comparison(Comparison(left, .lessOrEqual, .value(high))),
    ]
    return .and(terms.map { noted($0, first, second) })
  }
}

/// The operands of IN other than a property and a list of constants.
extension PredicateParser {
  /// After `path IN`, with another condition on the path's values; nil if a list with objects that
  /// are compared member by member is not next.
  mutating func isOneOfObjects(
    _ condition: (Operand) -> Predicate
  ) throws(PredicateSyntaxError) -> Predicate? {
    guard token == .placeholder("@"), let objects = arguments.objects() else { return nil }
    try advance()
    return .any(objects.map(condition))
  }

  /// After `dogs.@count IN`.
  mutating func isOneOfNumbers(
    _ condition: (Value) -> Predicate
  ) throws(PredicateSyntaxError) -> Predicate {
    .any(try list("IN").map(condition))
  }
}

extension Predicate {
  fileprivate static func any(_ terms: [Predicate]) -> Predicate {
    terms.isEmpty ? .constant(false) : terms.count == 1 ? terms[0] : .or(terms)
  }
}
