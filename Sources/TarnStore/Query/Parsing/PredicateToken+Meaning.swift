extension PredicateToken {
  var comparisonOperator: ComparisonOperator? {
    switch self {
    case .symbol("=="), .symbol("="): .equal
    case .symbol("!="), .symbol("<>"): .notEqual
    case .symbol("<"): .less
    case .symbol("<="), .symbol("=<"): .lessOrEqual
    case .symbol(">"): .greater
    case .symbol(">="), .symbol("=>"): .greaterOrEqual
    case .keyword("CONTAINS"): .contains
    case .keyword("BEGINSWITH"): .beginsWith
    case .keyword("ENDSWITH"): .endsWith
    case .keyword("LIKE"): .like
    case .keyword("IN"): .in
    case _ where isGeoWithin: .in
    default: nil
    }
  }

  /// The word is an operator only in that position; elsewhere it is the name of a property.
  var isGeoWithin: Bool {
    if case .name(let name) = self { name.uppercased() == "GEOWITHIN" } else { false }
  }

  /// Nil for a token that is not a name.
  var propertyName: String? {
    switch self {
    case .name(let name), .quotedName(let name): name
    default: nil
    }
  }

  /// True for the start of a path.
  var isPath: Bool {
    switch self {
    case .name, .quotedName, .placeholder("K"), .keyword("SELF"), .symbol("@links"): true
    default: false
    }
  }

  /// The word has that meaning only after a property and IN.
  var isShape: Bool {
    if case .name(let name) = self { PredicateWord.isShape(name) } else { false }
  }

  /// The name of this token in an error.
  var found: String {
    switch self {
    case .name(let name), .quotedName(let name): "'\(name)'"
    case .keyword(let word): word
    case .value(let value): value.predicateText
    case .symbol(let symbol): "'\(symbol)'"
    case .placeholder(let kind): "%\(kind)"
    case .end: "the end"
    }
  }

  static let anOperator = "a comparison operator"
  static let anOperand = "a property or a value"

  /// Operators of other languages.
  private static let synonyms = [
    "STARTSWITH": "BEGINSWITH", "STARTS": "BEGINSWITH", "ENDS": "ENDSWITH", "ILIKE": "LIKE[c]",
    "IS": "==", "EQUALS": "==", "EQ": "==",
  ]
  private static let operatorWords = [
    "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "BETWEEN", "GEOWITHIN",
  ]

  /// A suggestion for a token in a place where something else was expected.
  func advice(for expected: String) -> String {
    switch self {
    case .name(let word) where expected == Self.anOperator:
      let meant =
        Self.synonyms[word.uppercased()] ?? nearestName(to: word, among: Self.operatorWords)
      return meant.map { ": write \($0)" } ?? ""
    case .keyword(let word) where expected == Self.anOperand:
      return ["AND", "OR", "NOT"].contains(word)
        ? "" : ": write '#' before a property of that name"
    case .symbol("=") where expected == Self.anOperand: return ": write equality as =="
    default: return ""
    }
  }

  /// The error for a token that is unsupported, or misplaced here.
  var refusal: String? {
    switch self {
    case .keyword("MATCHES"): "MATCHES is not supported: use LIKE with * and ?"
    case .keyword("ALL"):
      "ALL is not supported: write NONE and the opposite, or compare @min or @max"
    case .symbol(let symbol) where CollectionAggregate(rawValue: symbol) != nil:
      "\(symbol) must follow a collection, once in a path: dogs.\(symbol).age, or ages.\(symbol)"
    case .symbol(let symbol) where symbol.beginsWithBytes(of: "@"):
      "\(symbol) is not supported: for collections use ANY, NONE, IN, SUBQUERY, @count, @min, "
        + "@max, @sum and @avg"
    default: nil
    }
  }
}
