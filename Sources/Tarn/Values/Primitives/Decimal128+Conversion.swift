public import Foundation
import TarnStore

// Conversion from and to other numbers. A binary number becomes the shortest decimal that is nearer
// to it than to any other number of its type, as it prints: 0.1 becomes 0.1, though the double is a
// little more.

extension Decimal128: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral
{
  /// The integer, exactly.
  public init(integerLiteral value: Int64) { self.init(DecimalNumber(value)) }

  /// The number as written, if it has at most 15 digits: the compiler passes it as a double. Write
  /// more digits, or trailing zeros, as a string: `"1.10"`.
  public init(floatLiteral value: Double) { self.init(value) }

  /// The number that the string spells; NaN if it is not a number.
  public init(stringLiteral text: String) { self.init(DecimalNumber(text: text) ?? .nan) }
}

extension Decimal128 {
  /// The integer, rounded if it has more than 34 digits.
  public init(_ value: some BinaryInteger) {
    if let small = Int64(exactly: value) {
      self.init(DecimalNumber(small))
    } else {
      self.init(DecimalNumber(text: String(value)) ?? .nan)
    }
  }

  /// The integer; nil if its digits do not fit.
  public init?(exactly value: some BinaryInteger) {
    guard let parsed = DecimalNumber.parse(String(value)), parsed.isExact else { return nil }
    self.init(parsed.value)
  }

  /// The decimal that the double prints as. The sign of zero, infinities and NaN are kept.
  public init(_ value: Double) { self.init(DecimalNumber(shortest: value)) }

  /// The decimal that the float prints as.
  public init(_ value: Float) { self.init(DecimalNumber(shortest: value)) }

  /// Foundation's decimal, rounded from 38 to 34 digits.
  public init(_ value: Decimal) {
    self.init(DecimalNumber(text: value.description) ?? .nan)
  }

  /// The number's value: exact for a `Decimal` or an integer, the printed digits for a
  /// floating-point number. A Boolean is 1 or 0.
  public init(number: NSNumber) {
    if let number = number as? NSDecimalNumber {
      self.init(number.decimalValue)
      return
    }
    switch unsafe number.objCType.pointee {
    case CChar(bitPattern: UInt8(ascii: "f")): self.init(number.floatValue)
    case CChar(bitPattern: UInt8(ascii: "d")): self.init(number.doubleValue)
    case CChar(bitPattern: UInt8(ascii: "Q")): self.init(number.uint64Value)
    default: self.init(number.int64Value)
    }
  }

  /// The value of a number of any type, or of a string that spells one; NaN for anything else.
  public init(value: Any) {
    switch value {
    case let value as Decimal128: self = value
    case let text as String: self.init(stringLiteral: text)
    // Swift's own numbers and Booleans become one of these.
    case let number as NSNumber: self.init(number: number)
    case let value as any BinaryInteger: self.init(value)
    default: self.init(DecimalNumber.nan)
    }
  }

  /// The nearest double.
  public var doubleValue: Double { number.nearestDouble }

  /// The number as Foundation's decimal, whose range is smaller: rounded to 128 digits after the
  /// point, and NaN for infinities and for numbers with more than 165 digits before the point.
  public var decimalValue: Decimal {
    let number = number
    guard number.isFinite else { return .nan }
    var (coefficient, exponent) = number.parts
    // Foundation's exponents are those of an Int8, and its coefficients have 128 bits.
    if exponent < -128 {
      coefficient = DecimalNumber.rounding(coefficient, digits: -128 - exponent)
      exponent = -128
    }
    while exponent > 127, coefficient != 0 {
      guard coefficient < DecimalNumber.power(37) else { return .nan }
      coefficient *= 10
      exponent -= 1
    }
    if coefficient == 0 { return 0 }
    return Decimal(string: "\(number.isNegative ? "-" : "")\(coefficient)E\(exponent)") ?? .nan
  }
}
