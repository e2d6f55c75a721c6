/// Quotes, commas, slashes and other marks of formats are bytes. A `Character` may have more: a
/// quote before U+0301 is another one than a quote, and so is a line feed behind a CR. Code that
/// looks for characters does not see these, and what it quotes, splits or tests is wrong.
enum CharacterChecks {
  /// Where characters are right, with the reason.
  static let allowed = [
    (
      path: "Sources/Tarn/Query/Querying/Query+Unavailable.swift",
      reason: "declares names to refuse them"
    ),
    (path: "Tools/tarn-bench/", reason: "reads what its own programs print"),
    (path: "Tools/tarn-stress/", reason: "reads what its own programs print"),
    (path: "Tools/first-program/", reason: "shows what people write"),
    (path: "Tools/ToolSupport/BenchPages.swift", reason: "reads the project's own pages"),
  ]

  private static let always: Set<Substring> = [
    "hasPrefix", "hasSuffix", "trimmingCharacters", "replacingOccurrences", "components",
  ]
  /// With a literal behind them.
  private static let withLiteral = [
    ".split(separator: ", ".firstIndex(of: ", ".lastIndex(of: ", ".range(of: ", ".firstRange(of: ",
    ".ranges(of: ", ".replacing(", ".contains(", ".starts(with: ", ".trimmingPrefix(",
  ]

  static func noMarksByCharacter(_ file: SourceFile) -> [Finding] {
    guard file.isSwift, !file.path.hasPrefix("Tests/"),
      !allowed.contains(where: { file.path.hasPrefix($0.path) })
    else { return [] }
    return file.code.enumerated().flatMap { number, code in
      (calls(code) + callsWithLiteral(code, file.lines[number])).map {
        Finding(
          file, number + 1,
          "\($0) compares characters; the functions in String+ASCII.swift compare bytes")
      }
    }
  }

  private static func calls(_ code: String) -> [String] {
    words(in: code).compactMap { word, end in
      always.contains(word) && code[end...].first == "(" ? String(word) : nil
    }
  }

  private static func callsWithLiteral(_ code: String, _ line: String) -> [String] {
    withLiteral.filter { call in
      guard let place = line.firstRange(of: call + "\""), code.contains(call) else { return false }
      // A view of scalars or bytes has no characters.
      return !["unicodeScalars", "utf8"].contains { line[..<place.lowerBound].hasSuffix($0) }
    }
  }
}
