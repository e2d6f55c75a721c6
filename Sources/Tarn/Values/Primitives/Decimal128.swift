import Foundation
import TarnStore

/// An IEEE 754-2008 decimal floating-point number: up to 34 decimal digits times a power of ten, an
/// infinity, or NaN. For values that people write in decimals, such as money: 0.1 is 0.1 here, and
/// 0.1 + 0.2 is 0.3.
///
///     let price: Decimal128 = "19.90"
///     let total = price * 3          // 59.70
///
/// Values go from ``min`` to ``max``, about 10 to the power of 6145 either way; the smallest above
/// zero is 10 to the power of -6176. Every result is the exact one rounded to 34 digits, to even on
/// ties. Nothing traps: results that are too large become infinite, and 0/0 and the like are NaN.
///
/// A number keeps its trailing zeros: `"1.10"` prints as 1.10, and sums and products have them as
/// on paper. They make no difference for `==`, the order and the hash. As with `Double`, NaN is
/// unequal to everything, itself included, and 0 equals -0.
///
/// The arithmetic is that of Intel's Decimal Floating-Point Math Library, a package of Debian's
/// (`libintelrdfpmath-dev`).
public struct Decimal128: Sendable {
  /// The stored number, the half with the sign.
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

  /// The smallest finite number: -9.999… with 34 digits, times 10 to the power of 6144.
  public static var min: Decimal128 { Decimal128(DecimalNumber.greatest.negated) }
  /// The largest finite number.
  public static var max: Decimal128 { Decimal128(DecimalNumber.greatest) }

  /// True for NaN, such as 0/0 or a string that is not a number.
  public var isNaN: Bool { number.isNaN }
  /// True for both infinities.
  public var isInfinite: Bool { number.isInfinite }
  /// The number without its sign.
  public var magnitude: Decimal128 { Decimal128(number.magnitude) }

  /// The number in the form of General Decimal Arithmetic ("to-scientific-string"): with all its
  /// digits, and an exponent only if it ends before the point or begins more than six digits after
  /// it, as in `1.5E+9` or `1E-7`. `init(string:)` reads it back as the same number.
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
  /// The quotient. Infinite for a division by zero; 0/0 is NaN.
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
  /// Changes the sign, even that of zero.
  public mutating func negate() { self = -self }

  /// The number to add to this one to get the other.
  public func distance(to other: Decimal128) -> Decimal128 { other - self }
  /// The number at that distance above this one.
  public func advanced(by distance: Decimal128) -> Decimal128 { self + distance }
}

// MARK: - Text

extension Decimal128: LosslessStringConvertible {
  public var description: String { stringValue }

  /// Reads a number: digits with at most one point, with an optional sign before and an optional
  /// exponent after them, or `Infinity`, `Inf` or `NaN`. Nil for anything else. More than 34 digits
  /// are rounded.
  public init?(_ description: String) {
    guard let number = DecimalNumber(text: description) else { return nil }
    self.init(number)
  }

  /// Reads a number: digits with at most one point, with an optional sign before and an optional
  /// exponent after them, or `Infinity`, `Inf` or `NaN`. More than 34 digits are rounded.
  /// - Throws: an error with a description if the text is not a number.
  public init(string: String) throws {
    guard let number = DecimalNumber(text: string) else {
      throw DecimalFormatError(text: string)
    }
    self.init(number)
  }
}

/// A string that is not a `Decimal128`.
struct DecimalFormatError: Error, CustomStringConvertible, LocalizedError {
  var text: String
  var description: String {
    "\"\(text)\" is not a Decimal128. Write it like 12, -3.50, 1.5E+9, Infinity or NaN"
  }
  var errorDescription: String? { description }
}

/// As a string, which keeps all digits.
extension Decimal128: Codable {
  /// Decodes a string or a number. Throws if it is neither, or if the string is not a number. A
  /// number has only the digits that the decoder keeps: up to 38 digits of JSON, without trailing
  /// zeros.
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
