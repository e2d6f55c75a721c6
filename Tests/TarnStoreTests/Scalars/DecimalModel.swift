import Foundation
import TarnStore

/// A number written out: all digits before and behind the point. Slow, and plainly right.
struct DecimalModel {
  private var rank: Int
  private var isNegative = false
  private var whole: ArraySlice<UInt8> = []
  private var fraction: ArraySlice<UInt8> = []

  /// How two numbers stand to each other of which one at least is a decimal; nil for others.
  static func compare(_ a: Value, _ b: Value) -> Int? {
    guard isDecimal(a) || isDecimal(b), let a = DecimalModel(a), let b = DecimalModel(b) else {
      return nil
    }
    if a.rank != b.rank { return a.rank < b.rank ? -1 : 1 }
    if a.isNegative != b.isNegative { return a.isNegative ? -1 : 1 }
    let order = a.compareMagnitude(b)
    return a.isNegative ? -order : order
  }

  private static func isDecimal(_ value: Value) -> Bool {
    if case .decimal = value { return true }
    return false
  }

  private init?(_ value: Value) {
    rank = 2
    switch value {
    case .int(let value): take("\(value)")
    case .float(let value): take(Double(value))
    case .double(let value): take(value)
    case .decimal(let cell): take(DecimalNumber(cell))
    default: return nil
    }
  }

  private mutating func take(_ value: Double) {
    if value.isNaN {
      rank = 0
    } else if value.isInfinite {
      rank = value < 0 ? 1 : 3
    } else {
      // No double has more digits than 1074, and few have as many.
      let isShort = value.magnitude < 1e12 && value * 1024 == (value * 1024).rounded()
      take(String(format: isShort ? "%.10f" : "%.1074f", value))
    }
  }

  private mutating func take(_ value: DecimalNumber) {
    if value.isNaN || value.isInfinite {
      rank = value.isNaN ? 0 : value.isNegative ? 1 : 3
      return
    }
    let (coefficient, exponent) = value.parts
    var digits = "\(coefficient)" + String(repeating: "0", count: max(0, exponent))
    if exponent < 0 {
      digits = String(repeating: "0", count: max(0, 1 - exponent - digits.count)) + digits
      digits = digits.dropLast(-exponent) + "." + digits.suffix(-exponent)
    }
    take((value.isNegative ? "-" : "") + digits)
  }

  /// Digits with a point or none, and a sign or none.
  private mutating func take(_ text: String) {
    let zero = UInt8(ascii: "0")
    let digits = Array(text.utf8).drop { $0 == UInt8(ascii: "-") }
    let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.endIndex
    whole = digits[..<point].drop { $0 == zero }
    fraction = digits[point...].dropFirst()
    while fraction.last == zero { fraction.removeLast() }
    isNegative = text.hasPrefix("-") && !(whole.isEmpty && fraction.isEmpty)
  }

  private func compareMagnitude(_ other: DecimalModel) -> Int {
    if whole.count != other.whole.count { return whole.count < other.whole.count ? -1 : 1 }
    if whole != other.whole { return whole.lexicographicallyPrecedes(other.whole) ? -1 : 1 }
    if fraction == other.fraction { return 0 }
    return fraction.lexicographicallyPrecedes(other.fraction) ? -1 : 1
  }
}
