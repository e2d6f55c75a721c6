/// The change of a result's rows by one change set, for observers with one scope.
///
/// A class, because it is passed on many times and contains two dozen references.
package final class ResultStep: Sendable {
  private let move: CompiledQuery.Move
  /// Rows whose data changed.
  package let modified: KeySet
  /// False if no row of either root is touched: then it is not reported.
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
  /// Rows that were added, removed, sorted again, or whose data changed.
  package var keys: KeySet { move.touched.candidates.union(modified) }
  /// The approximate number of rows that it retains.
  package var weight: Int { saturatingSum(move.touched.candidates.count, modified.count) }

  /// This step and the next one, merged.
  package func merging(_ later: ResultStep) -> ResultStep { ResultStep(self, later) }

  /// The difference as positions.
  package func difference() -> IndexChanges {
    if let known { return known }
    if let update = move.update { return move.touched.difference(update, modified: modified) }
    return difference(from: before)
  }

  /// The difference for an observer that had other rows before the step.
  package func difference(from before: OrderedRoot) -> IndexChanges {
    move.touched.difference(before, after, modified: modified)
  }

  /// The difference as a script.
  var script: EditScript {
    EditScript(difference(), oldCount: before.count, newCount: after.count) { position in
      modified.contains(after.key(at: position))
    }
  }

  /// The change of a window on the rows, as positions in it.
  package func difference(of window: Range<Int>) -> IndexChanges {
    script.clipped(to: window).indexChanges(withMoves: true)
  }

  /// The same step, with its difference computed.
  func withDifference() -> ResultStep { ResultStep(self, difference: difference()) }
}

extension CompiledQuery {
  /// The change of rows by change sets, independent of which modifications an observer sees.
  package final class Move: Sendable {
    package let before: OrderedRoot
    package let after: OrderedRoot
    /// Rows that were added, removed, or sorted again.
    fileprivate let touched: ChangedKeys
    /// The positions that the update found; nil for more than one update.
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

    /// True if a row was added or removed, or may have moved.
    fileprivate var hasRows: Bool {
      update?.hasRows == true || isRow(oneOf: touched.candidates)
    }

    /// True if one of the keys is in one of the roots.
    fileprivate func isRow(oneOf keys: KeySet) -> Bool {
      if keys.isEmpty { return false }
      var (old, new) = (OrderedRoot.Lookup(before), OrderedRoot.Lookup(after))
      return keys.contains { old.contains($0) || new.contains($0) }
    }

    /// True if no row was added, removed or moved.
    var isQuiet: Bool { touched.candidates.isEmpty }
  }

  /// - Parameters:
  ///   - old: the rows before.
  ///   - rows: the state after `changes`.
  package func move(
    _ old: OrderedRoot, over changes: ChangeSet, to rows: Rows
  ) throws(StorageError) -> Move {
    let touched = try touchedRows(changes, rows, among: old)
    return Move(try update(old, touched, rows), touched)
  }

  /// The move for observers with that scope; nil if it touched no object of the class.
  ///
  /// - Parameter others: rows whose shown data changed for a reason unknown to the query.
  package func step(
    _ move: Move, over changes: ChangeSet, to rows: Rows, seen scope: BoundScope,
    modifying others: KeySet = KeySet()
  ) throws(StorageError) -> ResultStep? {
    var modified = try modifiedRows(changes, rows, among: move.before, scope)
    if !others.isEmpty { modified.formUnion(others) }
    if modified.isEmpty, move.touched.candidates.isEmpty { return nil }
    return ResultStep(move, modified: modified)
  }

  private func modifiedRows(
    _ changes: ChangeSet, _ rows: Rows, among root: OrderedRoot, _ scope: BoundScope
  ) throws(StorageError) -> KeySet {
    if let own = scope.concernedAlone(classID, by: changes) { return own }
    let observed = ObservedObjects(count: root.count) { [classID] in [classID: KeySet(root.keys)] }
    return try scope.concerned(by: changes, rows, among: observed)[classID] ?? KeySet()
  }

  /// The step of a migration, which may have changed any row.
  package func stepOverMigration(
    from old: OrderedRoot, over changes: ChangeSet, to rows: Rows
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

  /// The rows after `changes`, which lead from those in `old` to the state in `rows`.
  package func advance(
    _ old: OrderedRoot, over changes: ChangeSet, to rows: Rows
  ) throws(StorageError) -> OrderedRoot {
    try update(old, touchedRows(changes, rows, among: old), rows).root
  }

  /// The difference that `changes` made between the rows in `old` and those in `new`.
  package func difference(
    _ old: OrderedRoot, _ new: OrderedRoot, over changes: ChangeSet, _ rows: Rows,
    seen scope: BoundScope
  ) throws(StorageError) -> IndexChanges {
    try touchedRows(changes, rows, among: old).difference(
      old, new, modified: modifiedRows(changes, rows, among: old, scope))
  }
}
