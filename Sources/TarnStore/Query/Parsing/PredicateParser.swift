/// Parses a predicate string: `age > 30 AND (name BEGINSWITH[c] 'a' OR owner.city == NULL)`.
///
///     predicate  = conjunction { (OR | ||) conjunction }
///     conjunction = negation { (AND | &&) negation }
///     negation   = { NOT | ! } primary
///     primary    = TRUEPREDICATE | FALSEPREDICATE | "(" predicate ")" | comparison
///                | ( ANY | SOME | NONE ) comparison
///     comparison = operand operator [ flags ] operand
///                | operand IN [ flags ] list
///                | operand BETWEEN list
///                | path ( IN | GEOWITHIN ) shape
///                | ( literal | path ) IN path
///                | path ".@count" IN list
///                | "SUBQUERY" "(" path "," "$" word "," predicate ")" ".@count" operator operand
///     flags      = "[c]" | "[d]" | "[cd]"
///     list       = "{" [ literal { "," literal } ] "}" | "%@"
///     operand    = literal | "$" word | [ "$" word "." ] path [ ".@count" ] | "%K"
///                | path "." ( "@min" | "@max" | "@sum" | "@avg" ) { "." name }
///     path       = name { step } { "." name { step } }
///     step       = "[" ( text | number | "FIRST" | "LAST" | "#any" | "%K" ) "]"
///     literal    = number | text | data | TRUE | FALSE | NULL | "%@" | "%d" | "%f" | ...
///
/// Keywords ignore case; a property named like a keyword needs a `#` in front, and one whose name
/// has characters other than letters, digits and `_` needs back quotes, as in `PathText`. Dates,
/// object ids and UUIDs are quoted strings: binding distinguishes them by the property's type. Data
/// is `X'0a0b'`. A placeholder takes the next argument, a value that is never parsed, except for
/// `%K`, a name or a path. The parser does not use a schema.
package struct PredicateParser {
  /// The maximum nesting of parentheses and negations: the parser and the functions on the tree are
  /// recursive.
  package static let depthMax = 100

  var lexer: PredicateLexer
  var token: PredicateToken = .end
  var start = 0
  private var depth = 0
  var arguments: PredicateArguments
  /// Converts paths to their names in the predicate.
  let renamed: ([String]) -> [String]
  /// Whether the objects that a path of the file leads to have a property with a name.
  private let isProperty: (_ name: String, _ path: [String]) -> Bool
  var conditions: [ParsedPredicate.Condition] = []
  /// The objects of enclosing SUBQUERYs, the innermost last.
  var subjects: [(variable: String, path: [String])] = []

  /// Parses a whole string without placeholders.
  package static func parse(_ text: String) throws(PredicateSyntaxError) -> Predicate {
    try parse(text, []).predicate
  }

  /// Parses a whole string.
  ///
  /// - Parameters:
  ///   - arguments: one for each placeholder, in order.
  ///   - renamed: converts a path in the string to its names in the file.
  ///   - isProperty: whether the objects that a path of the file leads to have a property with that
  /// name; a `%K` argument with such a name is not parsed as a path.
  package static func parse(
    _ text: String, _ arguments: [PredicateArgument],
    renamed: @escaping ([String]) -> [String] = { $0 },
    isProperty: @escaping (_ name: String, _ path: [String]) -> Bool = { _, _ in false }
  ) throws(PredicateSyntaxError) -> ParsedPredicate {
    var parser = PredicateParser(PredicateLexer(text), arguments, renamed, isProperty)
    try parser.advance()
    let predicate = try parser.disjunction()
    guard parser.token == .end else { throw parser.expected("AND, OR or the end") }
    if let message = parser.arguments.tooMany {
      throw parser.lexer.error(at: parser.start, message)
    }
    return ParsedPredicate(predicate: predicate, conditions: parser.conditions, lexer: parser.lexer)
  }

  private init(
    _ lexer: PredicateLexer, _ arguments: [PredicateArgument],
    _ renamed: @escaping ([String]) -> [String],
    _ isProperty: @escaping (_ name: String, _ path: [String]) -> Bool
  ) {
    self.lexer = lexer
    self.arguments = PredicateArguments(arguments)
    self.renamed = renamed
    self.isProperty = isProperty
  }

  mutating func advance() throws(PredicateSyntaxError) {
    (token, start) = try lexer.next()
  }

  func expected(_ what: String) -> PredicateSyntaxError {
    lexer.error(
      at: start,
      token.refusal ?? "expected \(what), found \(token.found)\(token.advice(for: what))")
  }

  /// Skips the token if it is one of the words or symbols.
  mutating func take(_ words: String...) throws(PredicateSyntaxError) -> Bool {
    switch token {
    case .keyword(let word) where words.contains(word): break
    case .symbol(let symbol) where words.contains(symbol): break
    default: return false
    }
    try advance()
    return true
  }

  mutating func demand(_ symbol: String, _ what: String) throws(PredicateSyntaxError) {
    guard try take(symbol) else { throw expected(what) }
  }

  mutating func nested(
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

  mutating func disjunction() throws(PredicateSyntaxError) -> Predicate {
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
    if try take("ANY", "SOME") { return try quantified() }
    if try take("NONE") { return .not(try quantified()) }
    guard token == .symbol("(") else { return try comparison() }
    return try nested { (parser) throws(PredicateSyntaxError) in
      try parser.advance()
      let inner = try parser.disjunction()
      try parser.demand(")", "AND, OR or ')'")
      return inner
    }
  }

  private mutating func comparison() throws(PredicateSyntaxError) -> Predicate {
    let first = start
    let left = try side()
    if try take("BETWEEN") { return try between(left, at: first) }
    let isGeo = token.isGeoWithin
    guard let op = token.comparisonOperator else { throw expected(PredicateToken.anOperator) }
    try advance()
    let options = try stringOptions()
    let second = start
    let isSubject = !subjects.isEmpty && token == .symbol("$")
    if op == .in, !isGeo, left.isConstant || left.isPath && !token.isShape,
      token.isPath || isSubject, case .operand(let path) = try side()
    {
      let condition = Predicate.any(path, .equal, left.operand, options)
      return left.isConstant
        ? try noted(condition, first, second) : try noted(condition, second, first)
    }
    if op == .in, !isGeo, options.isEmpty {
      if let total = left.total {
        return try noted(try isOneOfNumbers { total(.equal, .value($0)) }, first, second)
      }
      if let found = try isOneOfObjects(left.operand, { .comparison(Comparison($0, .equal, $1)) }) {
        return try noted(found, first, second)
      }
    }
    let right = op == .in ? Side.operand(try container(isGeo: isGeo)) : try side()
    if case (.operand(let left), .operand(let right)) = (left, right) {
      return try noted(.comparison(Comparison(left, op, right, options)), first, second)
    }
    guard options.isEmpty, let mirrored = op.mirrored else { throw needsNumber(left, at: first) }
    if case .operand(let number) = right, number.isValueOrPath, let total = left.total {
      return try noted(.collection(total(op, number)), first, second)
    }
    if case .operand(let number) = left, number.isValueOrPath, let total = right.total {
      return try noted(.collection(total(mirrored, number)), first, second)
    }
    throw needsNumber(left, at: first)
  }

  private func needsNumber(_ side: Side, at position: Int) -> PredicateSyntaxError {
    let what = if case .collection = side { "a collection operator" } else { "@count" }
    return lexer.error(
      at: position,
      "compare \(what) with a number or a property by ==, !=, <, <=, > or >=, or by IN"
    )
  }

  /// The condition after ANY or NONE.
  private mutating func quantified() throws(PredicateSyntaxError) -> Predicate {
    let first = start
    if token.comparisonOperator != nil {
      throw lexer.error(
        at: first,
        "expected a property that is a collection, found \(token.found): write '#' before a "
          + "property with a name like ANY")
    }
    let left = try side()
    switch left {
    case .operand(.path), .count: break
    case .operand, .collection:
      throw lexer.error(at: first, "expected a collection, or a property of its elements")
    }
    if case .operand(.path(let path)) = left, try take("BETWEEN") {
      return try anyBetween(path, at: first)
    }
    let isGeo = token.isGeoWithin
    guard let op = token.comparisonOperator else { throw expected(PredicateToken.anOperator) }
    try advance()
    let options = try stringOptions()
    let second = start
    if case .count(let path) = left {
      if op == .in, !isGeo, options.isEmpty {
        let found = try isOneOfNumbers { CollectionCondition(path, .anyCount(.equal, $0)) }
        return try noted(found, first, second)
      }
      guard op.mirrored != nil, options.isEmpty, case .operand(.value(let number)) = try side()
      else {
        throw lexer.error(
          at: first, "compare ANY @count with a number by ==, !=, <, <=, > or >=, or by IN")
      }
      return try noted(
        .collection(CollectionCondition(path, .anyCount(op, number))), first, second)
    }
    guard let path = left.operand else { throw expected("a property") }
    if op == .in, !isGeo, options.isEmpty,
      let found = try isOneOfObjects(path, { .any($0, .equal, $1, []) })
    {
      return try noted(found, first, second)
    }
    let right = op == .in ? try container(isGeo: isGeo) : try side().operand
    guard let right else {
      throw lexer.error(at: second, "a condition through a collection needs a value or a property")
    }
    return try noted(.any(path, op, right, options), first, second)
  }

  /// Records the position of a condition.
  mutating func noted(
    _ predicate: Predicate?, _ left: Int, _ right: Int
  ) throws(PredicateSyntaxError) -> Predicate {
    guard let predicate else { throw lexer.error(at: left, "expected a value and a property") }
    note(predicate, left, right)
    return predicate
  }

  mutating func note(_ predicate: Predicate, _ left: Int, _ right: Int) {
    conditions.append(
      ParsedPredicate.Condition(
        predicate: predicate, left: left, right: right,
        subject: subjects.last.map { renamed($0.path) } ?? []))
  }

  /// One side of a comparison.
  enum Side {
    case operand(Operand)
    /// The number of elements of the collection at that path.
    case count([String])
    /// Another aggregate of the collection, to be compared with a number.
    case collection([String], (ComparisonOperator, Operand) -> CollectionCondition.Test)

    var operand: Operand? {
      if case .operand(let operand) = self { operand } else { nil }
    }

    /// Compares an aggregate.
    var total: ((ComparisonOperator, Operand) -> CollectionCondition)? {
      switch self {
      case .operand: nil
      case .count(let path): { CollectionCondition(path, .count($0, $1)) }
      case .collection(let path, let test): { CollectionCondition(path, test($0, $1)) }
      }
    }

    var isConstant: Bool {
      switch self {
      case .operand(.value), .operand(.members): true
      default: false
      }
    }

    var isPath: Bool { if case .operand(.path) = self { true } else { false } }
  }

  private mutating func stringOptions() throws(PredicateSyntaxError) -> StringOptions {
    guard try take("[") else { return [] }
    guard case .name(let flags) = token, let options = Self.options[flags.lowercased()] else {
      throw expected("'c' to ignore case, 'd' to ignore diacritics, or 'cd'")
    }
    try advance()
    try demand("]", "']'")
    return options
  }

  private static let options: [String: StringOptions] = [
    "c": .caseInsensitive, "d": .diacriticInsensitive,
    "cd": [.caseInsensitive, .diacriticInsensitive],
    "dc": [.caseInsensitive, .diacriticInsensitive],
  ]

  private mutating func side() throws(PredicateSyntaxError) -> Side {
    if subjects.isEmpty, try take("SELF") { return .operand(.path([])) }
    if token == .placeholder("@"), let members = arguments.members() {
      try advance()
      return .operand(members)
    }
    if try take("SUBQUERY") { return try subquery() }
    guard try takeVariable() else { return .operand(.path([])) }
    let first = start
    let isArgument = token == .placeholder("K")
    guard var names = try pathParts() else {
      if let value = try literal() { return .operand(.value(value)) }
      throw expected(PredicateToken.anOperand)
    }
    if isArgument, let side = try total(of: names, at: first) { return side }
    while true {
      if let step = try valueStep() {
        names.append(step.name)
        continue
      }
      guard try take(".") else { break }
      if try take("@count") { return .count(located(names)) }
      if let aggregate = try self.aggregate() {
        while try take(".") { names += try nextParts(behind: names) }
        return .collection(located(names)) { .aggregate(aggregate, $0, $1) }
      }
      names += try nextParts(behind: names)
    }
    return .operand(.path(located(names)))
  }

  mutating func nextParts(behind names: [String]) throws(PredicateSyntaxError) -> [String] {
    guard let names = try pathParts(behind: names) else { throw expected("a property after '.'") }
    return names
  }

  private mutating func aggregate() throws(PredicateSyntaxError) -> CollectionAggregate? {
    guard case .symbol(let symbol) = token, let found = CollectionAggregate(rawValue: symbol) else {
      return nil
    }
    try advance()
    return found
  }

  /// A path with its names in the file.
  func located(_ names: [String]) -> [String] {
    guard let subject = subjects.last else { return renamed(names) }
    return Array(renamed(subject.path + names).dropFirst(subject.path.count))
  }

  /// A name or its replacement: backlinks, the keys or values of a map, or the names in an
  /// argument.
  mutating func pathParts(
    behind before: [String] = []
  ) throws(PredicateSyntaxError) -> [String]? {
    switch token {
    case .name(let name), .quotedName(let name):
      try advance()
      return [name]
    case .placeholder("K"):
      let text = try argument { (all) throws(PredicateArguments.Mistake) in try all.path() }
      let isName = isProperty(text, renamed((subjects.last?.path ?? []) + before))
      return isName ? [text] : PathText.names(in: text)
    case .symbol(let symbol)
    where [CollectionCondition.mapKeys, CollectionCondition.mapValues]
      .contains(CollectionCondition.marker + symbol):
      try advance()
      return [CollectionCondition.marker + symbol]
    case .symbol("@links"):
      try advance()
      var names: [String] = []
      for _ in 0..<2 {
        guard try take("."), let name = token.propertyName else {
          throw expected("a class and a property of it, as in @links.Person.dogs")
        }
        names.append(name)
        try advance()
      }
      return [BacklinkName(origin: names[0], property: names[1]).name]
    default: return nil
    }
  }

  /// The argument of the next placeholder.
  mutating func argument<R>(
    _ taken: (inout PredicateArguments) throws(PredicateArguments.Mistake) -> R
  ) throws(PredicateSyntaxError) -> R {
    let result: R
    do throws(PredicateArguments.Mistake) {
      result = try taken(&arguments)
    } catch {
      throw lexer.error(at: start, error.message)
    }
    try advance()
    return result
  }

  mutating func literal() throws(PredicateSyntaxError) -> Value? {
    if case .value(let value) = token {
      try advance()
      return value
    }
    if case .placeholder(let kind) = token, kind != "K" {
      return try argument { (all) throws(PredicateArguments.Mistake) in try all.value(kind) }
    }
    if try take("TRUE", "YES") { return .bool(true) }
    if try take("FALSE", "NO") { return .bool(false) }
    if try take("NULL", "NIL") { return .null }
    return nil
  }

  mutating func list(_ word: String) throws(PredicateSyntaxError) -> [Value] {
    if token == .placeholder("@") {
      return try argument { (all) throws(PredicateArguments.Mistake) in try all.values(word) }
    }
    try demand("{", "'{' and a list of values")
    var values: [Value] = []
    if try take("}") { return values }
    repeat {
      guard let value = try literal() else { throw expected("a value") }
      values.append(value)
    } while try take(",")
    try demand("}", "',' or '}'")
    return values
  }
}

extension Predicate {
  /// Nil if the left side is not a path.
  fileprivate static func any(
    _ path: Operand, _ op: ComparisonOperator, _ right: Operand?, _ options: StringOptions
  ) -> Predicate? {
    guard case .path(let path) = path, let right else { return nil }
    return .collection(CollectionCondition(path, .any(op, right, options)))
  }
}
