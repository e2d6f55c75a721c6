import CTarn

// Every result is the exact one rounded to 34 digits, to even on ties, in the form that
// IEEE 754-2008 prefers: 1.10 + 1 is 2.10. Too great becomes infinite, too small zero; 0/0 and
// the like are not a number. CTarn says whose arithmetic this is.
extension DecimalNumber {
  private var raw: tarn_decimal { tarn_decimal(high: high, low: low) }
  init(_ raw: tarn_decimal) { self.init(high: raw.high, low: raw.low) }

  package static func + (a: Self, b: Self) -> Self { Self(tarn_decimal_add(a.raw, b.raw)) }
  package static func - (a: Self, b: Self) -> Self { Self(tarn_decimal_subtract(a.raw, b.raw)) }
  package static func * (a: Self, b: Self) -> Self { Self(tarn_decimal_multiply(a.raw, b.raw)) }
  package static func / (a: Self, b: Self) -> Self { Self(tarn_decimal_divide(a.raw, b.raw)) }

  /// The nearest double, to even on ties.
  package var nearestDouble: Double { tarn_decimal_to_double(raw) }

  /// The greatest double that is not above, and whether it is the number itself; NaN for NaN.
  package var doubleBelow: (value: Double, isExact: Bool) {
    var isExact = false
    let value = unsafe tarn_decimal_to_double_below(raw, &isExact)
    return (value, isExact)
  }

  /// The decimal of the fewest digits that no other double is nearer to: 0.1 for 0.1, though that
  /// double is a little more. What a person who wrote the double had in mind.
  package init(shortest value: Double) {
    // Never fails: Swift writes doubles as a decimal reads numbers.
    self = DecimalNumber(text: value.description) ?? .nan
  }

  /// The same for a float, which has fewer digits.
  package init(shortest value: Float) {
    self = DecimalNumber(text: value.description) ?? .nan
  }

  /// Below, equal to or above zero as the number stands to a double, exactly: NaN first, both
  /// kinds of it alike.
  func compareExactly(_ other: Double) -> Int {
    if isNaN || other.isNaN { return (isNaN ? 0 : 1) - (other.isNaN ? 0 : 1) }
    let (below, isExact) = doubleBelow
    if isExact { return below == other ? 0 : (below < other ? -1 : 1) }
    // Between the double below and the next one up, and so is no other double.
    return below < other ? -1 : 1
  }
}
