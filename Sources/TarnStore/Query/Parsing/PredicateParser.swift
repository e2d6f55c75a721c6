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
  let renamed: (Path) -> Path
  /// Whether the objects that a path of the file leads to have a property with a name.
  private let isProperty: (_ name: String, _ path: Path) -> Bool
  var conditions: [ParsedPredicate.Condition] = []
  /// The objects of enclosing SUBQUERYs, the innermost last.
  var subjects: [(variable: String, path: Path)] = []

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
    renamed: @escaping (Path) -> Path = { $0 },
    isProperty: @escaping (_ name: String, _ path: Path) -> Bool = { _, _ in false }
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
    _ renamed: @escaping (Path) -> Path,
    _ isProperty: @escaping (_ name: String, _ path: Path) -> Bool
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
    let left = try operand()
    if try take("BETWEEN") { return try between(left, at: first) }
    let isGeo = token.isGeoWithin
    guard let op = token.comparisonOperator else { throw expected(PredicateToken.anOperator) }
    try advance()
    let options = try stringOptions()
    let second = start
    if op == .in, !isGeo {
      if let found = try isAmong(left, options, first) { return found }
      if options.isEmpty, let found = try isOne(left, first, second) { return found }
    }
    let right = op == .in ? try container(isGeo: isGeo) : try operand()
    let comparison = Comparison(left, op, right, options)
    guard left.isFigure || right.isFigure else {
      return noted(.comparison(comparison), first, second)
    }
    guard options.isEmpty, let mirrored = op.mirrored else { throw needsNumber(left, at: first) }
    if left.isFigure, right.isValueOrPath { return noted(.comparison(comparison), first, second) }
    if right.isFigure, left.isValueOrPath {
      return noted(.comparison(Comparison(right, mirrored, left)), first, second)
    }
    throw needsNumber(left, at: first)
  }

  /// After `value IN` or `path IN`, a path to a collection; nil if something else is next.
  private mutating func isAmong(
    _ left: Operand, _ options: StringOptions, _ first: Int
  ) throws(PredicateSyntaxError) -> Predicate? {
    let second = start
    let isSubject = !subjects.isEmpty && token == .symbol("$")
    guard left.isConstant || left.isPath && !token.isShape, token.isPath || isSubject else {
      return nil
    }
    guard case .path(let path) = try operand() else {
      throw lexer.error(at: second, "IN needs a list of values, or a collection")
    }
    let some = Predicate.any(path, .equal, left, options)
    return left.isConstant ? noted(some, first, second) : noted(some, second, first)
  }

  /// After `path IN` or `figure IN`, a list that is compared one by one; nil for others.
  private mutating func isOne(
    _ left: Operand, _ first: Int, _ second: Int
  ) throws(PredicateSyntaxError) -> Predicate? {
    if left.isFigure {
      let found = try isOneOfNumbers { .comparison(Comparison(left, .equal, .value($0))) }
      return noted(found, first, second)
    }
    let found = try isOneOfObjects { .comparison(Comparison(left, .equal, $0)) }
    return found.map { noted($0, first, second) }
  }

  private func needsNumber(_ left: Operand, at position: Int) -> PredicateSyntaxError {
    let what =
      switch left {
      case .figure(_, .aggregate), .figure(_, .matching): "a collection operator"
      default: "@count"
      }
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
    let left = try operand()
    switch left {
    case .path, .figure(_, .count): break
    default: throw lexer.error(at: first, "expected a collection, or a property of its elements")
    }
    if left.isPath, try take("BETWEEN") { return try anyBetween(left, at: first) }
    let isGeo = token.isGeoWithin
    guard let op = token.comparisonOperator else { throw expected(PredicateToken.anOperator) }
    try advance()
    let options = try stringOptions()
    let second = start
    if left.isFigure {
      return noted(try anyCount(left, op, options, isGeo: isGeo, first), first, second)
    }
    if op == .in, !isGeo, options.isEmpty,
      let found = try isOneOfObjects({ .comparison(Comparison(left, .equal, $0, quantifier: .any)) }
      )
    {
      return noted(found, first, second)
    }
    let right = op == .in ? try container(isGeo: isGeo) : try operand()
    guard !right.isFigure else {
      throw lexer.error(at: second, "a condition through a collection needs a value or a property")
    }
    return noted(
      .comparison(Comparison(left, op, right, options, quantifier: .any)), first, second)
  }

  /// After ANY, the number of elements of a collection inside another.
  private mutating func anyCount(
    _ count: Operand, _ op: ComparisonOperator, _ options: StringOptions, isGeo: Bool, _ first: Int
  ) throws(PredicateSyntaxError) -> Predicate {
    if op == .in, !isGeo, options.isEmpty {
      return try isOneOfNumbers {
        .comparison(Comparison(count, .equal, .value($0), quantifier: .any))
      }
    }
    guard op.mirrored != nil, options.isEmpty, case .value(let number) = try operand() else {
      throw lexer.error(
        at: first, "compare ANY @count with a number by ==, !=, <, <=, > or >=, or by IN")
    }
    return .comparison(Comparison(count, op, .value(number), quantifier: .any))
  }

  /// Records the position of a condition.
  mutating func noted(_ predicate: Predicate, _ left: Int, _ right: Int) -> Predicate {
    conditions.append(
      ParsedPredicate.Condition(
        predicate: predicate, left: left, right: right,
        subject: subjects.last.map { renamed($0.path) } ?? []))
    return predicate
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

  private mutating func operand() throws(PredicateSyntaxError) -> Operand {
    if subjects.isEmpty, try take("SELF") { return .path([]) }
    if token == .placeholder("@"), let members = arguments.members() {
      try advance()
      return members
    }
    if try take("SUBQUERY") { return try subquery() }
    guard try takeVariable() else { return .path([]) }
    let first = start
    let isArgument = token == .placeholder("K")
    guard var path = try pathPart() else {
      if let value = try literal() { return .value(value) }
      throw expected(PredicateToken.anOperand)
    }
    if isArgument, let figure = try figure(in: path, at: first) { return figure }
    while true {
      if let step = try valueStep() {
        path.append(.element(step))
        continue
      }
      guard try take(".") else { break }
      if try take("@count") { return .figure(located(path), .count) }
      if let aggregate = try self.aggregate() {
        while try take(".") { path += try nextPart(behind: path) }
        return .figure(located(path), .aggregate(aggregate))
      }
      path += try nextPart(behind: path)
    }
    return .path(located(path))
  }

  mutating func nextPart(behind path: Path) throws(PredicateSyntaxError) -> Path {
    guard let part = try pathPart(behind: path) else { throw expected("a property after '.'") }
    return part
  }

  private mutating func aggregate() throws(PredicateSyntaxError) -> CollectionAggregate? {
    guard case .symbol(let symbol) = token, let found = CollectionAggregate(rawValue: symbol) else {
      return nil
    }
    try advance()
    return found
  }

  /// A path with its names in the file.
  func located(_ path: Path) -> Path {
    guard let subject = subjects.last else { return renamed(path) }
    return Array(renamed(subject.path + path).dropFirst(subject.path.count))
  }

  /// A property, backlinks, the keys or values of a map, or the path in an argument.
  mutating func pathPart(
    behind before: Path = []
  ) throws(PredicateSyntaxError) -> Path? {
    switch token {
    case .name(let name), .quotedName(let name):
      try advance()
      return [.property(name)]
    case .placeholder("K"):
      let text = try argument { (all) throws(PredicateArguments.Mistake) in try all.path() }
      let isName = isProperty(text, renamed((subjects.last?.path ?? []) + before))
      return isName ? [.property(text)] : Path(text: text)
    case .symbol("@allKeys"):
      try advance()
      return [.keys]
    case .symbol("@allValues"):
      try advance()
      return [.values]
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
      return [.backlinks(origin: names[0], property: names[1])]
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

extension Operand {
  fileprivate var isFigure: Bool { if case .figure = self { true } else { false } }

  fileprivate var isPath: Bool { if case .path = self { true } else { false } }

  fileprivate var isConstant: Bool {
    switch self {
    case .value, .members: true
    default: false
    }
  }
}
