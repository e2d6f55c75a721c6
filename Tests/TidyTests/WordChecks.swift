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

  /// Where the compiler's checks are switched off, a comment says why that is right.
  static func reasonsForUnchecked(_ file: SourceFile) -> [Finding] {
    guard file.isSwift else { return [] }
    return file.code.indices.compactMap { number in
      let line = file.code[number]
      guard line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") else {
        return nil
      }
      if hasReason(file, number) { return nil }
      return Finding(file, number + 1, "no comment with 'because' here or right above")
    }
  }

  private static func hasReason(_ file: SourceFile, _ number: Int) -> Bool {
    func isReason(_ line: String) -> Bool {
      guard let comment = line.firstRange(of: "//") else { return false }
      return words(in: String(line[comment.upperBound...])).contains { $0.word == "because" }
    }
    if isReason(file.lines[number]) { return true }
    var above = number - 1
    while above >= 0, file.lines[above].drop(while: { $0 == " " }).hasPrefix("//") {
      if isReason(file.lines[above].lowercased()) { return true }
      above -= 1
    }
    return false
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
      "API", "CONTRACT", "DESIGN", "DEVELOPERS", "DIFFS", "PLATFORM", "ROADMAP", "SPEC", "STORAGE",
      "STYLE", "TARGETS",
    ].map { $0 + ".md" }
    let mentions = papers + [".." + "/shared", "/wo" + "rk/", "SP" + "EC S", "SP" + "EC §"]
    return file.lines.enumerated().flatMap { number, line in
      mentions.filter(line.contains).map {
        Finding(file, number + 1, "mentions '\($0)', which is not part of the project")
      }
    }
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
