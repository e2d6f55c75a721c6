/// Constants against mixed values: a constant is compared only with values of its own kind. Numbers
/// of all types are one kind, and compare by value.
extension ColumnConstants {
  /// Nil if no value passes.
  func testOfAnyType(
    _ op: ComparisonOperator, _ value: Value
  ) throws(PredicateError) -> ScalarPredicate? {
    try checkAnyType(op, value)
    if case .object(let id, let key) = value {
      return .ofType([.link: .object([ObjectRef(classID: id, key: key)])])
    }
    var tests: [ColumnType: ScalarPredicate] = [:]
    for type in value.comparableTypes {
      tests[type] = try typed(type).scalarPredicate(op, value)
    }
    return tests.isEmpty ? nil : .ofType(tests)
  }

  /// - Parameter values: values other than null, NaN and Booleans.
  func membershipOfAnyType(_ values: [Value]) throws(PredicateError) -> ScalarPredicate? {
    var tests: [ColumnType: ScalarPredicate] = [:]
    var objects: Set<ObjectRef> = []
    var byType: [ColumnType: [Value]] = [:]
    for value in values {
      try checkAnyType(.equal, value)
      if case .object(let id, let key) = value {
        objects.insert(ObjectRef(classID: id, key: key))
      }
      for type in value.comparableTypes { byType[type, default: []].append(value) }
    }
    for (type, values) in byType { tests[type] = try typed(type).membership(values) }
    if !objects.isEmpty { tests[.link] = .object(objects) }
    return tests.isEmpty ? nil : .ofType(tests)
  }

  /// A builder for values of that type.
  private func typed(_ type: ColumnType) -> ColumnConstants {
    var path = path
    path.type = type
    return ColumnConstants(path, name, schema, options)
  }

  private func checkAnyType(
    _ op: ComparisonOperator, _ value: Value
  ) throws(PredicateError) {
    let reason: String
    switch (value, op) {
    case (.link, _), (.list, _), (.map, _): throw mismatch(value)
    case (.bool, .less), (.bool, .lessOrEqual), (.bool, .greater), (.bool, .greaterOrEqual),
      (.object, .less), (.object, .lessOrEqual), (.object, .greater), (.object, .greaterOrEqual):
      reason = "\(op) needs values that have an order"
    case (.string, _), (.data, .contains), (.data, .beginsWith), (.data, .endsWith): return
    case (_, .like): reason = "LIKE needs a string"
    case (_, .contains), (_, .beginsWith), (_, .endsWith): reason = "\(op) needs a string or data"
    default: return
    }
    throw PredicateError("\(reason), not \(value.predicateText)")
  }
}

extension Value {
  /// The types of mixed values that may equal this one, if it is neither null nor an object.
  fileprivate var comparableTypes: [ColumnType] {
    switch self {
    case .int, .float, .double, .decimal: [.int, .float, .double, .decimal]
    case .null, .object, .link, .list, .map: []
    default: scalarType.map { [$0] } ?? []
    }
  }
}
