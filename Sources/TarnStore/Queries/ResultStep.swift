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
    /// Nothing but what is touched and the two roots.
    case nothing
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

  private init(_ first: ResultStep, _ last: ResultStep) {
    before = first.before
    after = last.after
    var touched = first.touched
    touched.formUnion(last.touched)
    self.touched = touched
    isNews = first.isNews || last.isNews
    found = .nothing
  }

  /// This step and the next one as one.
  package func merging(_ later: ResultStep) -> ResultStep { ResultStep(self, later) }

  /// The difference as positions.
  package func difference() -> IndexChanges {
    switch found {
    case .difference(let difference): difference
    case .update(let update): touched.difference(update)
    case .nothing: touched.difference(before, after)
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
  /// What changes made of rows, before it is asked which of them somebody sees modified.
  package struct Move {
    fileprivate let update: OrderedUpdate
    fileprivate let touched: TouchedRows
    /// No row has come, gone or changed its place.
    var isQuiet: Bool { touched.candidates.isEmpty }
    /// The rows afterwards.
    package var root: OrderedRoot { update.root }
  }

  /// - Parameters:
  ///   - old: the rows before.
  ///   - rows: what `changes` lead to.
  package func move(
    _ old: OrderedRoot, over changes: ChangeSet, to rows: StoreRows
  ) throws(StorageError) -> Move {
    let touched = try touchedRows(changes, rows, among: old)
    return Move(update: try update(old, touched, rows), touched: touched)
  }

  /// The move as those see it who look that far; nil if it touched no object of the class.
  ///
  /// - Parameter others: rows that show other data than before although nothing says so that the
  ///   query knows of.
  package func step(
    _ move: Move, over changes: ChangeSet, to rows: StoreRows, seen reach: ReachPlan,
    modifying others: KeySet = KeySet()
  ) throws(StorageError) -> ResultStep? {
    var touched = move.touched
    touched.modified = try modifiedRows(changes, rows, among: move.update.old, reach)
    if !others.isEmpty { touched.modified.formUnion(others) }
    return touched.count == 0 ? nil : ResultStep(move.update, touched)
  }

  private func modifiedRows(
    _ changes: ChangeSet, _ rows: StoreRows, among root: OrderedRoot, _ reach: ReachPlan
  ) throws(StorageError) -> KeySet {
    let lookedAt = LookedAt(count: root.count) { [classID] in [classID: KeySet(root.keys)] }
    return try reach.concerned(by: changes, rows, among: lookedAt)[classID] ?? KeySet()
  }

  /// The same over a migration, which may have made another row of any.
  package func stepOverMigration(
    from old: OrderedRoot, over changes: ChangeSet, to rows: StoreRows
  ) throws(StorageError) -> ResultStep {
    let root = try evaluate(rows)
    let before = KeySet(old.keys)
    var touched = TouchedRows()
    if let own = changes[classID] {
      touched = TouchedRows(came: own.inserted, went: own.isCleared ? before : own.deleted)
    }
    touched.modified = before.union(KeySet(root.keys))
    touched.candidates = touched.modified
    let update = OrderedUpdate(
      old: old, root: root, keys: ContiguousArray(touched.candidates))
    return ResultStep(update, touched)
  }

  /// The rows after `changes`, which lead from those in `old` to what `rows` shows now.
  package func advance(
    _ old: OrderedRoot, over changes: ChangeSet, to rows: StoreRows
  ) throws(StorageError) -> OrderedRoot {
    try update(old, touchedRows(changes, rows, among: old), rows).root
  }

  /// What `changes` made of the rows in `old`, which are those in `new` now.
  package func difference(
    _ old: OrderedRoot, _ new: OrderedRoot, over changes: ChangeSet, _ rows: StoreRows,
    seen reach: ReachPlan
  ) throws(StorageError) -> IndexChanges {
    var touched = try touchedRows(changes, rows, among: old)
    touched.modified = try modifiedRows(changes, rows, among: old, reach)
    return touched.difference(old, new)
  }
}
