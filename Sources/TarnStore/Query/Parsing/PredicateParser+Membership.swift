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
