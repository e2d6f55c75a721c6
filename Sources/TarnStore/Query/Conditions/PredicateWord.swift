/// The words of a filter string, and those that are not names of properties there.
enum PredicateWord {
  /// These are names of properties only after a `#`. Some have no meaning yet; they are reserved so
  /// that a string that works today keeps its meaning.
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

  /// True for a name that can be written without back quotes.
  static func isWord(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy(isPart)
  }

  /// True for a word that denotes a shape after a property and IN, and nothing elsewhere.
  static func isShape(_ name: String) -> Bool {
    ["GEOBOX", "GEOCIRCLE", "GEOPOLYGON"].contains(name.uppercased())
  }
}
