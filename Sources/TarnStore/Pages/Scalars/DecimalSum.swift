/// A sum of decimals from which numbers can be removed again, exact until it is read. NaN must not
/// be added.
///
/// `value` and `average` round once, to 34 digits. So they depend only on the remaining numbers,
/// not on their order or on removed numbers.
struct DecimalSum: Sendable {
  /// The sum of the coefficients with one exponent: `high` * 2^64 + `low`.
  private struct Part: Sendable {
    var exponent: Int
    /// The number of numbers with that exponent.
    var count = 0
    var high: Int128 = 0
    var low: Int128 = 0
  }

  /// By ascending exponent.
  private var parts: [Part] = []
  private var infinities = (positive: 0, negative: 0)

  mutating func add(_ number: DecimalNumber) { add(number, count: 1) }
  /// Removes a number that was added, in the same form.
  mutating func remove(_ number: DecimalNumber) { add(number, count: -1) }

  private mutating func add(_ number: DecimalNumber, count: Int) {
    if number.isInfinite {
      if number.isNegative { infinities.negative += count } else { infinities.positive += count }
      return
    }
    let (coefficient, exponent) = number.parts
    let index = parts.partitioningIndex { $0.exponent >= exponent }
    if index == parts.count || parts[index].exponent != exponent {
      parts.insert(Part(exponent: exponent), at: index)
    }
    let isAdded = number.isNegative == (count < 0)
    let (high, low) = (Int128(coefficient >> 64), Int128(coefficient & UInt128(UInt64.max)))
    parts[index].high += isAdded ? high : -high
    parts[index].low += isAdded ? low : -low
    parts[index].count += count
    if parts[index].count == 0 { parts.remove(at: index) }
  }

  var value: DecimalNumber {
    infinite ?? exact.rounded(preferring: exponent)
  }

  /// The sum divided by the number of numbers, which is not 0.
  func average(of count: Int) -> DecimalNumber {
    infinite ?? exact.divided(by: count).rounded(preferring: exponent)
  }

  /// The sum if it is infinite or NaN; nil if it is finite.
  private var infinite: DecimalNumber? {
    if infinities.positive > 0 { return infinities.negative > 0 ? .nan : .infinity }
    return infinities.negative > 0 ? .infinity.negated : nil
  }

  /// The exponent of the result, if 34 digits suffice for it. It is the same as after adding the
  /// numbers to 0 one by one: 1.10 and 1 are 2.10, and 1E+3 alone is 1000.
  private var exponent: Int { min(0, parts.first?.exponent ?? 0) }

  private var exact: LongDecimal {
    var sum = LongDecimal(from: exponent, through: max(0, parts.last?.exponent ?? 0))
    for part in parts {
      // Brings the low half into 0..<2^64.
      sum.add(
        high: part.high + part.low >> 64, low: part.low & Int128(UInt64.max),
        exponent: part.exponent)
    }
    sum.settle()
    return sum
  }
}
