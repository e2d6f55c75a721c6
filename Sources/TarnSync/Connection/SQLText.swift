/// Names and texts as SQL writes them.
package enum SQLText {
  /// A name in double quotes, so that its case counts.
  package static func name(_ name: String) -> String {
    "\"" + name.replacing("\"", with: "\"\"") + "\""
  }

  /// A text in single quotes, for servers with standard strings, as all are since 9.1.
  package static func literal(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
  }

  /// Texts as the value of a `text[]` parameter.
  package static func array(_ texts: [String]) -> String {
    let items = texts.map { text in
      "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
    return "{" + items.joined(separator: ",") + "}"
  }
}
