// Evaluation of single rows (touched by a commit, or under edit) and of values that are not in a
// row. `PredicateScan` evaluates whole clusters; tests check both with one table of cases.

extension ResolvedPredicate {
  /// Whether the predicate is true for a row.
  package func matches<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, in rows: Rows
  ) throws(StorageError) -> Bool {
    try root.matches(cluster, slot, rows)
  }

  /// Whether the predicate is true for the object with that key; false if it does not exist.
  package func matches(
    _ key: ObjectKey, in rows: Rows
  ) throws(StorageError) -> Bool {
    let found = try rows.withRow(classID, key) { (cluster, slot) throws(StorageError) in
      try root.matches(cluster, slot, rows)
    }
    return found ?? false
  }
}

extension ResolvedNode {
  /// The result of the tree, if `passes` gives the results of its tests, comparisons and
  /// collections.
  func holds<E: Error>(_ passes: (ResolvedNode) throws(E) -> Bool) throws(E) -> Bool {
    switch self {
    case .constant(let value): return value
    case .test, .pair, .collection: return try passes(self)
    case .not(let node): return try !node.holds(passes)
    case .and(let nodes):
      for node in nodes { if try !node.holds(passes) { return false } }
      return true
    case .or(let nodes):
      for node in nodes { if try node.holds(passes) { return true } }
      return false
    }
  }

  func matches<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> Bool {
    try holds { (node) throws(StorageError) in
      switch node {
      case .test(let test): try test.matches(cluster, slot, rows)
      case .pair(let pair): try pair.matches(cluster, slot, rows)
      case .collection(let test): try test.matches(cluster, slot, rows)
      case .constant, .not, .and, .or: trap("a compound condition is evaluated by its parts")
      }
    }
  }

  /// Whether a value that is not in a row passes: an element, or a number of elements.
  func passes(_ value: Value) -> Bool {
    holds { node in
      guard case .test(let test) = node else {
        trap("internal error: an element has no columns")
      }
      return test.passes(value)
    }
  }
}

extension ColumnPredicate {
  func matches<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> Bool {
    if path.links.isEmpty { return try matchesHere(cluster, slot, rows) }
    let found = try rows.withTarget(cluster, slot, path.links, from: 0) {
      (cluster, slot) throws(StorageError) in try matchesHere(cluster, slot, rows)
    }
    return found ?? acceptsNull
  }

  /// Like `matches`, for a row at the end of the path.
  func matchesHere<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> Bool {
    let column = path.column
    if path.isOptional && cluster.isNull(column, slot) { return acceptsNull }
    let passes =
      switch test {
      case .isNull: false
      case .text(let pattern): try matchesText(pattern, cluster, slot, rows)
      default: test.accepts(cluster.scalar(path, slot))
      }
    return passes != isNegated
  }

  /// Like `matches`, for a value.
  fileprivate func passes(_ value: Value) -> Bool {
    value == .null ? acceptsNull : test.passes(value) != isNegated
  }

  private func matchesText<Cluster: RowReading>(
    _ pattern: TextPattern, _ cluster: Cluster, _ slot: Int, _ rows: Rows
  ) throws(StorageError) -> Bool {
    switch try cluster.bytes(path.column, slot) {
    case .inline(let bytes): return unsafe pattern.matches(bytes)
    case .null: return unsafe pattern.matches(UnsafeRawBufferPointer(start: nil, count: 0))
    case .long(let length):
      guard pattern.mayMatch(length: length) else { return false }
      return try unsafe rows.withLongValue(path.classID, cluster.key(at: slot), path.column) {
        unsafe pattern.matches($0)
      }
    }
  }
}

extension ScalarPredicate {
  /// Whether the test accepts this value, which is not null.
  func passes(_ value: Value) -> Bool {
    switch (self, value) {
    case (.text(let pattern), .string(let text)): pattern.matches(Array(text.utf8))
    case (.text(let pattern), .data(let bytes)): pattern.matches(bytes)
    case (.ofType(let tests), _):
      value.scalarType.flatMap { tests[$0] }.map { $0.passes(value) } ?? false
    case (.object(let wanted), .object(let id, let key)):
      wanted.contains(ObjectRef(classID: id, key: key))
    default: Scalar(value).map(accepts) ?? false
    }
  }

  /// Like `passes`, for a value that is not stored as bytes.
  fileprivate func accepts(_ value: Scalar) -> Bool {
    switch (self, value) {
    case (.isNaN, _): value.isNaN
    case (.int(let domain), .int(let value)): domain.contains(value)
    case (.bool(let wanted), .bool(let value)): value == wanted
    case (.double(let domain), .double(let value)): domain.contains(value)
    case (.float(let domain), .double(let value)): domain.contains(Float(value))
    case (.decimal(let domain), .decimal(let value)): domain.contains(value.order)
    case (.date(let domain), .date(let value)): domain.contains(value)
    case (.bytes12(let domain), .bytes12(let value)): domain.contains(value)
    case (.bytes16(let domain), .bytes16(let value)): domain.contains(value)
    default: false
    }
  }
}

extension ComparisonOperator {
  /// Whether the comparison of two values of rows is true.
  func accepts(_ a: Scalar, _ b: Scalar) -> Bool {
    let order = Scalar.compare(a, b)
    switch self {
    case .equal: return order == 0
    case .notEqual: return order != 0
    default: return a.isNull == b.isNull && !a.isNaN && !b.isNaN && accepts(order)
    }
  }
}
