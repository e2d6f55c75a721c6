import CTarn

/// An IEEE 754-2008 decimal128: a number of up to 34 decimal digits, an infinity, or NaN. Its bits
/// are those of the standard's binary encoding (BID):
///
///     bit 127        the sign
///     the next two not 11:
///       126…113      exponent + 6176
///       112…0        coefficient; 10^34 and above counts as 0
///     11, then not 11:
///       124…111      exponent + 6176; the coefficient is out of range and counts as 0
///     11110          infinity
///     11111          not a number
///
/// The value is coefficient * 10^exponent. One value may have several forms, its cohort: 1.0 and
/// 1.00 are equal, although their bits differ.
package struct DecimalNumber: Sendable {
  /// The high and the low half of the bits.
  var high: UInt64
  var low: UInt64

  @inline(__always)
  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The number in files and in `Value`: most significant byte first, with the bits of 0 inverted,
  /// so that a cell of zeros, as in a row without a value, is 0 and not 0E-6176.
  @inline(__always)
  package var cell: Bytes16 { Bytes16(high: high ^ Self.highOfZero, low: low) }

  @inline(__always)
  package init(_ cell: Bytes16) { self.init(high: cell.high ^ Self.highOfZero, low: cell.low) }

  private static let highOfZero: UInt64 = 6176 << 49

  package static let digitsMax = 34
  package static let coefficientMax: UInt128 = power(34) - 1
  package static let exponentMin = -6176
  package static let exponentMax = 6111

  package static let zero = DecimalNumber(isNegative: false, coefficient: 0, exponent: 0)
  package static let nan = DecimalNumber(high: 0x7c00 << 48, low: 0)
  package static let infinity = DecimalNumber(high: 0x7800 << 48, low: 0)
  /// The greatest finite number.
  package static let greatest = DecimalNumber(
    isNegative: false, coefficient: coefficientMax, exponent: exponentMax)

  /// Traps if one of them is out of range.
  package init(isNegative: Bool, coefficient: UInt128, exponent: Int) {
    require(coefficient <= Self.coefficientMax, "more than 34 digits")
    require((Self.exponentMin...Self.exponentMax).contains(exponent), "exponent out of range")
    let biased = UInt128(exponent - Self.exponentMin)
    let pattern = UInt128(isNegative ? 1 : 0) << 127 | biased << 113 | coefficient
    self.init(
      high: UInt64(truncatingIfNeeded: pattern >> 64), low: UInt64(truncatingIfNeeded: pattern))
  }

  /// The exact integer.
  package init(_ value: Int64) {
    self.init(whole: Int128(value))
  }

  /// The exact sum of integers. Traps if it has more than 34 digits.
  init(whole value: Int128) {
    self.init(isNegative: value < 0, coefficient: value.magnitude, exponent: 0)
  }

  // MARK: - Parts

  @inline(__always)
  package var isNegative: Bool { high >> 63 == 1 }
  @inline(__always)
  package var isNaN: Bool { high >> 58 & 31 == 31 }
  @inline(__always)
  package var isInfinite: Bool { high >> 58 & 31 == 30 }
  package var isFinite: Bool { high >> 59 & 15 != 15 }
  package var isZero: Bool { isFinite && parts.coefficient == 0 }

  /// The number with the opposite sign, even for zero and NaN.
  package var negated: DecimalNumber {
    DecimalNumber(high: high ^ (1 << 63), low: low)
  }
  package var magnitude: DecimalNumber {
    DecimalNumber(high: high & ~(1 << 63), low: low)
  }

  /// The parts of a finite number, without its sign.
  @inline(__always)
  package var parts: (coefficient: UInt128, exponent: Int) {
    if high >> 61 & 3 == 3 {
      return (0, Int(high >> 47 & 0x3fff) + Self.exponentMin)
    }
    let coefficient = UInt128(high & (1 << 49 - 1)) << 64 | UInt128(low)
    return (
      coefficient > Self.coefficientMax ? 0 : coefficient,
      Int(high >> 49 & 0x3fff) + Self.exponentMin
    )
  }

  // MARK: - Powers of ten

  private static let powers: InlineArray<39, UInt128> = {
    var powers = InlineArray<39, UInt128>(repeating: 1)
    for exponent in 1..<39 { powers[exponent] = powers[exponent - 1] * 10 }
    return powers
  }()

  /// 10 to a power of 0...38.
  @inline(__always)
  package static func power(_ exponent: Int) -> UInt128 { powers[exponent] }

  /// The number of decimal digits of a coefficient; 0 for 0.
  @inline(__always)
  package static func digits(of coefficient: UInt128) -> Int {
    // log10(2) is slightly more than 1233 / 4096.
    let guess = ((128 - coefficient.leadingZeroBitCount) * 1233) >> 12
    return coefficient >= powers[guess] ? guess + 1 : guess
  }
}

extension DecimalNumber {
  /// A coefficient without its last digits, rounded to the nearest, to even on ties.
  package static func rounding(_ coefficient: UInt128, digits: Int) -> UInt128 {
    guard digits < 39 else { return 0 }
    let (quotient, rest) = coefficient.quotientAndRemainder(dividingBy: power(digits))
    let half = power(digits) / 2
    let goesUp = rest > half || (rest == half && digits > 0 && quotient & 1 == 1)
    return goesUp ? quotient + 1 : quotient
  }
}

