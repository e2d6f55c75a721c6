extension Predicate: CustomStringConvertible {
  /// The condition in the language that `PredicateParser` reads.
  package var description: String {
    switch self {
    case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): comparison.description
    case .and(let terms): Self.joined(terms, " AND ", empty: "TRUEPREDICATE")
    case .or(let terms): Self.joined(terms, " OR ", empty: "FALSEPREDICATE")
    case .not(let term): "NOT " + Self.grouped(term)
    case .collection(let condition): condition.description
    }
  }

  private static func joined(_ terms: [Predicate], _ word: String, empty: String) -> String {
    terms.isEmpty ? empty : terms.map(grouped).joined(separator: word)
  }

  private static func grouped(_ term: Predicate) -> String {
    switch term {
    case .constant, .comparison, .collection: term.description
    case .and, .or, .not: "(\(term))"
    }
  }
}

extension Comparison: CustomStringConvertible {
  package var description: String {
    "\(left) \(op)\(options.suffix) \(right)"
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
  package var description: String {
    switch self {
    case .path([]): "SELF"
    case .path(let names): Self.text(of: names)
    case .value(let value): value.predicateText
    case .values(let values): "{" + values.map(\.predicateText).joined(separator: ", ") + "}"
    case .members(let name, let members): "(an object of class '\(name)' with \(members))"
    case .shape(let shape): shape.description
    }
  }

  private static func text(of names: [String]) -> String {
    names.reduce(into: "") { text, name in
      if let step = ValueStep(name) {
        text += step.description
      } else {
        text += (text.isEmpty ? "" : ".") + written(name)
      }
    }
  }

  private static func written(_ name: String) -> String {
    if let links = BacklinkName(name) {
      return "@links.\(written(links.origin)).\(written(links.property))"
    }
    if let text = CollectionCondition.text(of: name) { return text }
    guard PredicateWord.isWord(name) else { return PathText.quoted(name) }
    let isTaken =
      PredicateWord.reserved.contains(name.uppercased()) || PredicateWord.isShape(name)
      || name.utf8.first.map(PredicateWord.isDigit) == true
    return isTaken ? "#" + name : name
  }
}
