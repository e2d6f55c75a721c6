import TarnStore

/// Names and texts as SQL writes them.
///
/// The server reads bytes. A quote beside U+0301 or U+200D is a part of another `Character`, so
/// nothing here looks at characters.
package enum SQLText {
  /// The longest name in PostgreSQL, in bytes. It cuts longer ones, and two may become one.
  static let nameBytesMax = 63

  /// A name in double quotes, so that its case counts.
  package static func name(_ name: String) -> String { "\"" + doubled(name, "\"") + "\"" }

  /// A text in single quotes. It means the same whether `standard_conforming_strings` is on or off:
  /// a function's body is parsed with the setting of the login that calls it.
  package static func literal(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "\\")) else { return standardLiteral(text) }
    return "E'" + doubled(text, "'\\") + "'"
  }

  /// A text in single quotes for where `standard_conforming_strings` is on.
  static func standardLiteral(_ text: String) -> String { "'" + doubled(text, "'") + "'" }

  /// Texts as the value of a `text[]` parameter.
  package static func array(_ texts: [String]) -> String {
    let items = texts.map { text in
      "\"" + text.replacingASCII { $0 == "\\" ? "\\\\" : $0 == "\"" ? "\\\"" : nil } + "\""
    }
    return "{" + items.joined(separator: ",") + "}"
  }

  /// The dollar quote before and after a function's body that has this text in it.
  static func quote(around text: String) -> String {
    let bytes = Array(text.utf8)
    var (tag, number) = ("$tarn$", 0)
    // Its beginning alone would do: then no place in the text can be mistaken for the end.
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
