import Foundation
import TarnStore

/// A decimal floating-point number of IEEE 754-2008: up to 34 decimal digits times a power of ten,
/// an infinity, or not a number. For what people write in decimals, like money: 0.1 is 0.1 here,
/// and 0.1 + 0.2 is 0.3.
///
///     let price: Decimal128 = "19.90"
///     let total = price * 3          // 59.70
///
/// Values go from ``min`` to ``max``, about 10 to the power of 6145 either way; the least above
/// zero is 10 to the power of -6176. Every result is the exact one rounded to 34 digits, to even
/// on ties. Nothing traps: what is too great becomes infinite, and 0/0 and the like are not a
/// number.
///
/// A number keeps the zeros at its end, `"1.10"` prints as 1.10, and sums and products have them
/// as on paper; they make no difference for `==`, the order and the hash. As with `Double`, not a
/// number is unequal to everything, itself included, and 0 equals -0.
///
/// The arithmetic is that of Intel's Decimal Floating-Point Math Library, a package of Debian's
/// (`libintelrdfpmath-dev`).
public struct Decimal128: Sendable {
  /// The number as it is stored, the half with the sign.
  @usableFromInline let _high: UInt64
  @usableFromInline let _low: UInt64

  @inlinable init(high: UInt64, low: UInt64) {
    _high = high
    _low = low
  }

  init(_ cell: Bytes16) { self.init(high: cell.high, low: cell.low) }
  init(_ number: DecimalNumber) { self.init(number.cell) }

  var cell: Bytes16 { Bytes16(high: _high, low: _low) }
  var number: DecimalNumber { DecimalNumber(cell) }

  /// Zero.
  public init() { self.init(DecimalNumber.zero) }

  // MARK: - Properties of a value

  /// The least number that is finite: -9.999… with 34 digits, times 10 to the power of 6144.
  public static var min: Decimal128 { Decimal128(DecimalNumber.greatest.negated) }
  /// The greatest number that is finite.
  public static var max: Decimal128 { Decimal128(DecimalNumber.greatest) }

  /// True for what is not a number, like 0/0 or a text that was none.
  public var isNaN: Bool { number.isNaN }
  /// True for both infinities.
  public var isInfinite: Bool { number.isInfinite }
  /// The number without its sign.
  public var magnitude: Decimal128 { Decimal128(number.magnitude) }

  /// The number as General Decimal Arithmetic spells it ("to-scientific-string"): with all its
  /// digits, and an exponent only where it ends before the point or begins more than six digits
  /// behind it, as in `1.5E+9` or `1E-7`. `init(string:)` makes the same number of it.
  public var stringValue: String { number.text }
}

// MARK: - Comparing

extension Decimal128: Comparable, Hashable {
  public static func == (a: Decimal128, b: Decimal128) -> Bool {
    !a.isNaN && a.number.order == b.number.order
  }
  public static func < (a: Decimal128, b: Decimal128) -> Bool {
    !a.isNaN && !b.isNaN && a.number.order < b.number.order
  }
  public static func <= (a: Decimal128, b: Decimal128) -> Bool {
    !a.isNaN && !b.isNaN && a.number.order <= b.number.order
  }
  public static func > (a: Decimal128, b: Decimal128) -> Bool { b < a }
  public static func >= (a: Decimal128, b: Decimal128) -> Bool { b <= a }

  public func hash(into hasher: inout Hasher) { hasher.combine(number.order) }
}

// MARK: - Arithmetic

extension Decimal128: SignedNumeric, Strideable {
  public static func + (a: Decimal128, b: Decimal128) -> Decimal128 {
    Decimal128(a.number + b.number)
  }
  public static func - (a: Decimal128, b: Decimal128) -> Decimal128 {
    Decimal128(a.number - b.number)
  }
  public static func * (a: Decimal128, b: Decimal128) -> Decimal128 {
    Decimal128(a.number * b.number)
  }
  /// The quotient. Infinite for a division by zero; 0/0 is not a number.
  public static func / (a: Decimal128, b: Decimal128) -> Decimal128 {
    Decimal128(a.number / b.number)
  }
  public static func += (a: inout Decimal128, b: Decimal128) { a = a + b }
  public static func -= (a: inout Decimal128, b: Decimal128) { a = a - b }
  public static func *= (a: inout Decimal128, b: Decimal128) { a = a * b }
  public static func /= (a: inout Decimal128, b: Decimal128) { a = a / b }
  public static prefix func - (value: Decimal128) -> Decimal128 {
    Decimal128(value.number.negated)
  }
  /// Turns the sign around, that of zero too.
  public mutating func negate() { self = -self }

  /// The number to add to this one to get the other.
  public func distance(to other: Decimal128) -> Decimal128 { other - self }
  /// The number that far above this one.
  public func advanced(by distance: Decimal128) -> Decimal128 { self + distance }
}

// MARK: - Text

extension Decimal128: LosslessStringConvertible {
  public var description: String { stringValue }

  /// Reads a number: digits with at most one point among them, a sign before and an exponent
  /// behind if wanted, or `Infinity`, `Inf` or `NaN`. Nil for anything else. More than 34 digits
  /// are rounded.
  public init?(_ description: String) {
    guard let number = DecimalNumber(text: description) else { return nil }
    self.init(number)
  }

  /// Reads a number: digits with at most one point among them, a sign before and an exponent
  /// behind if wanted, or `Infinity`, `Inf` or `NaN`. More than 34 digits are rounded.
  /// - Throws: an error that says so if the text is something else.
  public init(string: String) throws {
    guard let number = DecimalNumber(text: string) else {
      throw DecimalFormatError(text: string)
    }
    self.init(number)
  }
}

/// A text that is no `Decimal128`.
struct DecimalFormatError: Error, CustomStringConvertible {
  var text: String
  var description: String {
    "\"\(text)\" is no Decimal128: that is written like 12, -3.50, 1.5E+9, Infinity or NaN"
  }
}

/// As a string, which keeps all digits.
extension Decimal128: Codable {
  /// Reads a string or a number. Throws if it is neither, or the string is no number. A number
  /// comes with what the decoder keeps of it, up to 38 digits of JSON, without zeros at its end.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      guard let number = DecimalNumber(text: text) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: DecimalFormatError(text: text).description)
      }
      self.init(number)
    } else if let value = try? container.decode(Int64.self) {
      self.init(value)
    } else if let value = try? container.decode(Decimal.self) {
      self.init(value)
    } else {
      self.init(try container.decode(Double.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(stringValue)
  }
}
