/// A function with a body: which lines it takes, from its first line to its closing brace.
struct FunctionSpan: Equatable {
  let name: String
  let first: Int
  let last: Int
  var count: Int { last - first + 1 }
}

/// Finds functions by counting braces in code without comments and literals: a heuristic, right
/// for code that the formatter has laid out.
struct FunctionFinder {
  private let letters: [Character]
  private let lineOf: [Int]

  private init(_ code: [String]) {
    var letters: [Character] = []
    var lineOf: [Int] = []
    for (number, line) in code.enumerated() {
      letters += line
      letters.append("\n")
      lineOf += Array(repeating: number + 1, count: line.count + 1)
    }
    self.letters = letters
    self.lineOf = lineOf
  }

  static func functions(in file: SourceFile) -> [FunctionSpan] {
    if file.isSwift { return FunctionFinder(file.code).swiftFunctions() }
    return CDeclaration.all(in: file).compactMap { declaration in
      declaration.last.map {
        FunctionSpan(name: declaration.name, first: declaration.line, last: $0)
      }
    }
  }

  private func swiftFunctions() -> [FunctionSpan] {
    var spans: [FunctionSpan] = []
    var position = 0
    while position < letters.count {
      guard isWordPart(letters[position]) else {
        position += 1
        continue
      }
      let start = position
      while position < letters.count, isWordPart(letters[position]) { position += 1 }
      let word = String(letters[start..<position])
      // `.init(` is a call.
      if start > 0, letters[start - 1] == "." { continue }
      guard ["func", "init", "deinit", "subscript", "var"].contains(word),
        let brace = bodyStart(after: position, isProperty: word == "var"),
        let end = matchingBrace(from: brace)
      else { continue }
      let rest = letters[position..<brace].drop { $0 == " " }
      let name =
        word == "func" || word == "var" ? String(rest.prefix { !"(<: ".contains($0) }) : word
      spans.append(FunctionSpan(name: name, first: lineOf[start], last: lineOf[end]))
    }
    return spans
  }

  /// Where the body's brace is; nil for a declaration without a body, or a stored property.
  private func bodyStart(after start: Int, isProperty: Bool) -> Int? {
    var depth = 0
    var position = start
    while position < letters.count {
      let letter = letters[position]
      switch letter {
      case "(", "[": depth += 1
      case ")", "]":
        depth -= 1
        if depth < 0 { return nil }
      case "{" where depth == 0: return position
      case "}" where depth == 0: return nil
      case "=" where depth == 0 && isProperty: return nil
      case "\n" where depth == 0:
        if !goesOn(afterLineEndingAt: position) { return nil }
      default: break
      }
      position += 1
    }
    return nil
  }

  /// Whether a declaration continues in the next line.
  private func goesOn(afterLineEndingAt end: Int) -> Bool {
    let next = letters[(end + 1)...].drop { $0 == " " || $0 == "\n" }.prefix(8)
    let starts = ["{", "->", "where ", "throws", "async", "rethrows"]
    if starts.contains(where: { String(next).hasPrefix($0) }) { return true }
    var last = end - 1
    while last >= 0, letters[last] == " " { last -= 1 }
    return last >= 0 && (letters[last] == "," || letters[last] == "&")
  }

  private func matchingBrace(from brace: Int) -> Int? {
    var depth = 0
    for position in brace..<letters.count {
      if letters[position] == "{" { depth += 1 }
      if letters[position] == "}" { depth -= 1 }
      if depth == 0 { return position }
    }
    return nil
  }
}
