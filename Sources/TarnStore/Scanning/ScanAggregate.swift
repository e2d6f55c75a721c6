/// Least, greatest, sum, average and count of a column's values over many rows. Rows without a
/// value, and NaN, take no part.
///
///     var aggregate = try ScanAggregate("age", on: classID, in: schema)
///     for each cluster: aggregate.append(image, scan.matches)
///
/// Integers are summed exactly in 128 bits; `sum` is an integer if it fits 64 bits, else the
/// nearest double. The sums of floats, doubles and decimals are exact, too, and rounded once at the
/// end.
package struct ScanAggregate {
  package let path: ColumnPath
  /// Rows with a value.
  package private(set) var count = 0
  private var least: Value = .null
  private var greatest: Value = .null
  private var integerSum: Int128 = 0
  private var doubleSum = ExactSum()
  private var decimalSum = DecimalSum()

  /// Throws for a property that does not exist, lies behind a link, or is neither a number nor a
  /// date.
  package init(
    _ name: String, on classID: ClassID, in schema: StoreSchema
  ) throws(PredicateError) {
    path = try Self.column(name, on: classID, in: schema)
  }

  /// The column of that name, which may stand in back quotes, if it can be aggregated. Throws as
  /// `init` does.
  static func column(
    _ name: String, on classID: ClassID, in schema: StoreSchema
  ) throws(PredicateError) -> ColumnPath {
    if let problem = Self.problem(of: name) {
      let known = (schema[classID]?.columns ?? []).lazy.filter { !$0.isRemoved }.map(\.name)
      let advice = PathText.advice(for: PathText.names(in: name), among: known)
      throw PredicateError(problem + (advice.map { "; \($0)" } ?? ""))
    }
    let name = PathText.name(name)
    let path = try ColumnPath([name], from: classID, in: schema, for: .aggregate)
    guard path.type.isNumeric || path.type == .date else {
      throw PredicateError(
        "property '\(name)' of class '\(schema[classID]?.name ?? "")' is of type "
          + "\(path.typeName(in: schema)), which has no minimum, maximum or sum")
    }
    return path
  }

  /// What is wrong with a path instead of a name.
  package static func problem(of name: String) -> String? {
    guard PathText.names(in: name).count > 1 else { return nil }
    return "'\(name)' is not a property of the objects themselves, and only such properties can be "
      + "aggregated. Iterate over the objects in Swift instead"
  }

  /// The least value; null without any.
  package var min: Value { least }
  package var max: Value { greatest }

  /// 0 without a value. Null for dates.
  package var sum: Value {
    switch path.type {
    case .int: Int64(exactly: integerSum).map { .int($0) } ?? .double(Double(integerSum))
    case .date: .null
    case .decimal: .decimal(decimalSum.value.cell)
    default: .double(doubleSum.value)
    }
  }

  /// A decimal for decimals, else a double. Null without a value, and for dates.
  package var average: Value {
    if count == 0 { return .null }
    switch path.type {
    case .date: return .null
    case .int: return .double(Double(integerSum) / Double(count))
    case .decimal: return .decimal(decimalSum.average(of: count).cell)
    default: return .double(doubleSum.value / Double(count))
    }
  }

  /// Takes the rows of a cluster that have a bit in `matches`, or all.
  package mutating func append(_ image: ClusterImage, _ matches: UnsafePointer<UInt64>? = nil) {
    if let matches = unsafe matches {
      unsafe Bitmap.forEach(matches, image.bitmapWords) { slot in append(image, slot) }
    } else {
      for slot in 0..<image.rowCount { append(image, slot) }
    }
  }

  /// Takes one row.
  @inline(__always)
  package mutating func append<Rows: RowReading>(_ rows: Rows, _ slot: Int) {
    let column = path.column
    if path.isOptional && rows.isNull(column, slot) { return }
    switch path.type {
    case .int: append(rows.int(column, slot))
    case .float: append(Double(rows.float(column, slot)), isFloat: true)
    case .double: append(rows.double(column, slot), isFloat: false)
    case .decimal: append(DecimalNumber(rows.bytes16(column, slot)))
    default: append(rows.date(column, slot))
    }
  }

  private mutating func append(_ value: Int64) {
    count += 1
    integerSum += Int128(value)
    if case .int(let low) = least, low <= value {} else { least = .int(value) }
    if case .int(let high) = greatest, high >= value {} else { greatest = .int(value) }
  }

  private mutating func append(_ value: Double, isFloat: Bool) {
    guard !value.isNaN else { return }
    count += 1
    doubleSum.add(value)
    let boxed = isFloat ? Value.float(Float(value)) : .double(value)
    if let low = least.asDouble, low <= value {} else { least = boxed }
    if let high = greatest.asDouble, high >= value {} else { greatest = boxed }
  }

  private mutating func append(_ value: DecimalNumber) {
    guard !value.isNaN else { return }
    count += 1
    decimalSum.add(value)
    let order = value.order
    if case .decimal(let low) = least, DecimalNumber(low).order <= order {
    } else {
      least = .decimal(value.cell)
    }
    if case .decimal(let high) = greatest, DecimalNumber(high).order >= order {
    } else {
      greatest = .decimal(value.cell)
    }
  }

  private mutating func append(_ value: Timestamp) {
    count += 1
    if case .date(let low) = least, low <= value {} else { least = .date(value) }
    if case .date(let high) = greatest, high >= value {} else { greatest = .date(value) }
  }
}

extension Value {
  fileprivate var asDouble: Double? {
    switch self {
    case .double(let value): value
    case .float(let value): Double(value)
    default: nil
    }
  }
}
