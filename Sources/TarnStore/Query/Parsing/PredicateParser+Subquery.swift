/// `SUBQUERY(dogs, $x, $x.age > 3 AND $x.name != 'Rex').@count >= 2`: the number of objects in a
/// collection that match a condition. Inside it every path begins with the variable, which alone
/// denotes an element that is not an object: `SUBQUERY(scores, $x, $x > 3).@count >= 2`.
extension PredicateParser {
  /// Parses the rest after the word itself.
  mutating func subquery() throws(PredicateSyntaxError) -> Operand {
    try demand("(", "'(' and a collection")
    let path = try subqueryPath()
    try demand(",", "',' and a variable")
    let variable = try declaration()
    try demand(",", "',' and a condition")
    subjects.append((variable, (subjects.last?.path ?? []) + path))
    let predicate = try nested { (parser) throws(PredicateSyntaxError) in
      try parser.disjunction()
    }
    subjects.removeLast()
    try demand(")", "AND, OR or ')'")
    guard try take("."), try take("@count") else {
      throw expected("'.@count' after the SUBQUERY")
    }
    return .figure(located(path), .matching(predicate))
  }

  private mutating func subqueryPath() throws(PredicateSyntaxError) -> Path {
    guard try takeVariable() else { throw expected("'.' and a property that is a collection") }
    guard var path = try pathPart() else { throw expected("a property that is a collection") }
    while true {
      if let step = try valueStep() {
        path.append(.element(step))
      } else if try take(".") {
        path += try nextPart(behind: path)
      } else {
        return path
      }
    }
  }

  private mutating func declaration() throws(PredicateSyntaxError) -> String {
    guard try take("$"), case .name(let name) = token else {
      throw expected("a variable such as $x")
    }
    try advance()
    return name
  }

  /// Skips the variable at the start of a path in a SUBQUERY.
  ///
  /// - Returns: false if nothing follows, which means the element itself.
  mutating func takeVariable() throws(PredicateSyntaxError) -> Bool {
    let position = start
    guard token == .symbol("$") else {
      guard let subject = subjects.last, token.isPath else { return true }
      throw lexer.error(
        at: position, "inside SUBQUERY every path starts with $\(subject.variable)")
    }
    let name = try declaration()
    guard let subject = subjects.last else {
      throw lexer.error(at: position, "$\(name) is allowed only inside a SUBQUERY")
    }
    guard subject.variable == name else {
      throw lexer.error(
        at: position, "inside SUBQUERY every path starts with $\(subject.variable)")
    }
    return try take(".")
  }
}
