/// What one change set made of a result's rows, as those see it who look equally far.
///
/// A class, because it is handed on many times and has two dozen references in it.
package final class ResultStep: Sendable {
  private let move: CompiledQuery.Move
  /// Rows whose data changed.
  package let modified: KeySet
  /// False if no row of either root is touched: then nobody is to be told.
  package let isNews: Bool
  private let known: IndexChanges?

  init(_ move: CompiledQuery.Move, modified: KeySet) {
    self.move = move
    self.modified = modified
    isNews = move.hasRows || move.isRow(oneOf: modified)
    known = nil
  }

  private init(_ first: ResultStep, _ last: ResultStep) {
    move = first.move.merging(last.move)
    modified = first.modified.union(last.modified)
    isNews = first.isNews || last.isNews
    known = nil
  }

  private init(_ step: ResultStep, difference: IndexChanges) {
    move = step.move
    modified = step.modified
    isNews = step.isNews
    known = difference
  }

  package var before: OrderedRoot { move.before }
  package var after: OrderedRoot { move.after }
  /// Rows that came, went, were put anew, or whose data changed.
  package var keys: KeySet { move.touched.candidates.union(modified) }
  /// About how many rows it keeps.
  package var weight: Int { saturatingSum(move.touched.candidates.count, modified.count) }

  /// This step and the next one as one.
  package func merging(_ later: ResultStep) -> ResultStep { ResultStep(self, later) }

  /// The difference as positions.
  package func difference() -> IndexChanges {
    if let known { return known }
    if let update = move.update { return move.touched.difference(update, modified: modified) }
    return difference(from: before)
  }

  /// The same for who saw other rows before the step.
  package func difference(from before: OrderedRoot) -> IndexChanges {
    move.touched.difference(before, after, modified: modified)
  }

  /// The same step, with its difference worked out.
  func withDifference() -> ResultStep { ResultStep(self, difference: difference()) }
}

extension CompiledQuery {
  /// What changes made of rows, before it is asked which of them somebody sees modified.
  package final class Move: Sendable {
    package let before: OrderedRoot
    package let after: OrderedRoot
    /// Rows that came, went, or were put anew.
    fileprivate let touched: ChangedKeys
    /// What the update found out on its way; nil of more than one.
    fileprivate let update: OrderedUpdate?

    fileprivate init(_ update: OrderedUpdate, _ touched: ChangedKeys) {
      before = update.old
      after = update.root
      self.touched = touched
      self.update = update
    }

    private init(_ first: Move, _ last: Move) {
      before = first.before
      after = last.after
      var touched = first.touched
      touched.formUnion(last.touched)
      self.touched = touched
      update = nil
    }

    fileprivate func merging(_ later: Move) -> Move { Move(self, later) }

    /// True if a row came, went, or may have moved.
    fileprivate var hasRows: Bool {
      update?.hasRows == true || isRow(oneOf: touched.candidates)
    }

    /// True if one of the keys is in one of the roots.
    fileprivate func isRow(oneOf keys: KeySet) -> Bool {
      if keys.isEmpty { return false }
      var (old, new) = (OrderedRoot.Lookup(before), OrderedRoot.Lookup(after))
      return keys.contains { old.contains($0) || new.contains($0) }
    }

    /// No row has come, gone or moved.
    var isQuiet: Bool { touched.candidates.isEmpty }
  }

  /// - Parameters:
  ///   - old: the rows before.
  ///   - rows: what `changes` lead to.
  package func move(
    _ old: OrderedRoot, over changes: ChangeSet, to rows: StoreRows
  ) throws(StorageError) -> Move {
    let touched = try touchedRows(changes, rows, among: old)
    return Move(try update(old, touched, rows), touched)
  }

  /// The move as those see it who look that far; nil if it touched no object of the class.
  ///
  /// - Parameter others: rows that show other data than before although nothing says so that the
  ///   query knows of.
  package func step(
    _ move: Move, over changes: ChangeSet, to rows: StoreRows, seen reach: BoundScope,
    modifying others: KeySet = KeySet()
  ) throws(StorageError) -> ResultStep? {
    var modified = try modifiedRows(changes, rows, among: move.before, reach)
    if !others.isEmpty { modified.formUnion(others) }
    if modified.isEmpty, move.touched.candidates.isEmpty { return nil }
    return ResultStep(move, modified: modified)
  }

  private func modifiedRows(
    _ changes: ChangeSet, _ rows: StoreRows, among root: OrderedRoot, _ reach: BoundScope
  ) throws(StorageError) -> KeySet {
    if let own = reach.concernedAlone(classID, by: changes) { return own }
    let lookedAt = ObservedObjects(count: root.count) { [classID] in [classID: KeySet(root.keys)] }
    return try reach.concerned(by: changes, rows, among: lookedAt)[classID] ?? KeySet()
  }

  /// The same over a migration, which may have made another row of any.
  package func stepOverMigration(
    from old: OrderedRoot, over changes: ChangeSet, to rows: StoreRows
  ) throws(StorageError) -> ResultStep {
    let root = try evaluate(rows)
    let before = KeySet(old.keys)
    var touched = ChangedKeys()
    if let own = changes[classID] {
      touched = ChangedKeys(came: own.inserted, went: own.isCleared ? before : own.deleted)
    }
    let modified = before.union(KeySet(root.keys))
    touched.candidates = modified
    let update = OrderedUpdate(
      old: old, root: root, keys: ContiguousArray(touched.candidates))
    return ResultStep(Move(update, touched), modified: modified)
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
    seen reach: BoundScope
  ) throws(StorageError) -> IndexChanges {
    try touchedRows(changes, rows, among: old).difference(
      old, new, modified: modifiedRows(changes, rows, among: old, reach))
  }
}
