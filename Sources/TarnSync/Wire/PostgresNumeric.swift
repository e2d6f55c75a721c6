import TarnStore

/// PostgreSQL's `numeric`: digits in base 10,000, the exponent of the first, a sign, and the number
/// of decimal places to show.
enum PostgresNumeric {
  private static let negative: UInt16 = 0x4000
  private static let nan: UInt16 = 0xc000
  private static let infinity: UInt16 = 0xd000
  private static let minusInfinity: UInt16 = 0xf000

  /// Without forms that the type lacks: the sign of zero, and positive exponents.
  static func bytes(of number: DecimalNumber) -> [UInt8] {
    if number.isNaN { return bytes([], weight: 0, sign: nan, scale: 0) }
    if number.isInfinite {
      return bytes(
        [], weight: 0, sign: number.isNegative ? minusInfinity : infinity, scale: 0)
    }
    var (coefficient, exponent) = number.parts
    let scale = UInt16(max(0, -exponent))
    if coefficient == 0 { return bytes([], weight: 0, sign: 0, scale: scale) }
    // The exponent becomes a multiple of 4; 34 digits and 3 more fit.
    let shift = ((exponent % 4) + 4) % 4
    coefficient *= DecimalNumber.power(shift)
    exponent -= shift
    var digits: [UInt16] = []
    while coefficient > 0 {
      digits.append(UInt16(coefficient % 10_000))
      coefficient /= 10_000
    }
    let weight = exponent / 4 + digits.count - 1
    while digits.first == 0 { digits.removeFirst() }
    return bytes(
      digits.reversed(), weight: Int16(weight), sign: number.isNegative ? negative : 0,
      scale: scale)
  }

  private static func bytes(
    _ digits: [UInt16], weight: Int16, sign: UInt16, scale: UInt16
  ) -> [UInt8] {
    var writer = BigEndianWriter()
    writer.write(UInt16(digits.count))
    writer.write(weight)
    writer.write(sign)
    writer.write(scale)
    for digit in digits { writer.write(digit) }
    return writer.bytes
  }

  /// The number, rounded to 34 digits; nil if the bytes are not a numeric, or for a finite one
  /// beyond the range of decimals.
  static func number(_ bytes: [UInt8]) -> DecimalNumber? { parsed(bytes)?.value }

  /// Whether a numeric has no more digits than a decimal and is in its range, judged by its length.
  static func isShort(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // Eight groups of four digits, each with an exponent below 6,000.
    guard bytes.count >= 8, bytes.count <= 8 + 2 * 8 else { return false }
    let weight = Int16(bitPattern: UInt16(unsafe bytes[2]) << 8 | UInt16(unsafe bytes[3]))
    return (-1_500..<1_500).contains(weight)
  }

  /// The number, and whether it has all digits.
  static func parsed(_ bytes: [UInt8]) -> (value: DecimalNumber, isExact: Bool)? {
    var reader = BigEndianReader(bytes)
    guard let count: UInt16 = reader.read(), let weight: Int16 = reader.read(),
      let sign: UInt16 = reader.read(), let scale: UInt16 = reader.read()
    else { return nil }
    switch sign {
    case nan: return (.nan, true)
    case infinity: return (.infinity, true)
    case minusInfinity: return (.infinity.negated, true)
    case 0, negative: break
    default: return nil
    }
    var digits: [UInt16] = []
    for _ in 0..<count {
      guard let digit: UInt16 = reader.read(), digit < 10_000 else { return nil }
      digits.append(digit)
    }
    guard reader.isAtEnd else { return nil }
    let text = text(digits, weight: Int(weight), scale: Int(scale))
    let parsed = DecimalNumber.parse((sign == negative ? "-" : "") + text)
    return parsed.flatMap { $0.value.isFinite ? $0 : nil }
  }

  /// In SQL's form.
  private static func text(_ digits: [UInt16], weight: Int, scale: Int) -> String {
    /// The four digits of a place; places before the point are not negative.
    func group(_ place: Int) -> String {
      let index = weight - place
      let text = digits.indices.contains(index) ? String(digits[index]) : "0"
      return String(repeating: "0", count: 4 - text.count) + text
    }
    let whole = weight >= 0 ? (0...weight).reversed().map(group).joined() : "0"
    if scale == 0 { return whole }
    let places = (scale + 3) / 4
    let fraction = (1...places).map { group(-$0) }.joined().prefix(scale)
    return "\(whole).\(fraction)"
  }
}
