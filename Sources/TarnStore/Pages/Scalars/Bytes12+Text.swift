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
