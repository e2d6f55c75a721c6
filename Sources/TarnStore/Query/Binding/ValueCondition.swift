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
    root = try ColumnConstants(path, [], StoreSchema(classes: []), []).node(predicate, depth: 0)
  }

  package func matches(_ value: Value) -> Bool { root.passes(value) }
}
