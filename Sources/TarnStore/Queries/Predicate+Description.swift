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
    guard PredicateLexer.isWord(name) else { return PathText.quoted(name) }
    let isTaken =
      PredicateLexer.reservedWords.contains(name.uppercased()) || PredicateToken.isShape(name)
      || name.utf8.first.map(PredicateLexer.isDigit) == true
    return isTaken ? "#" + name : name
  }
}

extension Value {
  /// The value as a literal of the predicate language. Dates, ids and UUIDs are quoted text,
  /// links the target's key; the type of the property tells them from strings and integers.
  package var predicateText: String {
    switch self {
    case .null: "NULL"
    case .int(let value): String(value)
    case .bool(let value): value ? "TRUE" : "FALSE"
    case .float(let value): "\(Double(value))"
    case .double(let value): "\(value)"
    case .string(let text): Self.quoted(text)
    case .data(let bytes): "X'" + bytes.map { Self.hexadecimal(UInt64($0), 2) }.joined() + "'"
    case .date(let date): "\"\(date.iso8601)\""
    case .objectID(let id): "\"\(id.hexadecimal)\""
    case .uuid(let uuid): "\"\(uuid.uuidText)\""
    case .link(let key), .object(_, let key): String(key.rawValue)
    case .decimal(let cell): Self.decimalText(DecimalNumber(cell))
    case .list(let id), .map(let id): "#\(id.rawValue)"
    }
  }

  private static func decimalText(_ value: DecimalNumber) -> String {
    let text = value.text
    guard value.isFinite else { return "\"\(text)\"" }
    // Not an integer: that would be exact even to a double.
    return Int64(text) == nil ? text : text + ".0"
  }

  static func hexadecimal(_ value: UInt64, _ digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\0"..<" ": result += "\\u" + hexadecimal(UInt64(scalar.value), 4)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
