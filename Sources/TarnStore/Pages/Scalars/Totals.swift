/// The count, sum and average of numbers that are added and removed: exact until they are read, and
/// then rounded once. So they depend only on the remaining numbers, not on their order or on the
/// removed ones. Null, NaN and other values are ignored.
///
/// Integers, floats with doubles, and decimals are added up separately. The total is a decimal if
/// there is a decimal among them, else a double. With decimals, the sum of the doubles counts as
/// the decimal that it prints as: 0.1, and not the binary fraction next to it.
package struct Totals: Sendable {
  package private(set) var count = 0
  /// Has room for 2^63 numbers of 64 bits.
  private var whole: Int128 = 0
  /// Nil until a number of that kind is added.
  private var doubles: ExactSum?
  private var decimals: DecimalSum?

  package init() {}

  /// For a column, whose type is that of the sum without any numbers.
  init(of type: ColumnType) {
    if type == .float || type == .double { doubles = ExactSum() }
    if type == .decimal { decimals = DecimalSum() }
  }

  init(count: Int, whole: Int128) { (self.count, self.whole) = (count, whole) }
  init(count: Int, doubles: ExactSum) { (self.count, self.doubles) = (count, doubles) }

  package mutating func add(_ value: Value) {
    switch value {
    case .int, .float, .double, .decimal: if let number = Scalar(value) { add(number) }
    default: break
    }
  }

  mutating func add(_ value: Scalar) { change(value, isRemoved: false) }
  /// Removes a number that was added.
  mutating func remove(_ value: Scalar) { change(value, isRemoved: true) }

  private mutating func change(_ value: Scalar, isRemoved: Bool) {
    if value.isNaN { return }
    switch value {
    case .int(let number): whole += isRemoved ? -Int128(number) : Int128(number)
    case .double(let number):
      var sum = doubles.take() ?? ExactSum()
      if isRemoved { sum.remove(number) } else { sum.add(number) }
      doubles = sum
    case .decimal(let number):
      var sum = decimals.take() ?? DecimalSum()
      if isRemoved { sum.remove(number) } else { sum.add(number) }
      decimals = sum
    default: return
    }
    count += isRemoved ? -1 : 1
  }

  // MARK: - Results

  /// For integers an integer, or the nearest double if the sum is out of range. 0 without numbers.
  package var sum: Value {
    if decimals != nil || doubles != nil { return fraction }
    return Int64(exactly: whole).map { .int($0) } ?? .double(Double(whole))
  }

  /// The same, but a decimal, which has 34 digits, if the sum is out of the range of integers:
  /// conditions compare sums exactly.
  var exactSum: Value {
    if decimals != nil || doubles != nil { return fraction }
    return Int64(exactly: whole).map { .int($0) } ?? .decimal(DecimalNumber(whole: whole).cell)
  }

  private var fraction: Value {
    decimals == nil ? .double(inDoubles.value) : .decimal((inDecimals?.value ?? .nan).cell)
  }

  /// A double unless there are decimals. Null without any numbers.
  package var average: Value {
    if count == 0 { return .null }
    if decimals == nil { return .double(inDoubles.divided(by: count)) }
    return .decimal((inDecimals?.average(of: count) ?? .nan).cell)
  }

  /// Integers and doubles together.
  private var inDoubles: ExactSum {
    var sum = doubles ?? ExactSum()
    sum.add(whole, exponent: 0)
    return sum
  }

  /// All numbers together; nil if the sum of the doubles is not a number.
  private var inDecimals: DecimalSum? {
    var sum = decimals ?? DecimalSum()
    if whole != 0 { sum.add(DecimalNumber(whole: whole)) }
    guard let doubles else { return sum }
    let number = DecimalNumber(shortest: doubles.value)
    if number.isNaN { return nil }
    sum.add(number)
    return sum
  }
}

/// The totals or the ends of values that are added one by one.
package struct ValueFold: Sendable {
  /// The computed part; the other one stays empty.
  package enum Part: Sendable {
    case totals
    case ends
  }

  private let part: Part
  package private(set) var totals = Totals()
  package private(set) var ends = RunningEnds()

  package init(_ part: Part) { self.part = part }

  package mutating func add(_ value: Value) {
    switch part {
    case .totals: totals.add(value)
    case .ends: ends.add(value)
    }
  }
}
