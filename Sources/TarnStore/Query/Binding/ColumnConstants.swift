/// Turns comparisons of one column with constants into tests.
struct ColumnConstants {
  let path: ColumnPath
  /// The column's name in messages; the empty path for values that are not in rows.
  let name: Operand
  let schema: StoreSchema
  let options: StringOptions
  /// The object with the column may be missing, which rows do not show.
  private let mayBeNowhere: Bool

  init(
    _ path: ColumnPath, _ name: Operand, _ schema: StoreSchema, _ options: StringOptions,
    mayBeNowhere: Bool = false
  ) {
    self.path = path
    self.name = name
    self.schema = schema
    self.options = options
    self.mayBeNowhere = mayBeNowhere
  }

  func node(_ op: ComparisonOperator, _ value: Value) throws(PredicateError) -> ResolvedNode {
    try path.check(op, options, name, schema)
    guard op != .in else { throw PredicateError("IN needs a list of values: \(described)") }
    if value == .null { return comparisonWithNull(op) }
    let wanted: ComparisonOperator = op == .notEqual ? .equal : op
    let node = test(try scalarPredicate(wanted, value))
    return op == .notEqual ? !node : node
  }

  private func comparisonWithNull(_ op: ComparisonOperator) -> ResolvedNode {
    switch op {
    case .equal, .lessOrEqual: isNull
    case .notEqual: !isNull
    case .greaterOrEqual: path.type == .string ? .constant(true) : isNull
    case .greater: path.type == .string ? !isNull : .constant(false)
    case .less, .contains, .beginsWith, .endsWith, .like, .in: .constant(false)
    }
  }

  func node(anyOf values: [Value]) throws(PredicateError) -> ResolvedNode {
    try path.check(.equal, options, name, schema)
    var kept: [Value] = []
    var nodes: [ResolvedNode] = []
    for value in values {
      if value == .null {
        nodes.append(isNull)
      } else if isNaN(value) || path.type == .any && value.scalarType == .bool {
        nodes.append(try node(.equal, value))
      } else {
        kept.append(value)
      }
    }
    if path.type == .bool, Set(try all(kept, bool)).count == 2 {
      nodes.append(!isNull)
    } else {
      nodes.append(test(try membership(kept)))
    }
    return .any(nodes)
  }

  private func isNaN(_ value: Value) -> Bool {
    guard case .string(let text) = value else { return NumericConstant(value)?.isNaN == true }
    let isNumber = path.type == .decimal || path.type == .double || path.type == .float
    return isNumber && DecimalNumber(text: text)?.isNaN == true
  }

  private var isNull: ResolvedNode {
    path.mayBeNull || mayBeNowhere ? .test(ColumnPredicate(path, .isNull)) : .constant(false)
  }

  private func test(_ test: ScalarPredicate?) -> ResolvedNode {
    test.map { .test(ColumnPredicate(path, $0)) } ?? .constant(false)
  }

  /// Nil if no value passes.
  func scalarPredicate(
    _ op: ComparisonOperator, _ value: Value
  ) throws(PredicateError) -> ScalarPredicate? {
    switch path.type {
    case .int: return Domain<Int64>(op, number: try number(value)).map { .int($0) }
    case .double, .float:
      let constant = try floatingNumber(value)
      if constant.isNaN { return op == .equal ? .isNaN : nil }
      let domain = Domain<Double>(op, number: constant)
      if path.type == .double { return domain.map { .double($0) } }
      return domain?.floats.map { .float($0) }
    case .bool: return .bool(try bool(value))
    case .link:
      if value == .unmanagedObject { return nil }
      return Domain<Int64>(op, try key(value)).map { .int($0) }
    case .date: return Domain<Timestamp>(op, try date(value)).map { .date($0) }
    case .objectID: return Domain<Bytes12>(op, try bytes12(value)).map { .bytes12($0) }
    case .uuid: return Domain<Bytes16>(op, try bytes16(value)).map { .bytes16($0) }
    case .decimal:
      let constant = try decimal(value)
      if constant.isNaN { return op == .equal ? .isNaN : nil }
      return Domain<DecimalOrder>(op, number: constant).map { .decimal($0) }
    case .any: return try testOfAnyType(op, value)
    case .string, .data:
      let bytes = try text(value)
      if op.isTextSearch && bytes.isEmpty { return nil }
      return .text(TextPattern(op, bytes, options))
    }
  }

