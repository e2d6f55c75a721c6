import TarnStore

/// The rows of a watched result, as a live source of the library.
///
/// They are those of a query, with two rules of the watch's own. A row is shown with its embedded
/// objects, at any depth, so it is modified with them. And the class may be another one after a
/// migration: the rows before and after it are then compared as wholes.
struct WatchedRows: LiveModel {
  let query: CompiledQuery

  var owner: LinkTarget? { nil }
  var concerningClasses: Set<ClassID> { query.concerningClasses }
  var elementClasses: Set<ClassID> { [query.classID] }

  /// Any class may be embedded in one that the rows have.
  func isConcerned(by changes: ChangeSet) -> Bool { true }

  func evaluate(_ rows: StoreRows) throws(StorageError) -> ResultRows {
    .root(try query.evaluate(rows))
  }

  enum Step {
    case move(CompiledQuery.Move)
    case migration(ResultStep)
  }

  func advance(_ content: inout ResultRows, over move: LiveMove) throws(StorageError) -> Step {
    guard case .root(let old) = content else {
      trap("rows of another kind than the query's: bug in this package")
    }
    if move.changes.schemaChanged {
      let step = try query.stepOverMigration(from: old, over: move.changes, to: move.rows)
      content = .root(step.after)
      return .migration(step)
    }
    let made = try query.move(old, over: move.changes, to: move.rows)
    content = .root(made.after)
    return .move(made)
  }

  /// Anything may be embedded in a row.
  func isQuiet(_ step: Step) -> Bool { false }

  /// Tells also of objects that were not among the rows and still are not: one that replaced
  /// a row may come among them later.
  func change(
    _ step: inout Step, _ content: inout ResultRows, _ move: LiveMove, seen reach: BoundScope
  ) throws(StorageError) -> LiveChange? {
    switch step {
    case .migration(let step): return step.weight == 0 ? nil : .rows(step)
    case .move(let made):
      let owners = try EmbeddedOwners(move.rows, move.changes).keys(in: query.classID)
      return try query.step(
        made, over: move.changes, to: move.rows, seen: reach, modifying: KeySet(owners)
      ).map { .rows($0) }
    }
  }

  func baseline(
    _ content: ResultRows, _ rows: StoreRows
  ) throws(StorageError) -> LiveBaseline {
    .count(content.count)
  }

  // The watch waits for what it shows: it leaves nothing to a worker.

  func cost(ofEvaluating rows: StoreRows) throws(StorageError) -> LiveCost { .none }

  func cost(
    ofFollowing changes: ChangeSet, from content: ResultRows, seen reaches: [BoundScope]
  ) -> LiveCost { .none }
}
