import TarnStore

/// Translates a condition on the objects of a class into one on the rows of its table.
///
/// The answer is the same: texts and data by bytes, every part true or false also where a value is
/// nil, NaN equal to itself and neither less nor greater than anything. What SQL cannot answer so
/// is refused by name. Where a column holds less than a property, its value decides.
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
  ///   answer.
  func text(_ predicate: Predicate, on id: ClassID) throws(PredicateError) -> String {
    try text(ResolvedPredicate(predicate, on: id, in: schema).columns)
  }

  private func text(_ condition: ColumnCondition) throws(PredicateError) -> String {
    switch condition {
    case .constant(let value): return "\(value)"
    case .test(let path, let test, let isNegated):
      return (isNegated ? "NOT " : "") + (try self.test(path, test))
    case .pair(let left, let op, let right, let options):
      return try pair(left, op, right, options)
    case .and(let parts): return try joined(parts, " AND ")
    case .or(let parts): return try joined(parts, " OR ")
    case .not(let part): return "NOT (\(try text(part)))"
    case .collection:
      throw PredicateError(
        "a subscription cannot test a collection or the contents of an AnyRealmValue")
    }
  }

  private func joined(
    _ parts: [ColumnCondition], _ word: String
  ) throws(PredicateError) -> String {
    var texts: [String] = []
    for part in parts { texts.append(try text(part)) }
    return "(\(texts.joined(separator: word)))"
  }

  // MARK: - A column and constants

  private func test(_ path: ColumnPath, _ test: ScalarTest) throws(PredicateError) -> String {
    let column = try ConditionColumn(path, schema)
    let term = column.term
    if case .text(let pattern) = test { return try texts(column, pattern) }
    if path.type == .link, case .int(let keys) = test { return try link(column, path, keys) }
    let type = column.type
    switch test {
    case .isNull: return "(\(term) IS NULL)"
    case .isNaN: return "coalesce(\(term) = 'NaN', false)"
    case .bool(let value): return "coalesce(\(value ? "" : "NOT ")\(term), false)"
    case .int(let domain):
      return within(term, domain, .min, .max) { "\($0)" }
    case .double(let domain):
      return within(term, domain, -.infinity, nil) { SQLNumber.text($0) + "::float8" }
    case .float(let domain):
      return within(term, domain, -.infinity, nil) { SQLNumber.text(Double($0)) + "::real" }
    case .decimal(let domain): return decimals(term, domain)
    case .date(let domain): return dates(term, domain)
    case .bytes12(let domain):
      return within(term, domain, nil, nil) { "'\\x\($0.hexadecimal)'::bytea" }
    case .bytes16(let domain):
      return within(term, domain, nil, nil) { "'\($0.uuidText)'::uuid" }
    case .text, .ofType, .object:
      throw PredicateError("a subscription cannot compare \(column.name) of type \(type)")
    }
  }

  /// - Parameters:
  ///   - least: the least value of the type, which needs no test; nil if the test is needed.
  ///   - greatest: likewise.
  private func within<T>(
    _ term: String, _ domain: Domain<T>, _ least: T?, _ greatest: T?,
    _ literal: (T) -> String
  ) -> String {
    switch domain {
    case .set(let values):
      return "coalesce(\(term) IN (\(values.map(literal).joined(separator: ", "))), false)"
    case .range(let low, let high) where low == high:
      return "coalesce(\(term) = \(literal(low)), false)"
    case .range(let low, let high):
      var tests: [String] = []
      if low != least { tests.append("\(term) >= \(literal(low))") }
      if high != greatest { tests.append("\(term) <= \(literal(high))") }
      let all = tests.isEmpty ? "\(term) IS NOT NULL" : tests.joined(separator: " AND ")
      return "coalesce(\(all), false)"
    }
  }

  /// The ends of a range need not be numbers: then their neighbours are.
  private func decimals(_ term: String, _ domain: Domain<DecimalOrder>) -> String {
    guard case .range(let low, let high) = domain, low != high else {
      return within(term, domain, nil, nil) { SQLNumber.text($0.number) }
    }
    func end(_ bound: DecimalOrder, _ sign: String, _ step: Int) -> String {
      if bound.isNumber { return "\(term) \(sign)= \(SQLNumber.text(bound.number))" }
      let beyond = DecimalOrder(bits: step < 0 ? bound.bits - 1 : bound.bits + 1)
      return "\(term) \(sign) \(SQLNumber.text(beyond.number))"
    }
    return "coalesce(\(end(low, ">", -1)) AND \(end(high, "<", 1)), false)"
  }

  /// A column has microseconds, a constant may lie between two of them.
  private func dates(_ term: String, _ domain: Domain<Timestamp>) -> String {
    switch domain {
    case .set(let times):
      let exact = times.map(SQLTime.init).filter(\.isExact).map(\.text)
      return exact.isEmpty
        ? "false" : "coalesce(\(term) IN (\(exact.joined(separator: ", "))), false)"
    case .range(let low, let high):
      let (first, last) = (SQLTime(low), SQLTime(high))
      return "coalesce(\(term) \(first.isExact ? ">=" : ">") \(first.text)"
        + " AND \(term) <= \(last.text), false)"
    }
  }

  private func link(
    _ column: ConditionColumn, _ path: ColumnPath, _ keys: Domain<Int64>
  ) throws(PredicateError) -> String {
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
    var literals: [String] = []
    for value in values {
      guard let key = primaryKey(target, ObjectKey(value)), let literal = SQLNumber.literal(key)
      else {
        throw PredicateError(
          "a subscription compares \(column.name) with an object without a primary key")
      }
      literals.append(literal)
    }
    return "coalesce(\(column.term) IN (\(literals.joined(separator: ", "))), false)"
  }

  // MARK: - Texts

  private func texts(
    _ column: ConditionColumn, _ pattern: TextPattern
  ) throws(PredicateError) -> String {
    guard pattern.options.isEmpty else {
      throw PredicateError(
        "a subscription cannot compare \(column.name) regardless of case or diacritics: the server"
          + " compares bytes")
    }
    let isData = column.type == .data
    func literal(_ bytes: [UInt8]) throws(PredicateError) -> String {
      if isData { return "'\\x\(bytes.hexadecimalDigits)'::bytea" }
      guard !bytes.contains(0) else {
        throw PredicateError("a subscription cannot compare \(column.name) with a NUL")
      }
      return SQLText.standardLiteral(String(decoding: bytes, as: UTF8.self))
    }
    let term = column.term
    let passesNull = !isData && [.less, .lessOrEqual].contains(pattern.op)
    let test: String
    switch pattern.op {
    case .equal: test = "\(term) = \(try literal(pattern.needle))"
    case .less: test = "\(term) < \(try literal(pattern.needle))"
    case .lessOrEqual: test = "\(term) <= \(try literal(pattern.needle))"
    case .greater: test = "\(term) > \(try literal(pattern.needle))"
    case .greaterOrEqual: test = "\(term) >= \(try literal(pattern.needle))"
    case .in:
      var all: [String] = []
      for needle in pattern.needles { all.append(try literal(needle)) }
      test = "\(term) IN (\(all.joined(separator: ", ")))"
    case .contains: test = "position(\(try literal(pattern.needle)) IN \(term)) > 0"
    case .beginsWith, .endsWith:
      let needle = try literal(pattern.needle)
      let part =
        pattern.op == .beginsWith
        ? "1" : "greatest(length(\(term)) - length(\(needle)) + 1, 1)"
      test = "substr(\(term), \(part), length(\(needle))) = \(needle)"
    case .like:
      test = "\(term) LIKE \(try literal(Self.likePattern(pattern.needle)))"
    case .notEqual:
      throw PredicateError("a subscription cannot compare \(column.name) so")
    }
    return "coalesce(\(test), \(passesNull))"
  }

  /// `*` and `?` as SQL writes them.
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
  ) throws(PredicateError) -> String {
    let (a, b) = (try ConditionColumn(left, schema), try ConditionColumn(right, schema))
    guard options.isEmpty, a.type == b.type, left.type != .link, right.type != .link else {
      throw PredicateError("a subscription cannot compare \(a.name) with \(b.name)")
    }
    let (x, y) = (a.term, b.term)
    let isText = a.type == .string
    // NaN has no order, and an empty text is in no other.
    let hasNaN = [.float, .double, .decimal].contains(a.type)
    let numbers = hasNaN ? " AND \(x) <> 'NaN' AND \(y) <> 'NaN'" : ""
    switch op {
    case .equal: return "(\(x) IS NOT DISTINCT FROM \(y))"
    case .notEqual: return "(\(x) IS DISTINCT FROM \(y))"
    case .less:
      let nulls = isText ? "\(x) IS NULL AND \(y) IS NOT NULL" : "false"
      return "coalesce(\(x) < \(y)\(numbers), \(nulls))"
    case .lessOrEqual:
      let nulls = isText ? "\(x) IS NULL" : "\(x) IS NULL AND \(y) IS NULL"
      return "coalesce(\(x) <= \(y)\(numbers), \(nulls))"
    case .greater:
      let nulls = isText ? "\(y) IS NULL AND \(x) IS NOT NULL" : "false"
      return "coalesce(\(x) > \(y)\(numbers), \(nulls))"
    case .greaterOrEqual:
      let nulls = isText ? "\(y) IS NULL" : "\(x) IS NULL AND \(y) IS NULL"
      return "coalesce(\(x) >= \(y)\(numbers), \(nulls))"
    case .contains: return "coalesce(length(\(y)) > 0 AND position(\(y) IN \(x)) > 0, false)"
    case .beginsWith:
      return "coalesce(length(\(y)) > 0 AND substr(\(x), 1, length(\(y))) = \(y), false)"
    case .endsWith:
      return "coalesce(length(\(y)) > 0 AND length(\(x)) >= length(\(y))"
        + " AND substr(\(x), length(\(x)) - length(\(y)) + 1) = \(y), false)"
    case .like, .in:
      throw PredicateError("a subscription cannot compare \(a.name) with \(b.name) so")
    }
  }
}
