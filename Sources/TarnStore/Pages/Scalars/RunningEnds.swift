/// The least and the greatest of values that are added one by one. Null, NaN and values that are
/// neither numbers nor dates are ignored.
///
/// They do not depend on the order of the values: equal numbers are ordered by their form, see
/// `NumberForm`.
package struct RunningEnds: Sendable {
  /// Null without any values.
  package private(set) var least = Value.null
  package private(set) var greatest = Value.null

  package init() {}

  package mutating func add(_ value: Value) {
    switch value {
    case .int, .float, .double, .decimal: if Scalar(value)?.isNaN != false { return }
    case .date: break
    default: return
    }
    if least == .null || NumberForm.isBelow(value, least) { least = value }
    if greatest == .null || NumberForm.isBelow(greatest, value) { greatest = value }
  }
}

/// An order of numbers that orders equal ones by their form, as in IEEE 754's totalOrder and in
/// the min and max of General Decimal Arithmetic: -0 is below 0, 1.10 below 1.1 and -1.1 below
/// -1.10. Equal numbers of several types are in the order integer, float, double, decimal.
enum NumberForm {
  static func isBelow(_ a: Value, _ b: Value) -> Bool {
    let order = SequenceOrder.compare(a, b)
    if order != 0 { return order < 0 }
    switch (a, b) {
    case (.float(let a), .float(let b)): return a.sign == .minus && b.sign == .plus
    case (.double(let a), .double(let b)): return a.sign == .minus && b.sign == .plus
    case (.decimal(let a), .decimal(let b)):
      return DecimalNumber(a).form < DecimalNumber(b).form
    default: return kind(a) < kind(b)
    }
  }

  private static func kind(_ value: Value) -> Int {
    switch value {
    case .int: 0
    case .float: 1
    case .double: 2
    default: 3
    }
  }
}

/// A decimal in the order of values, and among equal ones in that of their forms. Not NaN.
struct DecimalRank: Comparable, Sendable {
  private let order: DecimalOrder
  let number: DecimalNumber

  @inline(__always)
  init(_ number: DecimalNumber) {
    self.number = number
    order = number.order
  }

  @inline(__always)
  static func < (a: Self, b: Self) -> Bool {
    a.order == b.order ? a.number.form < b.number.form : a.order < b.order
  }

  @inline(__always)
  static func == (a: Self, b: Self) -> Bool {
    a.order == b.order && a.number.form == b.number.form
  }
}

extension DecimalNumber {
  /// Its rank among equal numbers.
  fileprivate var form: Int {
    if isInfinite { return 0 }
    let exponent = parts.exponent - Self.exponentMin + 1
    return isNegative ? -exponent : exponent
  }
}
