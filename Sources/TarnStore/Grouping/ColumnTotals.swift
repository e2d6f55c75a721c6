/// What is known of the values that a group has in one column. Rows without a value, and NaN, take
/// no part. A value.
struct ColumnTotals: Sendable {
  /// The sum of the values, as exact as the type allows.
  enum Total: Sendable {
    case none
    case int(Int128)
    case double(ExactSum)
    case decimal(DecimalSum)
  }

  /// Which values there are, if the ends of them are asked for.
  enum Ends: Sendable {
    case none
    case narrow(CountedValues<UInt64>)
    case wide(CountedValues<UInt128>)
  }

  /// How many values there are.
  var count = 0
  var total: Total
  var ends: Ends

  init(_ column: AggregateColumn) {
    total =
      switch column.path.type {
      case _ where !column.hasSum: .none
      case .int: .int(0)
      case .decimal: .decimal(DecimalSum())
      default: .double(ExactSum())
      }
    ends =
      switch column.path.type {
      case _ where !column.hasExtremes: .none
      case .int, .float, .double: .narrow(CountedValues())
      default: .wide(CountedValues())
      }
  }

  mutating func add(_ value: Scalar) { change(value, isRemoved: false) }
  /// Takes out a value that was added.
  mutating func remove(_ value: Scalar) { change(value, isRemoved: true) }

  private mutating func change(_ value: Scalar, isRemoved: Bool) {
    if value.isNull || value.isNaN { return }
    count += isRemoved ? -1 : 1
    switch (total, value) {
    case (.int(let sum), .int(let number)):
      total = .int(isRemoved ? sum - Int128(number) : sum + Int128(number))
    case (.double(var sum), .double(let number)):
      if isRemoved { sum.remove(number) } else { sum.add(number) }
      total = .double(sum)
    case (.decimal(var sum), .decimal(let number)):
      if isRemoved { sum.remove(number) } else { sum.add(number) }
      total = .decimal(sum)
    default: break
    }
    switch ends {
    case .none: break
    case .narrow(var values):
      let order = EndOrder.narrow(value)
      if isRemoved { values.remove(order) } else { values.add(order) }
      ends = .narrow(values)
    case .wide(var values):
      let order = EndOrder.wide(value)
      if isRemoved { values.remove(order) } else { values.add(order) }
      ends = .wide(values)
    }
  }

  /// What was asked for, of a column of that type.
  func value(_ kind: AggregateTerm.Kind, _ type: ColumnType) -> Value {
    switch kind {
    case .count: .int(Int64(count))
    case .sum: sum
    case .average: average
    case .min: end(isLeast: true, type)
    case .max: end(isLeast: false, type)
    }
  }

  private var sum: Value {
    switch total {
    case .none: .null
    case .int(let sum): Int64(exactly: sum).map { .int($0) } ?? .double(Double(sum))
    case .double(let sum): .double(sum.value)
    case .decimal(let sum): .decimal(sum.value.cell)
    }
  }

  private var average: Value {
    if count == 0 { return .null }
    switch total {
    case .none: return .null
    case .int(let sum): return .double(Double(sum) / Double(count))
    case .double(let sum): return .double(sum.value / Double(count))
    case .decimal(let sum): return .decimal(sum.average(of: count).cell)
    }
  }

  private func end(isLeast: Bool, _ type: ColumnType) -> Value {
    switch ends {
    case .none: return .null
    case .narrow(let values):
      let order = isLeast ? values.least : values.greatest
      return order.map { EndOrder.value($0, type) } ?? .null
    case .wide(let values):
      let order = isLeast ? values.least : values.greatest
      return order.map { EndOrder.value($0, type) } ?? .null
    }
  }
}

/// Values as numbers in the same order, and back. Zeros and equal decimals become the same.
enum EndOrder {
  private static let sign: UInt64 = 1 << 63

  @inline(__always)
  static func narrow(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ sign }

  @inline(__always)
  static func narrow(_ value: Double) -> UInt64 {
    let bits = (value == 0 ? 0 : value).bitPattern
    return bits & sign == 0 ? bits | sign : ~bits
  }

  static func narrow(_ value: Scalar) -> UInt64 {
    switch value {
    case .int(let value): narrow(value)
    case .double(let value): narrow(value)
    default: trap("internal error: a value of another type than its column's")
    }
  }

  static func wide(_ value: Scalar) -> UInt128 {
    switch value {
    case .date(let date):
      UInt128(narrow(date.seconds)) << 32 | UInt128(UInt32(bitPattern: date.nanoseconds))
    case .decimal(let number): number.order.bits
    default: trap("internal error: a value of another type than its column's")
    }
  }

  static func value(_ order: UInt64, _ type: ColumnType) -> Value {
    if type == .int { return .int(Int64(bitPattern: order ^ sign)) }
    let number = Double(bitPattern: order & sign == 0 ? ~order : order & ~sign)
    return type == .float ? .float(Float(number)) : .double(number)
  }

  static func value(_ order: UInt128, _ type: ColumnType) -> Value {
    if type == .decimal { return .decimal(DecimalOrder(bits: order).number.cell) }
    return .date(
      Timestamp(
        seconds: Int64(bitPattern: UInt64(order >> 32) ^ sign),
        nanoseconds: Int32(bitPattern: UInt32(truncatingIfNeeded: order))))
  }
}
