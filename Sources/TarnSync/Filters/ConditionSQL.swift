import TarnStore

/// Translates a condition on the objects of a class to one on the rows of its table.
///
/// The result is the same: texts and data are compared by bytes, every part is true or false even
/// for nil values, NaN equals itself and is neither less nor greater than anything. Conditions that
/// SQL cannot evaluate in this way are refused, with the reason. If a column holds less than a
/// property, its value decides.
struct ConditionSQL {
  let schema: StoreSchema
  /// The primary key of an object of the file, which a link is compared with.
  let primaryKey: (ClassID, ObjectKey) -> Value?

  init(
    _ schema: StoreSchema, primaryKey: @escaping (ClassID, ObjectKey) -> Value? = { _, _ in nil }
  ) {
    self.schema = schema
    self.primaryKey = primaryKey
  }

  /// - Throws: `PredicateError` for a condition that does not fit the class, or that SQL cannot
  ///   evaluate.
  func translated(
    _ predicate: Predicate, on id: ClassID
  ) throws(PredicateError) -> SQLCondition {
    let condition = try translated(ResolvedPredicate(predicate, on: id, in: schema).columns)
    guard condition.constantCount <= SQLCondition.constantsMax else {
      throw PredicateError(
        "a subscription compares at most \(SQLCondition.constantsMax) values, besides those in"
          + " lists of IN; this one compares \(condition.constantCount)")
    }
    return condition
  }

  private func translated(
    _ condition: ColumnCondition
  ) throws(PredicateError) -> SQLCondition {
    switch condition {
    case .constant(let value): return value ? "true" : "false"
    case .test(let path, let test, let isNegated):
      let test = try self.test(path, test)
      return isNegated ? "NOT \(test)" : test
    case .pair(let left, let op, let right, let options):
      return try pair(left, op, right, options)
    case .and(let parts): return try joined(parts, " AND ")
    case .or(let parts): return try joined(parts, " OR ")
    case .not(let part): return "NOT (\(try translated(part)))"
    case .collection:
      throw PredicateError(
        "a subscription cannot test a collection or the contents of an AnyRealmValue")
    }
  }

  private func joined(
    _ parts: [ColumnCondition], _ word: String
  ) throws(PredicateError) -> SQLCondition {
    var all: [SQLCondition] = []
    for part in parts { all.append(try translated(part)) }
    return "(\(SQLCondition.joined(all, word)))"
  }

  // MARK: - A column and constants

  private func test(
    _ path: ColumnPath, _ test: ScalarPredicate
  ) throws(PredicateError) -> SQLCondition {
    let column = try ConditionColumn(path, schema)
    let term = column.term
    if case .text(let pattern) = test { return try texts(column, pattern) }
    if path.type == .link, case .int(let keys) = test { return try link(column, path, keys) }
    switch test {
    case .isNull: return "(\(term) IS NULL)"
    case .isNaN: return "coalesce(\(term) = 'NaN', false)"
    case .bool(let value): return "coalesce(\(sql: value ? "" : "NOT ")\(term), false)"
    case .int(let domain): return within(term, domain, .min, .max, .bigint) { SQLConstant($0) }
    case .double(let domain):
      return within(term, domain, -.infinity, nil, .double) { SQLConstant($0) }
    case .float(let domain):
      return within(term, domain, -.infinity, nil, .real) { SQLConstant($0) }
    case .decimal(let domain): return decimals(term, domain)
    case .date(let domain): return dates(term, domain)
    case .bytes12(let domain):
      return within(term, domain, nil, nil, .bytea) { SQLConstant($0) }
    case .bytes16(let domain):
      return within(term, domain, nil, nil, .uuid) { SQLConstant($0) }
    case .text, .ofType, .object:
      throw PredicateError("a subscription cannot compare \(column.name) of type \(column.type)")
    }
  }

  /// - Parameters:
  ///   - least: the smallest value of the type, which needs no test; nil if the test is needed.
  ///   - greatest: the largest value, likewise.
  private func within<T>(
    _ term: SQLCondition, _ domain: Domain<T>, _ least: T?, _ greatest: T?, _ type: WireType,
    _ constant: (T) -> SQLConstant
  ) -> SQLCondition {
    switch domain {
    case .set(let values):
      return "coalesce(\(term) \(SQLConstant(oneOf: values.map(constant), type)), false)"
    case .range(let low, let high) where low == high:
      return "coalesce(\(term) = \(constant(low)), false)"
    case .range(let low, let high):
      var tests: [SQLCondition] = []
      if low != least { tests.append("\(term) >= \(constant(low))") }
      if high != greatest { tests.append("\(term) <= \(constant(high))") }
      return tests.isEmpty
        ? "coalesce(\(term) IS NOT NULL, false)"
        : "coalesce(\(SQLCondition.joined(tests, " AND ")), false)"
    }
  }

