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
