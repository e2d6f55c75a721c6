extension Bytes16 {
  /// Reads the form with four hyphens, upper or lower case.
  package init?(uuidText text: String) {
    var digits = Array(text.utf8)
    guard digits.count == 36 else { return nil }
    for position in [23, 18, 13, 8] {
      guard digits.remove(at: position) == UInt8(ascii: "-") else { return nil }
    }
    guard let high = UInt64(hexadecimal: digits[0..<16]),
      let low = UInt64(hexadecimal: digits[16..<32])
    else { return nil }
    self.init(high: high, low: low)
  }

  /// The form with four hyphens, upper case as Foundation prints it.
  package var uuidText: String {
    let digits = Array((Value.hexadecimal(high, 16) + Value.hexadecimal(low, 16)).uppercased())
    let parts = [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20...]]
    return parts.map { String($0) }.joined(separator: "-")
  }
}

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

extension Bytes12 {
  /// Reads 24 hexadecimal digits.
  package init?(hexadecimal text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 24, let high = UInt64(hexadecimal: digits[0..<16]),
      let low = UInt64(hexadecimal: digits[16..<24])
    else { return nil }
    self.init(high: high, low: UInt32(low))
  }

  package var hexadecimal: String {
    Value.hexadecimal(high, 16) + Value.hexadecimal(UInt64(low), 8)
  }
}

extension UInt64 {
  /// Parses 1 to 16 hexadecimal digits, and nothing else.
  init?(hexadecimal digits: ArraySlice<UInt8>) {
    guard (1...16).contains(digits.count) else { return nil }
    var value: UInt64 = 0
    for digit in digits {
      guard let nibble = Self.nibble(digit) else { return nil }
      value = value << 4 | nibble
    }
    self = value
  }

  static func nibble(_ digit: UInt8) -> UInt64? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(digit - UInt8(ascii: "A") + 10)
    default: nil
    }
  }
}
