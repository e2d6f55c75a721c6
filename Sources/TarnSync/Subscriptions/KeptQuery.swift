/// A query as the file stores it: the SQL condition for the rows that it selects. Two queries are
/// equal if their bytes are: "é" in two forms is two strings to the server.
struct KeptQuery: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
  let text: String

  init(_ text: String) { self.text = text }
  init(stringLiteral text: String) { self.text = text }

  /// The query for all objects.
  static let everything = KeptQuery(Subscription.everything)

  static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

  static func < (a: Self, b: Self) -> Bool {
    a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }

  /// The condition, with its strings and names quoted for any server.
  ///
  /// - Returns: nil for a string in which a quote is part of a larger character. Earlier versions
  ///   did not double such a quote, so the string may mean anything.
  var condition: SQLCondition? {
    let (quote, apostrophe) = (UInt8(ascii: "\""), UInt8(ascii: "'"))
    let isDoubtful = text.contains { character in
      character.utf8.count > 1
        && character.utf8.contains { $0 == quote || $0 == apostrophe }
    }
    if isDoubtful { return nil }
    var (sql, rest): ([UInt8], ArraySlice<UInt8>) = ([], Array(text.utf8)[...])
    while let byte = rest.popFirst() {
      guard byte == quote || byte == apostrophe else {
        sql.append(byte)
        continue
      }
      guard let quoted = Self.takeQuoted(&rest, byte) else { return nil }
      sql += (byte == quote ? SQLText.name(quoted) : SQLText.literal(quoted)).utf8
    }
    return SQLCondition(sql: String(decoding: sql, as: UTF8.self))
  }

  /// Reads a text up to its closing quote, which is doubled within the text; nil without one.
  private static func takeQuoted(_ rest: inout ArraySlice<UInt8>, _ mark: UInt8) -> String? {
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == mark {
        guard rest.first == mark else { return String(decoding: bytes, as: UTF8.self) }
        rest.removeFirst()
      }
      bytes.append(byte)
    }
    return nil
  }
}
