import TarnStore

/// Names and texts in SQL syntax.
///
/// The server reads bytes. A quote followed by U+0301 or U+200D is part of another `Character`, so
/// this code never compares characters.
package enum SQLText {
  /// The longest name in PostgreSQL, in bytes. It truncates longer ones, so that two may become
  /// equal.
  static let nameBytesMax = 63

  /// A name in double quotes, so that its case counts.
  package static func name(_ name: String) -> String { "\"" + doubled(name, "\"") + "\"" }

  /// A name with the name of its schema before it, if it has a dot.
  static func qualifiedName(_ name: String) -> String {
    name.splitASCII(".").map { self.name(String($0)) }.joined(separator: ".")
  }

  /// A text in single quotes. It means the same whether `standard_conforming_strings` is on or off:
  /// a function's body is parsed with the setting of the login that calls it.
  package static func literal(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "\\")) else { return standardLiteral(text) }
    return "E'" + doubled(text, "'\\") + "'"
  }

  /// A text in single quotes, for use with `standard_conforming_strings` on.
  static func standardLiteral(_ text: String) -> String { "'" + doubled(text, "'") + "'" }

  /// Texts as the value of a `text[]` parameter.
  package static func array(_ texts: [String]) -> String {
    let items = texts.map { text in
      "\"" + text.replacingASCII { $0 == "\\" ? "\\\\" : $0 == "\"" ? "\\\"" : nil } + "\""
    }
    return "{" + items.joined(separator: ",") + "}"
  }

  /// The dollar quote around the body of a function that contains this text.
  static func quote(around text: String) -> String {
    let bytes = Array(text.utf8)
    var (tag, number) = ("$tarn$", 0)
    // Its beginning suffices: then no position in the text can be mistaken for the end.
    while bytes.firstRange(of: Array(tag.utf8.dropLast())) != nil {
      number += 1
      tag = "$tarn\(number)$"
    }
    return tag
  }

  private static func doubled(_ text: String, _ marks: String) -> String {
    text.replacingASCII { marks.unicodeScalars.contains($0) ? "\($0)\($0)" : nil }
  }
}
