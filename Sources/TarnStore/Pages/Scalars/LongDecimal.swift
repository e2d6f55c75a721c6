/// A decimal number of any length, for a result that is rounded once: the sum of many decimals, or
/// such a sum divided. The value is `groups` * 10^`exponent`, with its sign.
struct LongDecimal {
  private static let groupDigits = 18
  private static let base = Int128(DecimalNumber.power(groupDigits))

  /// Digits in groups of 18, least significant group first. Each may have any size and sign until
  /// `settle` is called.
  private var groups: [Int128]
  private var exponent: Int
  private var isNegative = false
  /// True if a division left a remainder: the value is slightly more than the digits.
  private var hasRemainder = false

  /// Zero, with room for summands with exponents in this range.
  init(from least: Int, through greatest: Int) {
    exponent = least
    // A summand touches five groups, and the last one takes the carry.
    groups = Array(repeating: 0, count: (greatest - least) / Self.groupDigits + 6)
  }

  /// Adds (`high` * 2^64 + `low`) * 10^`exponent`.
  ///
  /// - Parameters:
  ///   - high: of at most 120 bits.
  ///   - low: at least 0 and below 2^64.
  mutating func add(high: Int128, low: Int128, exponent: Int) {
    let (index, digits) = (exponent - self.exponent).quotientAndRemainder(
      dividingBy: Self.groupDigits)
    let shift = Int128(DecimalNumber.power(digits))
    let (upper, rest) = high.quotientAndRemainder(dividingBy: Self.base)
    var (left, part) = (rest << 64 + low).quotientAndRemainder(dividingBy: Self.base)
    left += upper << 64
    for offset in 0..<4 {
      let (over, digits) = (part * shift).quotientAndRemainder(dividingBy: Self.base)
      groups[index + offset] += digits
      groups[index + offset + 1] += over
      (left, part) = left.quotientAndRemainder(dividingBy: Self.base)
    }
  }

  /// Brings every group into 0..<10^18. Called once, after all additions.
  mutating func settle() {
    carry()
    guard groups[groups.count - 1] < 0 else { return }
    isNegative = true
    for index in groups.indices { groups[index] = -groups[index] }
    carry()
  }

  /// Carries from each group to the next. Afterwards only the last one may be negative.
  private mutating func carry() {
    for index in groups.indices.dropLast() {
      var (over, digits) = groups[index].quotientAndRemainder(dividingBy: Self.base)
      if digits < 0 { (over, digits) = (over - 1, digits + Self.base) }
      groups[index] = digits
      groups[index + 1] += over
    }
  }

  /// The settled number divided by a positive number, with more digits than a decimal has.
  func divided(by divisor: Int) -> LongDecimal {
    // The divisor takes up to 19 digits.
    let added = 4
    var quotient = self
    quotient.groups.insert(contentsOf: repeatElement(0, count: added), at: 0)
    quotient.exponent -= added * Self.groupDigits
    var remainder: Int128 = 0
    for index in quotient.groups.indices.reversed() {
      (quotient.groups[index], remainder) = (remainder * Self.base + quotient.groups[index])
        .quotientAndRemainder(dividingBy: Int128(divisor))
    }
    quotient.hasRemainder = remainder != 0
    return quotient
  }

  /// The settled number rounded to 34 digits, to even on ties.
  ///
  /// - Parameter preferred: the exponent of the result if it is exact and its digits allow it: 4.00
  ///   / 2 is 2.00.
  func rounded(preferring preferred: Int) -> DecimalNumber {
    var (text, exponent) = (digits, exponent)
    if hasRemainder {
      // After all significant digits: any remainder is more than zero.
      (text, exponent) = (text + "1", exponent - 1)
    } else {
      let surplus = max(0, preferred - exponent)
      let zeros = text.utf8.reversed().prefix(surplus).prefix { $0 == UInt8(ascii: "0") }.count
      (text, exponent) = (String(text.dropLast(zeros)), exponent + zeros)
    }
    guard let number = DecimalNumber(text: "\(isNegative ? "-" : "")\(text)E\(exponent)") else {
      trap("internal error: digits that are not a number")
    }
    return number
  }

  private var digits: String {
    groups.reversed().map { group in
      let digits = String(group)
      return String(repeating: "0", count: Self.groupDigits - digits.utf8.count) + digits
    }.joined()
  }
}
