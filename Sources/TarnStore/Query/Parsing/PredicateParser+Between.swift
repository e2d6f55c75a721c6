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
