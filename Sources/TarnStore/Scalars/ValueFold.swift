/// The extremes and the sum of values that come one after the other. Null, NaN and what is neither
/// a number nor a date do not take part; dates only in the extremes.
package struct ValueFold {
  package private(set) var min = Value.null
  package private(set) var max = Value.null
  /// How many numbers there were.
  private var count = 0
  private var whole: Int128 = 0
  /// Nil until one comes. Each kind is added up by itself.
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

  /// Of whole numbers one, with a decimal among them a decimal, else a double. 0 without any.
  package var sum: Value {
    if let decimal { return .decimal((total(decimal)?.value ?? .nan).cell) }
    if let fraction { return .double(fraction.value + Double(whole)) }
    return Int64(exactly: whole).map { .int($0) } ?? .double(Double(whole))
  }

  /// Of whole numbers, exactly: where no integer has room a decimal, which has 34 digits.
  var wholeSum: Value {
    Int64(exactly: whole).map { .int($0) } ?? .decimal(Self.decimal(whole).cell)
  }

  /// With a decimal among the numbers a decimal, else a double. Null without any.
  package var average: Value {
    if count == 0 { return .null }
    if let decimal { return .decimal((total(decimal)?.average(of: count) ?? .nan).cell) }
    return .double(((fraction?.value ?? 0) + Double(whole)) / Double(count))
  }

  /// All kinds of numbers together, the sum of the doubles as a decimal; nil if it is not a number.
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
