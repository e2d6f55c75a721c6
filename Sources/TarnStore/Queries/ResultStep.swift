/// What one change set made of a result's rows.
package struct ResultStep: Sendable {
  package let before: OrderedRoot
  package let after: OrderedRoot
  /// Rows that came, went, or were put anew; rows whose data changed.
  package let touched: CompiledQuery.TouchedRows
  /// False if no row of either root is touched: then nobody is to be told.
  package let isNews: Bool
  private var found: Found

  private enum Found: Sendable {
    /// What the update found out on its way.
    case update(OrderedUpdate)
    case difference(IndexChanges)
  }

  init(_ update: OrderedUpdate, _ touched: CompiledQuery.TouchedRows) {
    before = update.old
    after = update.root
    self.touched = touched
    var (old, new) = (OrderedRoot.Lookup(before), OrderedRoot.Lookup(after))
    func isRow(_ key: ObjectKey) -> Bool { old.contains(key) || new.contains(key) }
    isNews = touched.candidates.contains(where: isRow) || touched.modified.contains(where: isRow)
    found = .update(update)
  }

  /// The difference as positions.
  package func difference() -> IndexChanges {
    switch found {
    case .difference(let difference): difference
    case .update(let update): touched.difference(update)
    }
  }

  /// The same step, with its difference worked out.
  func withDifference() -> ResultStep {
    var step = self
    step.found = .difference(difference())
    return step
  }
}

extension CompiledQuery {
  /// The step from the rows in `old` over `changes`, which lead to what `rows` shows.
  package func step(
    from old: OrderedRoot, over changes: ChangeSet, to rows: StoreRows
  ) throws(StorageError) -> ResultStep {
    let touched = try touchedRows(changes, rows, among: old)
    return ResultStep(try update(old, touched, rows), touched)
  }

  /// The rows after `changes`, which lead from those in `old` to what `rows` shows now, and which
  /// rows that concerned.
  package func advance(
    _ old: OrderedRoot, over changes: ChangeSet, to rows: StoreRows
  ) throws(StorageError) -> (root: OrderedRoot, touched: TouchedRows) {
    let touched = try touchedRows(changes, rows, among: old)
    return (try update(old, touched, rows).root, touched)
  }

  /// What `changes` made of the rows in `old`, which are those in `new` now.
  package func difference(
    _ old: OrderedRoot, _ new: OrderedRoot, over changes: ChangeSet, _ rows: StoreRows
  ) throws(StorageError) -> IndexChanges {
    try touchedRows(changes, rows, among: old).difference(old, new)
  }
}
