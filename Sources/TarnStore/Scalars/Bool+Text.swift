extension Bool {
  private static let spellings: [String: Bool] = [
    "true": true, "t": true, "yes": true, "y": true, "on": true, "1": true,
    "false": false, "f": false, "no": false, "n": false, "off": false, "0": false,
  ]

  /// Reads what people and tools write for a Boolean, in any case of letters: the words that
  /// PostgreSQL takes, without their beginnings.
  package init?(spelling text: String) {
    // No spelling is longer; not every text needs a copy in lower case.
    guard text.utf8.count <= 5, let value = Self.spellings[text.lowercased()] else { return nil }
    self = value
  }
}
