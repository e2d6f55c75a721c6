import CTarn

// Every result is the exact one rounded to 34 digits, to even on ties, in the form that IEEE
// 754-2008 prefers: 1.10 + 1 is 2.10. Overflow gives infinity, underflow zero; 0/0 and the like are
// NaN. The arithmetic is that of the library in CTarn.
extension DecimalNumber {
  private var raw: tarn_decimal { tarn_decimal(high: high, low: low) }
  init(_ raw: tarn_decimal) { self.init(high: raw.high, low: raw.low) }

  package static func + (a: Self, b: Self) -> Self { Self(tarn_decimal_add(a.raw, b.raw)) }
  package static func - (a: Self, b: Self) -> Self { Self(tarn_decimal_subtract(a.raw, b.raw)) }
  package static func * (a: Self, b: Self) -> Self { Self(tarn_decimal_multiply(a.raw, b.raw)) }
  package static func / (a: Self, b: Self) -> Self { Self(tarn_decimal_divide(a.raw, b.raw)) }

  /// The nearest double, to even on ties.
  package var nearestDouble: Double { tarn_decimal_to_double(raw) }

  /// The greatest double that is not above the number, and whether they are equal; NaN for NaN.
  package var doubleBelow: (value: Double, isExact: Bool) {
    var isExact = false
    let value = unsafe tarn_decimal_to_double_below(raw, &isExact)
    return (value, isExact)
  }

  /// The shortest decimal that is closest to this double: 0.1 for 0.1, although that double is
  /// slightly more. It is the number that the person who wrote the double meant.
  package init(shortest value: Double) {
    // Never fails: Swift prints doubles in a form that is also a decimal.
    self = DecimalNumber(text: value.description) ?? .nan
  }

  /// The same for a float, which has fewer digits.
  package init(shortest value: Float) {
    self = DecimalNumber(text: value.description) ?? .nan
  }

  /// Compares the number with a double exactly: negative, zero or positive. NaN sorts first, and
  /// both kinds of NaN are equal.
  func compareExactly(_ other: Double) -> Int {
    if isNaN || other.isNaN { return (isNaN ? 0 : 1) - (other.isNaN ? 0 : 1) }
    let (below, isExact) = doubleBelow
    if isExact { return below == other ? 0 : (below < other ? -1 : 1) }
    // The number lies between two adjacent doubles, so it equals neither.
    return below < other ? -1 : 1
  }
}
