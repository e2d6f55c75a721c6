/// A sum of decimals from which numbers can be taken out again. NaN must not come.
///
/// Coefficients with the same exponent are added as integers, exactly. `value` adds these sums from
/// the smallest exponent on, and rounds where one of these steps has more than 34 digits. So it
/// depends on the numbers that are left alone, and is exact as long as 34 digits are enough.
struct DecimalSum: Sendable {
  /// The sum of what has one exponent: `high` times ten to the power of 17, and `low`.
  private struct Part: Sendable {
    var exponent: Int
    var high: Int128 = 0
    var low: Int128 = 0
  }

  private static let split = 17
  /// Ascending.
  private var parts: [Part] = []
  private var infinities = (positive: 0, negative: 0)

  mutating func add(_ number: DecimalNumber) { add(number, count: 1) }
  /// Takes a number out that was added.
  mutating func remove(_ number: DecimalNumber) { add(number, count: -1) }

  private mutating func add(_ number: DecimalNumber, count: Int) {
    if number.isInfinite {
      if number.isNegative { infinities.negative += count } else { infinities.positive += count }
      return
    }
    let (coefficient, exponent) = number.parts
    if coefficient == 0 { return }
    let index = parts.partitioningIndex { $0.exponent >= exponent }
    if index == parts.count || parts[index].exponent != exponent {
      parts.insert(Part(exponent: exponent), at: index)
    }
    let (high, low) = coefficient.quotientAndRemainder(
      dividingBy: DecimalNumber.power(Self.split))
    let sign: Int128 = number.isNegative == (count < 0) ? 1 : -1
    parts[index].high += sign * Int128(high)
    parts[index].low += sign * Int128(low)
  }

  var value: DecimalNumber {
    if infinities.positive > 0 { return infinities.negative > 0 ? .nan : .infinity }
    if infinities.negative > 0 { return .infinity.negated }
    let power = DecimalNumber(
      isNegative: false, coefficient: DecimalNumber.power(Self.split), exponent: 0)
    var sum = DecimalNumber.zero
    for part in parts {
      // What is carried, so that the halves depend on their sum alone.
      let unit = Int128(DecimalNumber.power(Self.split))
      let total = (high: part.high + part.low / unit, low: part.low % unit)
      if total.low != 0 { sum = sum + Self.number(total.low, part.exponent) }
      if total.high != 0 { sum = sum + Self.number(total.high, part.exponent) * power }
    }
    return sum
  }

  private static func number(_ coefficient: Int128, _ exponent: Int) -> DecimalNumber {
    // More than 34 digits would take 10^17 of the largest numbers.
    DecimalNumber(
      isNegative: coefficient < 0, coefficient: coefficient.magnitude, exponent: exponent)
  }
}
