extension Bool {
  private static let spellings: [String: Bool] = [
    "true": true, "t": true, "yes": true, "y": true, "on": true, "1": true,
    "false": false, "f": false, "no": false, "n": false, "off": false, "0": false,
  ]

  /// Parses the usual spellings of a Boolean, in any case: the words of PostgreSQL, without
  /// abbreviations of them.
  package init?(spelling text: String) {
    // No spelling is longer; not every string needs a lower-case copy.
    guard text.utf8.count <= 5, let value = Self.spellings[text.lowercased()] else { return nil }
    self = value
  }
}
