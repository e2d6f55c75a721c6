import CTarn

extension DecimalNumber {
  /// Parses a number in the syntax of General Decimal Arithmetic: an optional sign, digits with at
  /// most one point, and an optional exponent; or `Infinity`, `Inf` or `NaN`, in any case. A number
  /// of up to 34 digits keeps its form: 1.10 stays 1.10. Nil for anything else, including spaces.
  /// `isExact` is false if digits were lost.
  package static func parse(_ text: some StringProtocol) -> (value: Self, isExact: Bool)? {
    var reader = DecimalReader(Substring(text).utf8)
    return reader.number()
  }

  /// The value of a string that `parse` accepts, rounded if necessary.
  package init?(text: some StringProtocol) {
    guard let parsed = Self.parse(text) else { return nil }
    self = parsed.value
  }

  /// The to-scientific-string of General Decimal Arithmetic: all digits of the coefficient, with an
  /// exponent only if the number ends before its point or begins more than six digits after it.
  /// Parsing it gives the same number in the same form.
  package var text: String {
    if isNaN { return "NaN" }
    let sign = isNegative ? "-" : ""
    if isInfinite { return sign + "Infinity" }
    let (coefficient, exponent) = parts
    let digits = coefficient.description
    let adjusted = exponent + digits.utf8.count - 1
    if exponent == 0 { return sign + digits }
    if exponent < 0, adjusted >= -6 {
      let zeros = String(repeating: "0", count: max(0, -adjusted))
      let padded = zeros + digits
      return sign + padded.dropLast(-exponent) + "." + padded.suffix(-exponent)
    }
    let fraction = digits.dropFirst()
    return sign + digits.prefix(1) + (fraction.isEmpty ? "" : "." + fraction) + "E"
      + (adjusted < 0 ? "-" : "+") + adjusted.magnitude.description
  }
}

/// Parses one number; the library rounds it.
private struct DecimalReader {
  private var rest: Substring.UTF8View
  /// The digits from the first nonzero one on, as far as they are kept.
  private var digits: [UInt8] = []
  /// The exponent of the digits.
  private var exponent = 0
  private var sawDigit = false
  private var droppedNonzero = false

  /// More than in a coefficient, so that a tie is visible; fewer than the library accepts.
  private static let digitsKeptMax = 40
  /// Beyond any number's exponent: larger ones do not change the result.
  private static let exponentLimit = 99_999

  init(_ text: Substring.UTF8View) { rest = text }

  mutating func number() -> (value: DecimalNumber, isExact: Bool)? {
    let isNegative = take("-")
    if !isNegative { _ = take("+") }
    if let special = special { return (isNegative ? special.negated : special, true) }
    takeDigits(scale: 0)
    if take(".") { takeDigits(scale: 1) }
    guard sawDigit, takeExponent(), rest.isEmpty else { return nil }
    if digits.isEmpty {
      let range = DecimalNumber.exponentMin...DecimalNumber.exponentMax
      let exponent = min(max(exponent, range.lowerBound), range.upperBound)
      return (DecimalNumber(isNegative: isNegative, coefficient: 0, exponent: exponent), true)
    }
    return rounded(isNegative)
  }

  private func rounded(_ isNegative: Bool) -> (value: DecimalNumber, isExact: Bool) {
    var digits = digits
    var exponent = exponent
    if droppedNonzero {
      // The digits after it are more than zero, whatever they are.
      digits.append(UInt8(ascii: "1"))
      exponent -= 1
    }
    exponent = min(max(exponent, -Self.exponentLimit), Self.exponentLimit)
    let text = "\(isNegative ? "-" : "")\(String(decoding: digits, as: UTF8.self))E\(exponent)"
    var isExact = false
    let raw = unsafe text.withCString { text in unsafe tarn_decimal_parse(text, &isExact) }
    return (DecimalNumber(raw), isExact)
  }

  private var special: DecimalNumber? {
    switch String(rest)?.lowercased() {
    case "nan": .nan
    case "inf", "infinity": .infinity
    default: nil
    }
  }

  private mutating func take(_ character: Character) -> Bool {
    guard let byte = rest.first, byte == character.asciiValue else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func digit() -> UInt8? {
    guard let byte = rest.first, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
      return nil
    }
    rest.removeFirst()
    return byte
  }

  /// Each digit is `scale` places further after the point.
  private mutating func takeDigits(scale: Int) {
    while let digit = digit() {
      sawDigit = true
      exponent -= scale
      if digits.isEmpty && digit == UInt8(ascii: "0") { continue }
      if digits.count < Self.digitsKeptMax {
        digits.append(digit)
      } else {
        exponent += 1
        droppedNonzero = droppedNonzero || digit != UInt8(ascii: "0")
      }
    }
  }

  /// False if an exponent begins and has no digits.
  private mutating func takeExponent() -> Bool {
    guard take("e") || take("E") else { return true }
    let isNegative = take("-")
    if !isNegative { _ = take("+") }
    guard let first = digit() else { return false }
    var magnitude = Int(first - UInt8(ascii: "0"))
    while let digit = digit() {
      // So large that no number of digits can compensate it.
      if magnitude < 1 << 56 { magnitude = magnitude * 10 + Int(digit - UInt8(ascii: "0")) }
    }
    exponent += isNegative ? -magnitude : magnitude
    return true
  }
}