  /// The ends of a range need not be numbers: their neighbours are used then.
  private func decimals(_ term: SQLCondition, _ domain: Domain<DecimalOrder>) -> SQLCondition {
    guard case .range(let low, let high) = domain, low != high else {
      return within(term, domain, nil, nil, .numeric) { SQLConstant($0.number) }
    }
    func end(_ bound: DecimalOrder, _ sign: String, _ step: Int) -> SQLCondition {
      if bound.isNumber { return "\(term) \(sql: sign)= \(SQLConstant(bound.number))" }
      let beyond = DecimalOrder(bits: step < 0 ? bound.bits - 1 : bound.bits + 1)
      return "\(term) \(sql: sign) \(SQLConstant(beyond.number))"
    }
    return "coalesce(\(end(low, ">", -1)) AND \(end(high, "<", 1)), false)"
  }

  /// A column stores microseconds; a constant may be between two of them.
  private func dates(_ term: SQLCondition, _ domain: Domain<Timestamp>) -> SQLCondition {
    switch domain {
    case .set(let times):
      let exact = times.map(SQLTime.init).filter(\.isExact).map(\.constant)
      return exact.isEmpty
        ? "false" : "coalesce(\(term) \(SQLConstant(oneOf: exact, .timestamp)), false)"
    case .range(let low, let high):
      let (first, last) = (SQLTime(low), SQLTime(high))
      return """
        coalesce(\(term) \(sql: first.isExact ? ">=" : ">") \(first.constant) \
        AND \(term) <= \(last.constant), false)
        """
    }
  }

  private func link(
    _ column: ConditionColumn, _ path: ColumnPath, _ keys: Domain<Int64>
  ) throws(PredicateError) -> SQLCondition {
    guard path.links.isEmpty, let target = path.target, schema[target]?.isEmbedded == false else {
      throw PredicateError("a subscription cannot compare \(column.name) with an object")
    }
    let values: [Int64]
    switch keys {
    case .set(let several): values = several
    case .range(let low, let high):
      guard low == high else {
        throw PredicateError("a subscription cannot compare \(column.name) by order")
      }
      values = [low]
    }
    var constants: [SQLConstant] = []
    for value in values {
      guard let key = primaryKey(target, ObjectKey(value)), let constant = SQLConstant(key: key)
      else {
        throw PredicateError(
          "a subscription compares \(column.name) with an object without a primary key")
      }
      constants.append(constant)
    }
    let list = SQLConstant(oneOf: constants, WireType(column.type))
    return "coalesce(\(column.term) \(list), false)"
  }

  // MARK: - Texts

  private func texts(
    _ column: ConditionColumn, _ pattern: TextPattern
  ) throws(PredicateError) -> SQLCondition {
    guard pattern.options.isEmpty else {
      throw PredicateError(
        "a subscription cannot compare \(column.name) regardless of case or diacritics: the server"
          + " compares bytes")
    }
    let isData = column.type == .data
    let wanted = isData ? Wanted(pattern) : Wanted(withoutNUL: pattern)
    guard let wanted else { return "false" }
    func constant(_ bytes: [UInt8]) -> SQLConstant {
      isData ? SQLConstant(data: bytes) : SQLConstant(text: String(decoding: bytes, as: UTF8.self))
    }
    let (term, needle) = (column.term, constant(wanted.needle))
    let passesNull = !isData && [.less, .lessOrEqual].contains(wanted.op)
    let test: SQLCondition
    switch wanted.op {
    case .equal: test = "\(term) = \(needle)"
    case .less: test = "\(term) < \(needle)"
    case .lessOrEqual: test = "\(term) <= \(needle)"
    case .greater: test = "\(term) > \(needle)"
    case .greaterOrEqual: test = "\(term) >= \(needle)"
    case .in:
      let type: WireType = isData ? .bytea : .text
      test = "\(term) \(SQLConstant(oneOf: wanted.needles.map(constant), type))"
    case .contains: test = "position(\(needle) IN \(term)) > 0"
    case .beginsWith: test = "substr(\(term), 1, length(\(needle))) = \(needle)"
    case .endsWith:
      test = """
        substr(\(term), greatest(length(\(term)) - length(\(needle)) + 1, 1), length(\(needle))) \
        = \(needle)
        """
    case .like: test = "\(term) LIKE \(constant(Self.likePattern(wanted.needle)))"
    case .notEqual:
      throw PredicateError("a subscription cannot compare \(column.name) so")
    }
    return "coalesce(\(test), \(sql: "\(passesNull)"))"
  }