  func membership(_ values: [Value]) throws(PredicateError) -> ScalarPredicate? {
    switch path.type {
    case .int:
      // A number that is not an integer cannot be a member.
      let domains = try all(values, number).compactMap { Domain<Int64>(.equal, number: $0) }
      return Domain(domains.flatMap(\.values)).map { .int($0) }
    case .double, .float:
      let domains = try all(values, floatingNumber).compactMap {
        Domain<Double>(.equal, number: $0)
      }
      let domain = Domain(domains.flatMap(\.values))
      if path.type == .double { return domain.map { .double($0) } }
      return domain?.floats.map { .float($0) }
    case .link:
      return Domain(try all(values.filter { $0 != .unmanagedObject }, key)).map { .int($0) }
    case .date: return Domain(try all(values, date)).map { .date($0) }
    case .objectID: return Domain(try all(values, bytes12)).map { .bytes12($0) }
    case .uuid: return Domain(try all(values, bytes16)).map { .bytes16($0) }
    case .bool:
      return try values.first.map { (value) throws(PredicateError) in .bool(try bool(value)) }
    case .decimal:
      let domains = try all(values, decimal).compactMap {
        Domain<DecimalOrder>(.equal, number: $0)
      }
      return Domain(domains.flatMap(\.values)).map { .decimal($0) }
    case .any: return try membershipOfAnyType(values)
    case .string, .data:
      let needles = try all(values, text)
      if needles.isEmpty { return nil }
      return .text(TextPattern(anyOf: needles, options))
    }
  }

  private func all<T>(
    _ values: [Value], _ convert: (Value) throws(PredicateError) -> T
  ) throws(PredicateError) -> [T] {
    var result: [T] = []
    for value in values { result.append(try convert(value)) }
    return result
  }
}

// MARK: - Constants in a column's type

extension ColumnConstants {
  private var described: String {
    path.described(as: name, in: schema)
  }

  func mismatch(_ value: Value, _ hint: String = "") -> PredicateError {
    if case .object(let id, _) = value {
      let object = schema[id].map { "object of class '\($0.name)'" } ?? "unmanaged object"
      return PredicateError(
        "\(described) is of type \(path.typeName(in: schema)), "
          + "which cannot be compared with an \(object)")
    }
    return PredicateError(
      "\(described) is of type \(path.typeName(in: schema)), "
        + "which cannot be compared with \(value.predicateText)\(hint)")
  }

  private func number(_ value: Value) throws(PredicateError) -> NumericConstant {
    // A number that is not finite is printed in quotes, whatever the type of the column.
    if case .string(let text) = value, DecimalNumber(text: text)?.isFinite == false,
      let quoted = Self.quotedNumber(text)
    {
      return quoted
    }
    guard let number = NumericConstant(value) else { throw mismatch(value) }
    return number
  }

  /// A number in the type of a double or float column.
  private func floatingNumber(_ value: Value) throws(PredicateError) -> NumericConstant {
    var number: NumericConstant
    if case .string(let text) = value {
      guard let quoted = Self.quotedNumber(text) else {
        throw mismatch(value, ": write a number like 2.5 or \"Infinity\"")
      }
      number = quoted
    } else {
      number = try self.number(value)
    }
    return path.type == .float ? number.asFloat : number
  }

  /// A number in quotes, which means the same as without them. Only in quotes can it be not finite.
  private static func quotedNumber(_ text: String) -> NumericConstant? {
    guard let written = DecimalNumber(text: text) else { return nil }
    if written.isNaN { return .double(.nan) }
    if !written.isFinite { return .double(written.isNegative ? -.infinity : .infinity) }
    if let integer = Int64(text) { return .int(integer) }
    let isInteger = !".eE".utf8.contains { text.utf8.contains($0) }
    return PredicateLexer.number(text, isInteger: isInteger).flatMap { NumericConstant($0) }
  }

  private func decimal(_ value: Value) throws(PredicateError) -> NumericConstant {
    switch value {
    case .float(let value):
      guard let written = DecimalNumber(text: "\(value)") else { return .double(Double(value)) }
      return .decimal(written)
    case .string(let text):
      guard let decimal = DecimalNumber.parse(text) else {
        throw mismatch(value, ": write a decimal like 12.50 or \"12.50\"")
      }
      guard decimal.isExact else {
        throw mismatch(value, ": a decimal has up to \(DecimalNumber.digitsMax) digits")
      }
      return .decimal(decimal.value)
    default: return try number(value)
    }
  }

