extension Predicate: CustomStringConvertible {
  /// The condition in the language that `PredicateParser` reads.
  package var description: String { text() }

  /// - Parameter subject: the variable that stands for the object; empty for the queried one.
  fileprivate func text(of subject: String = "") -> String {
    switch self {
    case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): comparison.text(of: subject)
    case .and(let terms): Self.joined(terms, subject, " AND ", empty: "TRUEPREDICATE")
    case .or(let terms): Self.joined(terms, subject, " OR ", empty: "FALSEPREDICATE")
    case .not(let term): "NOT " + term.grouped(subject)
    }
  }

  private static func joined(
    _ terms: [Predicate], _ subject: String, _ word: String, empty: String
  ) -> String {
    terms.isEmpty ? empty : terms.map { $0.grouped(subject) }.joined(separator: word)
  }

  private func grouped(_ subject: String) -> String {
    switch self {
    case .constant, .comparison: text(of: subject)
    case .and, .or, .not: "(\(text(of: subject)))"
    }
  }
}

extension Comparison: CustomStringConvertible {
  package var description: String { text() }

  fileprivate func text(of subject: String = "") -> String {
    let left = left.text(of: subject)
    switch (quantifier, right) {
    case (.all, .range(let low, let high, let isClosed)):
      return "(\(left).@min >= \(low.predicateText) AND "
        + "\(left).@max \(isClosed ? "<=" : "<") \(high.predicateText))"
    case (_, .range): return "\(prefix)\(left) BETWEEN \(right.text(of: subject))"
    default: return "\(prefix)\(left) \(op)\(options.suffix) \(right.text(of: subject))"
    }
  }

  private var prefix: String {
    switch quantifier {
    case nil: ""
    case .any: "ANY "
    case .all: "ALL "
    }
  }
}

extension ComparisonOperator: CustomStringConvertible {
  package var description: String {
    switch self {
    case .equal: "=="
    case .notEqual: "!="
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    case .contains: "CONTAINS"
    case .beginsWith: "BEGINSWITH"
    case .endsWith: "ENDSWITH"
    case .like: "LIKE"
    case .in: "IN"
    }
  }
}

extension Operand: CustomStringConvertible {
  package var description: String { text() }

  fileprivate func text(of subject: String = "") -> String {
    switch self {
    case .path(let path): path.text(of: subject)
    case .figure(let path, .count): path.text(of: subject) + ".@count"
    case .figure(let path, .aggregate(let aggregate)):
      "\(path.text(of: subject)).\(aggregate.rawValue)"
    case .figure(let path, .matching(let predicate)):
      "SUBQUERY(\(path.text(of: subject)), $x, \(predicate.text(of: "$x"))).@count"
    case .value(let value): value.predicateText
    case .values(let values): "{" + values.map(\.predicateText).joined(separator: ", ") + "}"
    case .range(let low, let high, let isClosed):
      "{\(low.predicateText), \(high.predicateText)\(isClosed ? "}" : "} without the second")"
    case .members(let name, let members): "(an object of class '\(name)' with \(members))"
    case .shape(let shape): shape.description
    }
  }
}
