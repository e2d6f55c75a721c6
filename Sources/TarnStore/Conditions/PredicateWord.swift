/// What is a word in the text of a predicate, and which words are no names of properties there.
enum PredicateWord {
  /// Names of properties only behind a `#`. Some have no meaning yet; they are taken already, so
  /// that a text that works today means the same later.
  static let reserved: Set<String> = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES",
    "TRUE", "FALSE", "YES", "NO", "NULL", "NIL", "TRUEPREDICATE", "FALSEPREDICATE", "ANY", "SOME",
    "ALL", "NONE", "SUBQUERY", "SELF",
  ]

  static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  static func isPart(_ byte: UInt8) -> Bool {
    isDigit(byte) || byte == UInt8(ascii: "_") || byte >= 0x80
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// True for a name that can stand without back quotes.
  static func isWord(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy(isPart)
  }

  /// True for a word that means a shape behind a property and IN, and nothing elsewhere.
  static func isShape(_ name: String) -> Bool {
    ["GEOBOX", "GEOCIRCLE", "GEOPOLYGON"].contains(name.uppercased())
  }
}
