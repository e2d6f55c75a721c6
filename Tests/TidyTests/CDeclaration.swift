/// A C function that a file declares or defines.
struct CDeclaration {
  let name: String
  /// Where it begins.
  let line: Int
  /// Where its body ends; nil for a prototype.
  let last: Int?
  /// Whether the line before it belongs to a comment, or to another function that has one: one
  /// comment explains a group that no blank line parts.
  let hasComment: Bool

  /// The functions at the top level of a file.
  static func all(in file: SourceFile) -> [CDeclaration] {
    var scanner = Scanner(file: file)
    for number in file.code.indices { scanner.read(number) }
    return scanner.found
  }

  private struct Scanner {
    let file: SourceFile
    var found: [CDeclaration] = []
    private var head = ""
    private var headLine = 0
    private var depth = 0
    private var parens = 0
    private var pending: (name: String, line: Int)?
    private var inDirective = false
    /// Where the last explained function ends.
    private var explainedThrough = 0

    init(file: SourceFile) { self.file = file }

    mutating func read(_ number: Int) {
      let line = file.code[number]
      if inDirective || line.drop(while: { $0 == " " }).hasPrefix("#") {
        inDirective = line.hasSuffix("\\")
        return
      }
      for letter in line { step(letter, number + 1) }
      if depth == 0 { head += " " }
    }

    private mutating func step(_ letter: Character, _ line: Int) {
      switch letter {
      case "(": parens += 1
      case ")": parens -= 1
      default: break
      }
      switch letter {
      case "{" where parens == 0:
        if depth == 0 { pending = functionName().map { ($0, headLine) } }
        depth += 1
      case "}" where parens == 0:
        depth -= 1
        if depth == 0 { close(line) }
      case ";" where depth == 0:
        if let name = functionName() { add(name, headLine, nil, through: line) }
        head = ""
      default:
        guard depth == 0 else { return }
        if head.allSatisfy({ $0 == " " }), letter != " " {
          head = ""
          headLine = line
        }
        head.append(letter)
      }
    }

    private mutating func close(_ line: Int) {
      if let pending { add(pending.name, pending.line, line, through: line) }
      pending = nil
      // What follows a struct's brace, up to the semicolon, begins a new head; harmless.
      head = ""
    }

    private mutating func add(_ name: String, _ line: Int, _ last: Int?, through end: Int) {
      let above = line >= 2 ? file.lines[line - 2].drop { $0 == " " } : ""
      let continuesGroup = explainedThrough > 0 && explainedThrough == line - 1
      let hasComment = above.hasPrefix("//") || above.hasSuffix("*/") || continuesGroup
      if hasComment { explainedThrough = end }
      found.append(CDeclaration(name: name, line: line, last: last, hasComment: hasComment))
    }

    /// The name before the parameters, if the head is a function's.
    private func functionName() -> String? {
      let first = words(in: head).first?.word ?? ""
      if ["struct", "enum", "union"].contains(first), !head.contains("(") { return nil }
      if first == "typedef" || first == "_Static_assert" || head.contains("=") { return nil }
      // Attributes have parentheses of their own, and names that no function has.
      let named = words(in: head).filter { word in
        let next = head[word.end...].first { $0 != " " }
        return next == "(" && !attributes.contains(String(word.word))
      }
      return named.first.map { String($0.word) }
    }

    private let attributes: Set<String> = [
      "__attribute__", "_Alignas", "aligned", "nonnull", "section",
    ]
  }
}