  /// A comparison of strings.
  private struct Wanted {
    var op: ComparisonOperator
    var needle: [UInt8]
    var needles: [[UInt8]]

    init(_ pattern: TextPattern) {
      (op, needle, needles) = (pattern.op, pattern.needle, pattern.needles)
    }

    /// The same for a column, whose texts contain no NUL; nil if none of them can match it.
    init?(withoutNUL pattern: TextPattern) {
      self.init(pattern)
      needles.removeAll { $0.contains(0) }
      if op == .in, needles.isEmpty { return nil }
      guard let place = needle.firstIndex(of: 0) else { return }
      // The prefix before the NUL is the only smaller string with that prefix.
      needle.removeSubrange(place...)
      switch op {
      case .less, .lessOrEqual: op = .lessOrEqual
      case .greater, .greaterOrEqual: op = .greater
      default: return nil
      }
    }
  }

  /// `*` and `?` in SQL syntax.
  private static func likePattern(_ bytes: [UInt8]) -> [UInt8] {
    let (escape, star, question) = (UInt8(ascii: "\\"), UInt8(ascii: "*"), UInt8(ascii: "?"))
    var (result, isEscaped): ([UInt8], Bool) = ([], false)
    func escaped(_ byte: UInt8) -> [UInt8] {
      [escape, UInt8(ascii: "%"), UInt8(ascii: "_")].contains(byte) ? [escape, byte] : [byte]
    }
    for (place, byte) in bytes.enumerated() {
      switch byte {
      case _ where isEscaped:
        result += escaped(byte)
        isEscaped = false
      case escape where place + 1 < bytes.count: isEscaped = true
      case star: result.append(UInt8(ascii: "%"))
      case question: result.append(UInt8(ascii: "_"))
      default: result += escaped(byte)
      }
    }
    return result
  }

  // MARK: - Two columns

  private func pair(
    _ left: ColumnPath, _ op: ComparisonOperator, _ right: ColumnPath, _ options: StringOptions
  ) throws(PredicateError) -> SQLCondition {
    let (a, b) = (try ConditionColumn(left, schema), try ConditionColumn(right, schema))
    guard options.isEmpty, a.type == b.type, left.type != .link, right.type != .link else {
      throw PredicateError("a subscription cannot compare \(a.name) with \(b.name)")
    }
    let (x, y) = (a.term, b.term)
    let isText = a.type == .string
    // NaN has no order, and no string contains an empty one.
    let hasNaN = [.float, .double, .decimal].contains(a.type)
    let numbers: SQLCondition = hasNaN ? " AND \(x) <> 'NaN' AND \(y) <> 'NaN'" : ""
    switch op {
    case .equal: return "(\(x) IS NOT DISTINCT FROM \(y))"
    case .notEqual: return "(\(x) IS DISTINCT FROM \(y))"
    case .less:
      let nulls: SQLCondition = isText ? "\(x) IS NULL AND \(y) IS NOT NULL" : "false"
      return "coalesce(\(x) < \(y)\(numbers), \(nulls))"
    case .lessOrEqual:
      let nulls: SQLCondition = isText ? "\(x) IS NULL" : "\(x) IS NULL AND \(y) IS NULL"
      return "coalesce(\(x) <= \(y)\(numbers), \(nulls))"
    case .greater:
      let nulls: SQLCondition = isText ? "\(y) IS NULL AND \(x) IS NOT NULL" : "false"
      return "coalesce(\(x) > \(y)\(numbers), \(nulls))"
    case .greaterOrEqual:
      let nulls: SQLCondition = isText ? "\(y) IS NULL" : "\(x) IS NULL AND \(y) IS NULL"
      return "coalesce(\(x) >= \(y)\(numbers), \(nulls))"
    case .contains: return "coalesce(length(\(y)) > 0 AND position(\(y) IN \(x)) > 0, false)"
    case .beginsWith:
      return "coalesce(length(\(y)) > 0 AND substr(\(x), 1, length(\(y))) = \(y), false)"
    case .endsWith:
      return """
        coalesce(length(\(y)) > 0 AND length(\(x)) >= length(\(y)) \
        AND substr(\(x), length(\(x)) - length(\(y)) + 1) = \(y), false)
        """
    case .like, .in:
      throw PredicateError("a subscription cannot compare \(a.name) with \(b.name) so")
    }
  }
}
