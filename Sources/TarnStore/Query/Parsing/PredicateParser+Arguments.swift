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
