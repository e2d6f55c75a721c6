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

/// The words of a filter string, and those that are not names of properties there.
enum PredicateWord {
  /// These are names of properties only after a `#`. Some have no meaning yet; they are reserved so
  /// that a string that works today keeps its meaning.
  static let reserved: Set<String> = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES",
    "TRUE", "FALSE", "YES", "NO", "NULL", "NIL", "TRUEPREDICATE", "FALSEPREDICATE", "ANY", "SOME",
    "ALL", "NONE", "SUBQUERY", "SELF",
  ]

  static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  static func isPart(_ byte: UInt8) -> Bool {
    isDigit(byte) || byte == UInt8(ascii: "_") || byte >= 0x80
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// True for a name that can be written without back quotes.
  static func isWord(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy(isPart)
  }

  /// True for a word that denotes a shape after a property and IN, and nothing elsewhere.
  static func isShape(_ name: String) -> Bool {
    ["GEOBOX", "GEOCIRCLE", "GEOPOLYGON"].contains(name.uppercased())
  }
}
