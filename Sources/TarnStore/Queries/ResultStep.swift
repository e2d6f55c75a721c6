/// What one change set made of a result's rows.
package struct ResultStep: Sendable {
  package let before: OrderedRoot
  package let after: OrderedRoot
  /// Rows that came, went, or were put anew; rows whose data changed.
  package let touched: CompiledQuery.TouchedRows
  /// False if no row of either root is touched: then nobody is to be told.
  package let isNews: Bool
  private var knownDifference: IndexChanges?

  init(_ before: OrderedRoot, _ after: OrderedRoot, _ touched: CompiledQuery.TouchedRows) {
    self.before = before
    self.after = after
    self.touched = touched
    isNews = touched.all.contains { before.contains($0) || after.contains($0) }
  }

  /// The difference as positions.
  package func difference() -> IndexChanges {
    knownDifference ?? touched.difference(before, after)
  }

  /// The same step, with its difference worked out.
  func withDifference() -> ResultStep {
    var step = self
    step.knownDifference = difference()
    return step
  }
}

extension CompiledQuery {
  /// The step from the rows in `old` over `changes`, which lead to what `rows` shows.
  package func step(
    from old: OrderedRoot, over changes: ChangeSet, to rows: StoreRows
  ) throws(StorageError) -> ResultStep {
    let (root, touched) = try advance(old, over: changes, to: rows)
    return ResultStep(old, root, touched)
  }

  /// What `changes` made of the rows in `old`, which are those in `new` now.
  package func difference(
    _ old: OrderedRoot, _ new: OrderedRoot, over changes: ChangeSet, _ rows: StoreRows
  ) throws(StorageError) -> IndexChanges {
    try touchedRows(changes, rows, among: old).difference(old, new)
  }
}
