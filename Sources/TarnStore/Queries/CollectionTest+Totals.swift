/// What the elements of a collection come to, where it is compared with a column of the object.
enum CollectionTotal: Hashable, Sendable {
  case count
  /// Of the elements, or of a column of theirs, as a value of that type.
  case aggregate(CollectionAggregate, ColumnPath?, ColumnType)
}

extension PredicateBuilder {
  /// What a collection comes to, of that type, against the column at a path of names.
  func total(
    _ total: CollectionTotal, _ type: ColumnType, _ path: CollectionPath,
    _ condition: CollectionCondition, _ op: ComparisonOperator, _ names: [String]
  ) throws(PredicateError) -> ResolvedNode {
    guard !path.hasSteps else {
      throw PredicateError(
        "\(Operand.path(condition.path)) compares with values only: \(condition)")
    }
    let column = try ColumnPath(names, from: classID, in: schema)
    guard column.type == type || column.type.isNumeric && type.isNumeric else {
      throw PredicateError(
        "cannot compare what '\(Operand.path(condition.path))' comes to (\(type)) with "
          + "'\(Operand.path(names))' (\(column.typeName(in: schema)))")
    }
    guard op.mirrored != nil else {
      throw PredicateError("\(op) does not compare with what a collection comes to: \(condition)")
    }
    return .collection(CollectionTest(path, .total(total, op, column)))
  }

  /// The right side of a condition that compares with nothing but a value.
  func constant(
    _ right: Operand, _ condition: CollectionCondition
  ) throws(PredicateError) -> Value {
    guard case .value(let value) = right else {
      throw PredicateError("the @count of a SUBQUERY compares with a number: \(condition)")
    }
    return value
  }
}

extension CollectionTest {
  /// Whether what the collection comes to, null behind a link that leads nowhere, compares so with
  /// the column of a row.
  func compares<Rows: RowReading, Source: RowSource>(
    _ total: CollectionTotal, _ op: ComparisonOperator, _ column: ColumnPath, _ rows: Rows,
    _ slot: Int, _ source: Source
  ) throws(StorageError) -> Bool {
    var result: Value?
    if links.isEmpty {
      result = try value(total, of: rows.key(at: slot), source)
    } else {
      result = try source.withTarget(rows, slot, links, from: 0) {
        (rows, slot) throws(StorageError) in
        try value(total, of: rows.key(at: slot), source)
      }
    }
    let scalar = Scalar(result ?? .null) ?? .null
    return op.accepts(scalar, try source.scalar(column, rows, slot))
  }

  private func value<Source: RowSource>(
    _ total: CollectionTotal, of owner: ObjectKey, _ source: Source
  ) throws(StorageError) -> Value {
    switch total {
    case .count: .int(Int64(try count(of: owner, source)))
    case .aggregate(let aggregate, let path, let type):
      aggregate.result(of: try fold(path, of: owner, source), as: type)
    }
  }
}
