/// The aggregates of a group in one column. Rows without a value, and NaN, are ignored. A value
/// type.
struct ColumnTotals: Sendable {
  /// The values, if their minimum or maximum is needed.
  enum Ends: Sendable {
    case none
    case narrow(CountedValues<UInt64>)
    case dates(CountedValues<Timestamp>)
    case decimals(CountedValues<DecimalRank>)
  }

  /// The number of values, dates included.
  var count = 0
  /// Nil if neither the sum nor the average is needed.
  var totals: Totals?
  var ends: Ends

  init(_ column: AggregateColumn) {
    totals = column.hasSum ? Totals(of: column.path.type) : nil
    ends =
      switch column.path.type {
      case _ where !column.hasExtremes: .none
      case .int, .float, .double: .narrow(CountedValues())
      case .decimal: .decimals(CountedValues())
      default: .dates(CountedValues())
      }
  }

  mutating func take(_ value: Scalar, _ step: CountStep) {
    if value.isNull || value.isNaN { return }
    count += step == .removed ? -1 : 1
    if step == .removed { totals?.remove(value) } else { totals?.add(value) }
    // Each is removed first, so that it is changed in place.
    switch ends {
    case .none: break
    case .narrow(var values):
      ends = .none
      values.take(EndOrder.narrow(value), step)
      ends = .narrow(values)
    case .dates(var values):
      ends = .none
      if case .date(let date) = value { values.take(date, step) }
      ends = .dates(values)
    case .decimals(var values):
      ends = .none
      if case .decimal(let number) = value { values.take(DecimalRank(number), step) }
      ends = .decimals(values)
    }
  }

  /// An aggregate, for a column of that type.
  func value(_ kind: AggregateTerm.Kind, _ type: ColumnType) -> Value {
    switch kind {
    case .count: .int(Int64(count))
    case .sum: totals?.sum ?? .null
    case .average: totals?.average ?? .null
    case .min: end(isLeast: true, type)
    case .max: end(isLeast: false, type)
    }
  }

  private func end(isLeast: Bool, _ type: ColumnType) -> Value {
    switch ends {
    case .none: .null
    case .narrow(let values): values.end(isLeast).map { EndOrder.value($0, type) } ?? .null
    case .dates(let values): values.end(isLeast).map { .date($0) } ?? .null
    case .decimals(let values): values.end(isLeast).map { .decimal($0.number.cell) } ?? .null
    }
  }
}

/// Integers and doubles as numbers in the same order, and back. -0 is below 0.
enum EndOrder {
  private static let sign: UInt64 = 1 << 63

  @inline(__always)
  static func narrow(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ sign }

  @inline(__always)
  static func narrow(_ value: Double) -> UInt64 {
    let bits = value.bitPattern
    return bits & sign == 0 ? bits | sign : ~bits
  }

  static func narrow(_ value: Scalar) -> UInt64 {
    switch value {
    case .int(let value): narrow(value)
    case .double(let value): narrow(value)
    default: trap("internal error: a value of another type than its column's")
    }
  }

  static func value(_ order: UInt64, _ type: ColumnType) -> Value {
    if type == .int { return .int(Int64(bitPattern: order ^ sign)) }
    let number = Double(bitPattern: order & sign == 0 ? ~order : order & ~sign)
    return type == .float ? .float(Float(number)) : .double(number)
  }
}