extension DecimalNumber {
  /// The greatest integer that is not above the number, and whether they are equal. Clamped to the
  /// range of integers; not for NaN.
  package var floor: (value: Int64, isExact: Bool) {
    if order < DecimalNumber(.min).order { return (.min, false) }
    if order > DecimalNumber(.max).order { return (.max, false) }
    var (coefficient, exponent) = parts
    if coefficient == 0 { return (0, true) }
    var rest: UInt128 = 0
    if exponent >= 0 {
      coefficient *= Self.power(exponent)
    } else if -exponent < 39 {
      (coefficient, rest) = coefficient.quotientAndRemainder(dividingBy: Self.power(-exponent))
    } else {
      (coefficient, rest) = (0, 1)
    }
    let whole = Int128(coefficient)
    return (Int64(isNegative ? -whole - (rest == 0 ? 0 : 1) : whole), rest == 0)
  }
}

// MARK: - Order

/// The sort key of a decimal: NaN before all others, then by value. Equal values have equal keys,
/// whatever their form; both zeros are equal.
///
/// Fifteen bits contain the sign and the number of digits before the point, 113 bits the
/// coefficient extended to 34 digits; both are inverted for negative numbers. Not every pattern is
/// the key of a value.
package struct DecimalOrder: Hashable, Comparable, Sendable {
  package var bits: UInt128
  package init(bits: UInt128) { self.bits = bits }

  @inline(__always)
  package static func < (a: Self, b: Self) -> Bool { a.bits < b.bits }

  private static let coefficientBits = 113
  private static let zeroScale = 1 << 14
  private static let infinityScale = 1 << 14 - 1
  package static let nan = DecimalOrder(bits: 0)
  package static let leastNumber = DecimalNumber.infinity.negated.order
  package static let greatestNumber = DecimalNumber.infinity.order

  /// `scale` grows with the magnitude: 0 for zero, then from the least to the greatest power of
  /// ten, `infinityScale` for infinities.
  @inline(__always)
  fileprivate init(isNegative: Bool, scale: Int, coefficient: UInt128) {
    if isNegative {
      let mirrored = (1 << Self.coefficientBits - 1) - coefficient
      bits = UInt128(Self.zeroScale - scale) << Self.coefficientBits | mirrored
    } else {
      bits = UInt128(Self.zeroScale + scale) << Self.coefficientBits | coefficient
    }
  }

  @inline(__always)
  fileprivate static func infinite(isNegative: Bool) -> DecimalOrder {
    DecimalOrder(isNegative: isNegative, scale: infinityScale, coefficient: 0)
  }

  @inline(__always)
  fileprivate static func finite(
    isNegative: Bool, coefficient: UInt128, exponent: Int
  ) -> DecimalOrder {
    if coefficient == 0 { return DecimalOrder(isNegative: false, scale: 0, coefficient: 0) }
    let digits = DecimalNumber.digits(of: coefficient)
    return DecimalOrder(
      isNegative: isNegative, scale: exponent - DecimalNumber.exponentMin + digits,
      coefficient: coefficient * DecimalNumber.power(DecimalNumber.digitsMax - digits))
  }
}

extension DecimalNumber {
  @inline(__always)
  package var order: DecimalOrder {
    if isNaN { return .nan }
    if isInfinite { return .infinite(isNegative: isNegative) }
    let (coefficient, exponent) = parts
    return .finite(isNegative: isNegative, coefficient: coefficient, exponent: exponent)
  }
}

extension DecimalOrder {
  private var parts: (scale: Int, coefficient: UInt128) {
    let scale = Int(bits >> UInt128(Self.coefficientBits)) - Self.zeroScale
    let mask: UInt128 = 1 << UInt128(Self.coefficientBits) - 1
    return (scale, scale < 0 ? mask - (bits & mask) : bits & mask)
  }

  /// Whether a number has this key. Between the keys of two adjacent numbers there may be others.
  package var isNumber: Bool {
    let (scale, coefficient) = parts
    if scale == 0 || abs(scale) == Self.infinityScale { return coefficient == 0 }
    let digits = DecimalNumber.digitsMax
    guard coefficient < DecimalNumber.power(digits),
      coefficient >= DecimalNumber.power(digits - 1)
    else { return false }
    // The smallest numbers have fewer digits; the remaining ones are zeros.
    let exponent = abs(scale) + DecimalNumber.exponentMin - digits
    let lacking = DecimalNumber.exponentMin - exponent
    return exponent <= DecimalNumber.exponentMax
      && (lacking <= 0 || coefficient % DecimalNumber.power(lacking) == 0)
  }

  /// The shortest of the numbers with this key.
  package var number: DecimalNumber {
    if self == .nan { return .nan }
    let (scale, coefficient) = parts
    if coefficient == 0 { return scale == 0 ? .zero : scale < 0 ? .infinity.negated : .infinity }
    return .shortest(
      isNegative: scale < 0, coefficient,
      exponent: abs(scale) + DecimalNumber.exponentMin - DecimalNumber.digitsMax)
  }
}

extension DecimalNumber {
  /// The equal number without trailing zeros; the same one for all NaN.
  var shortest: DecimalNumber { order.number }

  fileprivate static func shortest(
    isNegative: Bool, _ coefficient: UInt128, exponent: Int
  ) -> DecimalNumber {
    var (coefficient, exponent) = (coefficient, exponent)
    while exponent < exponentMax, coefficient % 10 == 0 {
      coefficient /= 10
      exponent += 1
    }
    return DecimalNumber(isNegative: isNegative, coefficient: coefficient, exponent: exponent)
  }
}

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
