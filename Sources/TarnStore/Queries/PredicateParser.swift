/// Reads the text of a predicate: `age > 30 AND (name BEGINSWITH[c] 'a' OR owner.city == NULL)`.
///
///     predicate  = conjunction { (OR | ||) conjunction }
///     conjunction = negation { (AND | &&) negation }
///     negation   = { NOT | ! } primary
///     primary    = TRUEPREDICATE | FALSEPREDICATE | "(" predicate ")" | comparison
///     comparison = operand operator [ "[c]" ] operand
///                | operand IN "{" [ literal { "," literal } ] "}"
///                | operand BETWEEN "{" literal "," literal "}"
///     operand    = literal | name { "." name }
///
/// Keywords are free of case; a property named like one is written behind a `#`. Dates, object
/// ids and UUIDs are quoted text: resolving tells them apart by the property's type. Data is
/// `X'0a0b'`. Nothing is looked up in a schema here.
package struct PredicateParser {
  /// How deep parentheses and negations may nest: the reader and those who walk the tree recurse.
  package static let depthMax = 100

  private var lexer: PredicateLexer
  private var token: PredicateToken = .end
  private var start = 0
  private var depth = 0

  /// Reads a whole text.
  package static func parse(_ text: String) throws(PredicateSyntaxError) -> Predicate {
    var parser = PredicateParser(lexer: PredicateLexer(text))
    try parser.advance()
    let predicate = try parser.disjunction()
    guard parser.token == .end else { throw parser.expected("AND, OR or the end") }
    return predicate
  }

  private init(lexer: PredicateLexer) { self.lexer = lexer }

  private mutating func advance() throws(PredicateSyntaxError) {
    (token, start) = try lexer.next()
  }

  private func expected(_ what: String) -> PredicateSyntaxError {
    lexer.error(at: start, "expected \(what), found \(token.found)")
  }

  /// Steps over the token if it is one of the words or symbols.
  private mutating func take(_ words: String...) throws(PredicateSyntaxError) -> Bool {
    switch token {
    case .keyword(let word) where words.contains(word): break
    case .symbol(let symbol) where words.contains(symbol): break
    default: return false
    }
    try advance()
    return true
  }

  private mutating func require(_ symbol: String, _ what: String) throws(PredicateSyntaxError) {
    guard try take(symbol) else { throw expected(what) }
  }

  private mutating func nested(
    _ body: (inout PredicateParser) throws(PredicateSyntaxError) -> Predicate
  ) throws(PredicateSyntaxError) -> Predicate {
    depth += 1
    guard depth <= Self.depthMax else {
      throw lexer.error(at: start, "nested deeper than \(Self.depthMax) levels")
    }
    let predicate = try body(&self)
    depth -= 1
    return predicate
  }

  private mutating func disjunction() throws(PredicateSyntaxError) -> Predicate {
    var terms = [try conjunction()]
    while try take("OR", "||") { terms.append(try conjunction()) }
    return terms.count == 1 ? terms[0] : .or(terms)
  }

  private mutating func conjunction() throws(PredicateSyntaxError) -> Predicate {
    var terms = [try negation()]
    while try take("AND", "&&") { terms.append(try negation()) }
    return terms.count == 1 ? terms[0] : .and(terms)
  }

  private mutating func negation() throws(PredicateSyntaxError) -> Predicate {
    if try take("NOT", "!") {
      return try nested { (parser) throws(PredicateSyntaxError) in .not(try parser.negation()) }
    }
    if try take("TRUEPREDICATE") { return .constant(true) }
    if try take("FALSEPREDICATE") { return .constant(false) }
    guard token == .symbol("(") else { return try comparison() }
    return try nested { (parser) throws(PredicateSyntaxError) in
      try parser.advance()
      let inner = try parser.disjunction()
      try parser.require(")", "AND, OR or ')'")
      return inner
    }
  }

  private mutating func comparison() throws(PredicateSyntaxError) -> Predicate {
    let left = try operand()
    if try take("BETWEEN") {
      let position = start
      let bounds = try list()
      guard bounds.count == 2 else {
        throw lexer.error(
          at: position, "expected two values after BETWEEN, found \(bounds.count)")
      }
      return .between(left, .value(bounds[0]), .value(bounds[1]))
    }
    guard let op = comparisonOperator else { throw expected("a comparison operator") }
    try advance()
    let options = try stringOptions()
    if op == .in {
      return .comparison(Comparison(left, op, .values(try list()), options))
    }
    return .comparison(Comparison(left, op, try operand(), options))
  }

  private var comparisonOperator: ComparisonOperator? {
    switch token {
    case .symbol("=="), .symbol("="): .equal
    case .symbol("!="), .symbol("<>"): .notEqual
    case .symbol("<"): .less
    case .symbol("<="), .symbol("=<"): .lessOrEqual
    case .symbol(">"): .greater
    case .symbol(">="), .symbol("=>"): .greaterOrEqual
    case .keyword("CONTAINS"): .contains
    case .keyword("BEGINSWITH"): .beginsWith
    case .keyword("ENDSWITH"): .endsWith
    case .keyword("IN"): .in
    default: nil
    }
  }

  private mutating func stringOptions() throws(PredicateSyntaxError) -> StringOptions {
    guard try take("[") else { return [] }
    guard case .name(let flags) = token, flags.lowercased() == "c" else {
      throw expected("'c' for a comparison without regard to case")
    }
    try advance()
    try require("]", "']'")
    return .caseInsensitive
  }

  private mutating func operand() throws(PredicateSyntaxError) -> Operand {
    guard case .name(let first) = token else {
      if let value = try literal() { return .value(value) }
      throw expected("a property or a value")
    }
    var names = [first]
    try advance()
    while try take(".") {
      guard case .name(let name) = token else { throw expected("a property after '.'") }
      names.append(name)
      try advance()
    }
    return .path(names)
  }

  private mutating func literal() throws(PredicateSyntaxError) -> Value? {
    if case .value(let value) = token {
      try advance()
      return value
    }
    if try take("TRUE", "YES") { return .bool(true) }
    if try take("FALSE", "NO") { return .bool(false) }
    if try take("NULL", "NIL") { return .null }
    return nil
  }

  private mutating func list() throws(PredicateSyntaxError) -> [Value] {
    try require("{", "'{' and a list of values")
    var values: [Value] = []
    if try take("}") { return values }
    repeat {
      guard let value = try literal() else { throw expected("a value") }
      values.append(value)
    } while try take(",")
    try require("}", "',' or '}'")
    return values
  }
}

extension PredicateToken {
  /// How an error names this token.
  fileprivate var found: String {
    switch self {
    case .name(let name): "'\(name)'"
    case .keyword(let word): word
    case .value(let value): value.predicateText
    case .symbol(let symbol): "'\(symbol)'"
    case .end: "the end"
    }
  }
}
