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
