/// Words that must not stand somewhere, and words that must.
enum WordChecks {
  /// Tests wait for what happens, not for time to pass.
  static func noSleepInTests(_ file: SourceFile) -> [Finding] {
    guard file.path.hasPrefix("Tests/") else { return [] }
    let forbidden: Set<Substring> = ["sleep", "usleep", "nanosleep"]
    return file.code.enumerated().flatMap { number, line in
      words(in: line).compactMap { word, end in
        guard forbidden.contains(word), line[end...].first == "(" else { return nil }
        return Finding(file, number + 1, "a test waits for time to pass")
      }
    }
  }

  /// All tests begin at once, and a limit of time also counts how long a test waits for a thread:
  /// on a busy machine that is longer than the test itself takes. So a limit only ends a test that
  /// hangs.
  static func limitsOnlyEndWhatHangs(_ file: SourceFile) -> [Finding] {
    guard file.path.hasPrefix("Tests/") else { return [] }
    return file.code.enumerated().compactMap { number, line in
      guard let limit = line.firstRange(of: ".timeLimit("),
        !line[limit.upperBound...].hasPrefix(".minutes(30))")
      else { return nil }
      return Finding(
        file, number + 1, "a time limit other than 30 minutes: waiting for a thread counts too")
    }
  }

  /// Where the compiler's checks are switched off, a comment says why that is right.
  static func reasonsForUnchecked(_ file: SourceFile) -> [Finding] {
    guard file.isSwift else { return [] }
    return file.code.indices.compactMap { number in
      let line = file.code[number]
      guard line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") else {
        return nil
      }
      if hasReason(file, number) { return nil }
      return Finding(file, number + 1, "no comment with 'because' here, right above or below")
    }
  }

  private static func hasReason(_ file: SourceFile, _ number: Int) -> Bool {
    func isReason(_ line: String) -> Bool {
      guard let comment = line.firstRange(of: "//") else { return false }
      let text = line[comment.upperBound...].lowercased()
      return words(in: text).contains { $0.word == "because" }
    }
    func isComment(_ index: Int) -> Bool {
      file.lines.indices.contains(index)
        && file.lines[index].drop { $0 == " " }.hasPrefix("//")
    }
    var near = [number]
    var above = number - 1
    while isComment(above) {
      near.append(above)
      above -= 1
    }
    // Below, only inside what the line opens: else the comment belongs to something else.
    var below = number + 1
    while file.code[number].hasSuffix("{"), isComment(below) {
      near.append(below)
      below += 1
    }
    return near.contains { isReason(file.lines[$0]) }
  }

  /// What a program can name is explained where it is declared. Operators, names that start with
  /// an underscore and what a protocol of the standard library asks for explain themselves.
  static func documentedPublic(_ file: SourceFile) -> [Finding] {
    guard file.isSwift, file.module == "Sources/Tarn" else { return [] }
    return file.code.indices.compactMap { number in
      guard let name = publicName(file.code[number]), !isSelfExplaining(name) else { return nil }
      var above = number - 1
      while above >= 0, file.code[above].drop(while: { $0 == " " }).hasPrefix("@") { above -= 1 }
      if above >= 0, file.lines[above].drop(while: { $0 == " " }).hasPrefix("///") { return nil }
      return Finding(file, number + 1, "\(name) is public and has no documentation comment")
    }
  }

  /// The name that a line declares for everybody, or nil.
  private static func publicName(_ line: String) -> String? {
    let kinds: Set<Substring> = [
      "struct", "class", "enum", "protocol", "actor", "typealias", "associatedtype", "func", "var",
      "let", "init", "subscript",
    ]
    let parts = words(in: line)
    guard let access = parts.firstIndex(where: { $0.word == "public" || $0.word == "open" }),
      !parts.contains(where: { ["import", "extension", "override"].contains($0.word) }),
      let kind = parts[access...].lastIndex(where: { part in
        kinds.contains(part.word) && isDeclaring(part.word, line, part.end)
      })
    else { return nil }
    let word = String(parts[kind].word)
    if word == "init" || word == "subscript" { return word }
    let rest = line[parts[kind].end...].drop { $0 == " " }
    return String(rest.prefix { isWordPart($0) || $0 == "`" })
  }

  /// `class func` declares a function; a kind inside a parameter list declares nothing.
  private static func isDeclaring(_ word: Substring, _ line: String, _ end: String.Index) -> Bool {
    !line[..<end].contains("(") || line[..<end].contains("(set)")
      || line[..<end].drop { $0 == " " }.hasPrefix("@")
  }

  private static func isSelfExplaining(_ name: String) -> Bool {
    let asked: Set<String> = [
      "description", "debugDescription", "hash", "makeIterator", "next", "startIndex", "endIndex",
      "index", "encode", "errorDescription", "Element", "Index", "Iterator",
    ]
    return name.isEmpty || name.hasPrefix("_") || asked.contains(name)
  }

  /// `localizedDescription` of an error is the sentence of `LocalizedError`, without which
  /// Foundation makes one of the type's name.
  static func sentencesOfErrors(_ files: [SourceFile]) -> [Finding] {
    let sources = files.filter { $0.isSwift && $0.path.hasPrefix("Sources/") }
    let localized = sources.flatMap(\.code).compactMap { line in
      line.firstMatch(of: /extension (?:\w+\.)?(\w+): .*LocalizedError/).map { String($0.1) }
    }
    return sources.flatMap { file in
      file.code.indices.compactMap { number -> Finding? in
        let place = file.code[number...].prefix(3).joined(separator: " ").prefix { $0 != "{" }
        let declaration = /\s*public (?:struct|enum|(?:final )?class) (\w+):(.*)/
        guard file.code[number].contains("public "),
          let found = place.prefixMatch(of: declaration),
          found.2.contains(/\bError\b/), !found.2.contains("LocalizedError"),
          !localized.contains(String(found.1))
        else { return nil }
        return Finding(file, number + 1, "\(found.1) is no LocalizedError")
      }
    }
  }

  /// Traps speak in optimized builds too: they go through `trap` and `require`.
  static func trapsSpeak(_ file: SourceFile) -> [Finding] {
    guard file.isSwift, file.path.hasPrefix("Sources/"), !file.path.hasSuffix("/Trap.swift") else {
      return []
    }
    let silent: Set<Substring> = ["precondition", "preconditionFailure", "fatalError"]
    return file.code.enumerated().flatMap { number, line in
      words(in: line).compactMap { word, end in
        guard silent.contains(word), line[end...].first == "(" else { return nil }
        return Finding(file, number + 1, "\(word): traps go through trap() and require()")
      }
    }
  }

  /// What is left to do belongs where it is tracked.
  static func noMarkers(_ file: SourceFile) -> [Finding] {
    // In pieces, or this file would find itself.
    let markers: Set<Substring> = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
    return file.lines.enumerated().flatMap { number, line in
      words(in: line).filter { markers.contains($0.word) }.map {
        Finding(file, number + 1, "a marker for work left: \($0.word)")
      }
    }
  }

  /// The tree explains itself: no mention of papers that do not come with it.
  static func noForeignPapers(_ file: SourceFile) -> [Finding] {
    let papers = [
      "API", "CONTRACT", "DESIGN", "DEVELOPERS", "DIF" + "FS", "PLATFORM", "ROADMAP", "SPEC",
      "STORAGE",
      "STYLE", "TARGETS",
    ].map { $0 + ".md" }
    let mentions = papers + [".." + "/shared", "/wo" + "rk/", "SP" + "EC S", "SP" + "EC §"]
    return file.lines.enumerated().flatMap { number, line in
      mentions.filter(line.contains).map {
        Finding(file, number + 1, "mentions '\($0)', which is not part of the project")
      }
    }
  }

  /// Numbered rules of papers that do not come with the project, such as an S and a number: the
  /// comment or the name of a test states the rule itself.
  static func noForeignCodes(_ file: SourceFile) -> [Finding] {
    file.lines.enumerated().flatMap { number, line in
      words(in: line).filter { isForeignCode($0.word) }.map {
        Finding(file, number + 1, "the code '\($0.word)' is explained nowhere: state the rule")
      }
    }
  }

  private static func isForeignCode(_ word: Substring) -> Bool {
    let isDecimal = word.dropFirst().utf8.allSatisfy { (48...57).contains($0) }
    return word.first == "S" && word.count > 1 && isDecimal || word == "DIF" + "FS"
  }

  /// Every C function of ours is explained, where it is declared or where it is defined.
  static func commentsOnC(_ files: [SourceFile]) -> [Finding] {
    let ours = files.filter { $0.module == "Sources/CTarn" }
    var explained: Set<String> = []
    var first: [(SourceFile, CDeclaration)] = []
    for file in ours {
      for declaration in CDeclaration.all(in: file) {
        if declaration.hasComment { explained.insert(declaration.name) }
        first.append((file, declaration))
      }
    }
    return first.compactMap { file, declaration in
      if explained.contains(declaration.name) { return nil }
      return Finding(file, declaration.line, "no comment above \(declaration.name)")
    }
  }
}
