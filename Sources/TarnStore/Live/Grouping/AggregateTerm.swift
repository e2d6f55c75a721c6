/// An aggregate of the rows of a group, by name.
package struct AggregateTerm: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The number of rows, with or without values.
    case count
    case sum, min, max, average
  }

  package var kind: Kind
  /// A column of the rows' class; empty for `count`.
  package var column: String

  package init(_ kind: Kind, of column: String = "") {
    self.kind = kind
    self.column = column
  }
}

/// An aggregate of a column.
struct AggregateColumn: Sendable {
  let path: ColumnPath
  var hasSum = false
  var hasExtremes = false
}