  private func bool(_ value: Value) throws(PredicateError) -> Bool {
    switch value {
    case .bool(let value): return value
    case .int(0): return false
    case .int(1): return true
    case .string(let text):
      guard let value = Bool(spelling: text) else { throw mismatch(.string(text)) }
      return value
    default: throw mismatch(value)
    }
  }

  private func key(_ value: Value) throws(PredicateError) -> Int64 {
    switch value {
    case .link(let key): return key.rawValue
    case .int(let key): return key
    case .object(let id, let key) where id == path.target: return key.rawValue
    default: throw mismatch(value, ": compare a link with the key of an object")
    }
  }

  private func date(_ value: Value) throws(PredicateError) -> Timestamp {
    if case .date(let date) = value { return date }
    guard case .string(let text) = value, let date = Timestamp(iso8601: text) else {
      throw mismatch(value, ": write a date like \"2024-05-01T12:30:00Z\"")
    }
    return date
  }

  private func bytes12(_ value: Value) throws(PredicateError) -> Bytes12 {
    if case .objectID(let id) = value { return id }
    guard case .string(let text) = value, let id = Bytes12(hexadecimal: text) else {
      throw mismatch(value, ": write an object id as 24 hexadecimal digits in quotes")
    }
    return id
  }

  private func bytes16(_ value: Value) throws(PredicateError) -> Bytes16 {
    if case .uuid(let uuid) = value { return uuid }
    guard case .string(let text) = value, let uuid = Bytes16(uuidText: text) else {
      throw mismatch(value, ": write a UUID as 8-4-4-4-12 hexadecimal digits in quotes")
    }
    return uuid
  }

  private func text(_ value: Value) throws(PredicateError) -> [UInt8] {
    switch value {
    case .string(let text): return Array(text.utf8)
    case .data(let bytes) where path.type == .data: return bytes
    default: throw mismatch(value)
    }
  }
}

extension ColumnPath {
  /// Throws if the operator does not apply to the column's type.
  func check(
    _ op: ComparisonOperator, _ options: StringOptions, _ name: Operand, _ schema: StoreSchema
  ) throws(PredicateError) {
    let isString = type == .string || type == .any
    let isText = isString || type == .data
    let isOrder = [.less, .lessOrEqual, .greater, .greaterOrEqual].contains(op)
    let reason: String
    if op == .like && !isString {
      reason = "LIKE needs a string"
    } else if op.isTextSearch && !isText {
      reason = "\(op) needs a string or data"
    } else if isOrder && (type == .bool || type == .link) {
      reason = "\(op) needs values that have an order"
    } else if op == .like && options.contains(.diacriticInsensitive) {
      reason = "LIKE does not support [d]"
    } else if !options.isEmpty && !isString {
      reason = "\(options.suffix) needs a string"
    } else if !options.isEmpty && isOrder {
      reason = "\(op) does not support \(options.suffix)"
    } else {
      return
    }
    let what = described(as: name, in: schema)
    throw PredicateError("\(reason): \(what) is of type \(typeName(in: schema))")
  }

  fileprivate func described(as name: Operand, in schema: StoreSchema) -> String {
    name == .path([])
      ? "the value" : "property '\(name)' of class '\(schema[classID]?.name ?? "")'"
  }

  func typeName(in schema: StoreSchema) -> String {
    guard let target else { return "\(type)" }
    return "link to '\(schema[target]?.name ?? "")'"
  }
}

extension ColumnType {
  var isNumeric: Bool { self == .int || self == .double || self == .float || self == .decimal }
}

extension Domain {
  fileprivate var values: [T] {
    switch self {
    case .range(let low, let high): low == high ? [low] : [low, high]
    case .set(let values): values
    }
  }
}

/// A condition on values that are not in rows: the elements of a collection, tested one by one. Its
/// paths are empty and denote the value.
package struct ValueCondition: Sendable {
  private let root: ResolvedNode

  /// - Parameter column: describes the values.
  /// - Throws: if the condition does not fit the values.
  package init(_ predicate: Predicate, _ column: ColumnSchema) throws(PredicateError) {
    guard column.type != .link else {
      throw PredicateError(
        "values that are stored as objects have nothing that a condition could compare: use "
          + "index(where:)")
    }
    let path = ColumnPath(column, of: ClassID(0))
    root = try ColumnConstants(path, .path([]), StoreSchema(classes: []), []).node(
      predicate, depth: 0)
  }

  package func matches(_ value: Value) -> Bool { root.passes(value) }
}
