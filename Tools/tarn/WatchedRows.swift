import TarnStore

/// The rows of a watched result, as the model of a live source.
///
/// They are the rows of a query, with two additional rules. A row is shown with its embedded
/// objects, at any depth, so it is modified with them. After a migration the class may differ; rows
/// before and after it are then compared as a whole.
struct WatchedRows: LiveModel {
  let query: CompiledQuery

  var owner: ObjectRef? { nil }
  var concerningClasses: Set<ClassID> { query.concerningClasses }
  var elementClasses: Set<ClassID> { [query.classID] }

  /// Any class may be embedded in the rows.
  func isConcerned(by changes: ChangeSet) -> Bool { true }

  func evaluate(_ rows: Rows) throws(StorageError) -> ResultRows {
    ResultRows(try query.evaluate(rows))
  }

  enum Step {
    case move(CompiledQuery.Move)
    case migration(ResultStep)
  }

  func advance(_ content: inout ResultRows, over move: LiveMove) throws(StorageError) -> Step {
    guard let old = content.root else {
      trap("internal error: rows of another kind than the query's")
    }
    if move.changes.schemaChanged {
      let step = try query.stepOverMigration(from: old, over: move.changes, to: move.rows)
      content = ResultRows(step.after)
      return .migration(step)
    }
    let made = try query.move(old, over: move.changes, to: move.rows)
    content = ResultRows(made.after)
    return .move(made)
  }

  /// Anything may be embedded in a row.
  func isQuiet(_ step: Step) -> Bool { false }

  /// Also reports objects that were not rows and still are not: an object that replaced a row may
  /// become a row later.
  func change(
    _ step: inout Step, _ content: inout ResultRows, _ move: LiveMove, seen scope: BoundScope
  ) throws(StorageError) -> LiveChange? {
    switch step {
    case .migration(let step): return step.weight == 0 ? nil : .rows(step)
    case .move(let made):
      let owners = try EmbeddedOwners(move.rows, move.changes).keys(in: query.classID)
      return try query.step(
        made, over: move.changes, to: move.rows, seen: scope, modifying: KeySet(owners)
      ).map { .rows($0) }
    }
  }

  // The watch needs the result at once, so it uses no worker.

  func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost { .none }

  func cost(
    ofFollowing changes: ChangeSet, from content: ResultRows, seen scopes: [BoundScope]
  ) -> LiveCost { .none }
}
