/// A condition whose parts compare columns with constants or with each other, for translators into
/// other languages. It is equivalent to the `ResolvedPredicate` from which it was made, which
/// describes how values compare.
package indirect enum ColumnCondition: Sendable {
  case constant(Bool)
  /// The value passes the test, or does not if the test is negated.
  case test(ColumnPath, ScalarPredicate, isNegated: Bool)
  /// Compares two values, both of which may be null.
  case pair(ColumnPath, ComparisonOperator, ColumnPath, StringOptions)
  case and([ColumnCondition])
  case or([ColumnCondition])
  case not(ColumnCondition)
  /// A condition on a collection or within a mixed value.
  case collection
}

extension ResolvedPredicate {
  /// The same condition, part by part.
  package var columns: ColumnCondition { root.columns }
}

extension ResolvedNode {
  fileprivate var columns: ColumnCondition {
    switch self {
    case .constant(let value): .constant(value)
    case .test(let test): .test(test.path, test.test, isNegated: test.isNegated)
    case .pair(let pair):
      if case .column(let left) = pair.left, case .column(let right) = pair.right {
        .pair(left, pair.op, right, pair.options)
      } else {
        .collection
      }
    case .and(let nodes): .and(nodes.map(\.columns))
    case .or(let nodes): .or(nodes.map(\.columns))
    case .not(let node): .not(node.columns)
    case .collection: .collection
    }
  }
}
