/// The minimum, maximum and sum of values that are added one by one. Null, NaN and values that are
/// neither numbers nor dates are ignored; dates count only for the minimum and maximum.
package struct ValueFold {
  package private(set) var min = Value.null
  package private(set) var max = Value.null
  /// The number of numbers.
  private var count = 0
  private var whole: Int128 = 0
  /// Nil until one is added. Each kind is summed separately.
  private var fraction: ExactSum?
  private var decimal: DecimalSum?

  package init() {}

  package mutating func add(_ value: Value) {
    switch value {
    case .int(let number): whole += Int128(number)
    case .float(let number):
      if number.isNaN { return }
      addFraction(Double(number))
    case .double(let number):
      if number.isNaN { return }
      addFraction(number)
    case .decimal(let cell):
      let number = DecimalNumber(cell)
      if number.isNaN { return }
      addDecimal(number)
    case .date: count -= 1
    default: return
    }
    count += 1
    if min == .null || SequenceOrder.compare(value, min) < 0 { min = value }
    if max == .null || SequenceOrder.compare(max, value) < 0 { max = value }
  }

  private mutating func addFraction(_ number: Double) {
    var sum = fraction.take() ?? ExactSum()
    sum.add(number)
    fraction = sum
  }

  private mutating func addDecimal(_ number: DecimalNumber) {
    var sum = decimal.take() ?? DecimalSum()
    sum.add(number)
    decimal = sum
  }

  /// An integer for whole numbers, a decimal if there is one among them, otherwise a double. 0
  /// without numbers.
  package var sum: Value {
    if let decimal { return .decimal((total(decimal)?.value ?? .nan).cell) }
    if let fraction { return .double(fraction.value + Double(whole)) }
    return Int64(exactly: whole).map { .int($0) } ?? .double(Double(whole))
  }

  /// The exact sum of whole numbers: a decimal, which has 34 digits, if it exceeds an integer.
  var wholeSum: Value {
    Int64(exactly: whole).map { .int($0) } ?? .decimal(Self.decimal(whole).cell)
  }

  /// A decimal if there is one among the numbers, otherwise a double. Null without numbers.
  package var average: Value {
    if count == 0 { return .null }
    if let decimal { return .decimal((total(decimal)?.average(of: count) ?? .nan).cell) }
    return .double(((fraction?.value ?? 0) + Double(whole)) / Double(count))
  }

  /// All kinds of numbers together, the sum of the doubles as a decimal; nil if it is NaN.
  private func total(_ decimal: DecimalSum) -> DecimalSum? {
    var sum = decimal
    if whole != 0 { sum.add(Self.decimal(whole)) }
    guard let fraction else { return sum }
    let number = DecimalNumber(shortest: fraction.value)
    if number.isNaN { return nil }
    sum.add(number)
    return sum
  }

  private static func decimal(_ whole: Int128) -> DecimalNumber {
    DecimalNumber(isNegative: whole < 0, coefficient: whole.magnitude, exponent: 0)
  }
}
