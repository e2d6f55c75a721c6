/// The values of a column that a comparison accepts: all from a smallest to a largest one, or an
/// ascending list. Every comparison with a constant becomes a domain, or the complement of one.
package enum Domain<T: Comparable & Hashable & Sendable>: Hashable, Sendable {
  case range(T, T)
  case set([T])

  @inline(__always)
  func contains(_ value: T) -> Bool {
    switch self {
    case .range(let low, let high): return low <= value && value <= high
    case .set(let values):
      let index = values.partitioningIndex { $0 >= value }
      return index < values.count && values[index] == value
    }
  }

  /// The domain of some values; nil for none.
  init?(_ values: [T]) {
    var sorted = values.sorted()
    var kept = 0
    for value in sorted where kept == 0 || sorted[kept - 1] != value {
      sorted[kept] = value
      kept += 1
    }
    sorted.removeSubrange(kept...)
    guard let first = sorted.first else { return nil }
    self = kept == 1 ? .range(first, first) : .set(sorted)
  }
}

/// A number of a predicate, as it was written.
enum NumericConstant {
  case int(Int64)
  case double(Double)
  case decimal(DecimalNumber)

  init?(_ value: Value) {
    switch value {
    case .int(let value): self = .int(value)
    case .double(let value): self = .double(value)
    case .float(let value): self = .double(Double(value))
    case .decimal(let cell): self = .decimal(DecimalNumber(cell))
    default: return nil
    }
  }

  var isNaN: Bool {
    switch self {
    case .int: false
    case .double(let value): value.isNaN
    case .decimal(let value): value.isNaN
    }
  }
}

/// A type whose ranges can be given by their first and last value.
protocol Steppable: Comparable {
  static var least: Self { get }
  static var greatest: Self { get }
  /// The next lower value, nil for the smallest.
  var before: Self? { get }
  var after: Self? { get }
}

extension Domain where T: Steppable {
  /// The values for which the comparison is true; nil for none. `op` is an equality or an order.
  init?(_ op: ComparisonOperator, _ constant: T) {
    switch op {
    case .less:
      guard let high = constant.before else { return nil }
      self = .range(T.least, high)
    case .lessOrEqual: self = .range(T.least, constant)
    case .greater:
      guard let low = constant.after else { return nil }
      self = .range(low, T.greatest)
    case .greaterOrEqual: self = .range(constant, T.greatest)
    default: self = .range(constant, constant)
    }
  }
}

extension Int64: Steppable {
  static var least: Int64 { .min }
  static var greatest: Int64 { .max }
  var before: Int64? { self == .min ? nil : self - 1 }
  var after: Int64? { self == .max ? nil : self + 1 }
}

extension Double: Steppable {
  static var least: Double { -.infinity }
  static var greatest: Double { .infinity }
  var before: Double? { self == -.infinity ? nil : nextDown }
  var after: Double? { self == .infinity ? nil : nextUp }
}

extension DecimalOrder: Steppable {
  static var least: DecimalOrder { leastNumber }
  static var greatest: DecimalOrder { greatestNumber }
  var before: DecimalOrder? { self <= .least ? nil : DecimalOrder(bits: bits - 1) }
  var after: DecimalOrder? { self >= .greatest ? nil : DecimalOrder(bits: bits + 1) }
}

extension Timestamp: Steppable {
  static var least: Timestamp { Timestamp(seconds: .min, nanoseconds: .min) }
  static var greatest: Timestamp { Timestamp(seconds: .max, nanoseconds: .max) }
  var before: Timestamp? {
    if nanoseconds > .min { return Timestamp(seconds: seconds, nanoseconds: nanoseconds - 1) }
    return seconds.before.map { Timestamp(seconds: $0, nanoseconds: .max) }
  }
  var after: Timestamp? {
    if nanoseconds < .max { return Timestamp(seconds: seconds, nanoseconds: nanoseconds + 1) }
    return seconds.after.map { Timestamp(seconds: $0, nanoseconds: .min) }
  }
}

extension Bytes12: Steppable {
  static var least: Bytes12 { Bytes12(high: 0, low: 0) }
  static var greatest: Bytes12 { Bytes12(high: .max, low: .max) }
  var before: Bytes12? {
    if low > 0 { return Bytes12(high: high, low: low - 1) }
    return high == 0 ? nil : Bytes12(high: high - 1, low: .max)
  }
  var after: Bytes12? {
    if low < .max { return Bytes12(high: high, low: low + 1) }
    return high == .max ? nil : Bytes12(high: high + 1, low: 0)
  }
}

extension Bytes16: Steppable {
  static var least: Bytes16 { Bytes16(high: 0, low: 0) }
  static var greatest: Bytes16 { Bytes16(high: .max, low: .max) }
  var before: Bytes16? {
    if low > 0 { return Bytes16(high: high, low: low - 1) }
    return high == 0 ? nil : Bytes16(high: high - 1, low: .max)
  }
  var after: Bytes16? {
    if low < .max { return Bytes16(high: high, low: low + 1) }
    return high == .max ? nil : Bytes16(high: high + 1, low: 0)
  }
}
