import TarnStore

/// Results in sections. Only the program can compute the keys of sections: they are left open here
/// and computed by the program's code when the current content is needed.
struct SectionsModel<Key: Hashable>: LiveModel {
  struct Content: LiveContent {
    var rows: ResultRows
    /// The sections of the rows.
    var sections: KeyedRows<Key>

    var isOwnerGone: Bool { rows.isOwnerGone }
    var count: Int { rows.count }
    var baseline: LiveBaseline {
      var made = rows.baseline
      made.derived = sections
      return made
    }
  }

  let results: ResultModel
  /// The scope from which keys are computed: a key is computed again when something in it was set.
  let keyScope: BoundScope

  init(results: ResultModel, _ schema: SchemaView) {
    self.results = results
    keyScope = BoundScope(.standard, from: results.elementClasses, schema)
  }

  var owner: ObjectRef? { results.owner }
  var concerningClasses: Set<ClassID> {
    results.concerningClasses.union(keyScope.concerningClasses)
  }
  var elementClasses: Set<ClassID> { results.elementClasses }
  var followsIncrementally: Bool { results.followsIncrementally }
  var route: Route? { results.route?.looking(as: keyScope) }

  func isConcerned(by changes: ChangeSet) -> Bool {
    results.isConcerned(by: changes) || keyScope.mayBeConcerned(by: changes)
  }

  func evaluate(_ rows: Rows) throws(StorageError) -> Content {
    Content(rows: try results.evaluate(rows), sections: KeyedRows())
  }

  func follow(
    _ content: inout Content, over changes: ChangeSet, to rows: Rows
  ) throws(StorageError) {
    guard isConcerned(by: changes) else { return }
    if changes.schemaChanged {
      content = try evaluate(rows)
      return
    }
    let old = content.rows
    try results.follow(&content.rows, over: changes, to: rows)
    let moves = try results.difference(old, content.rows, over: changes, rows, seen: keyScope)
    content.sections = KeyedRows(from: content.sections, moves)
  }

  struct Step {
    fileprivate var rows: ResultModel.Step
    /// The changes of rows within the scope of the keys.
    fileprivate let all: LiveChange?
    fileprivate let former: KeyedRows<Key>
  }

  func advance(_ content: inout Content, over move: LiveMove) throws(StorageError) -> Step {
    var rows = try results.advance(&content.rows, over: move)
    let all = try results.change(&rows, &content.rows, move, seen: keyScope)?.withDifference()
    let former = content.sections
    if let all { content.sections = KeyedRows(from: former, all.difference().indices) }
    return Step(rows: rows, all: all, former: former)
  }

  func isQuiet(_ step: Step) -> Bool { step.all == nil }

  func change(
    _ step: inout Step, _ content: inout Content, _ move: LiveMove, seen scope: BoundScope
  ) throws(StorageError) -> LiveChange? {
    let isSame = scope.scope == keyScope.scope
    let seen =
      isSame ? step.all : try results.change(&step.rows, &content.rows, move, seen: scope)
    if seen == nil, step.all == nil { return nil }
    return .derived(all: step.all, seen: seen, from: step.former, to: content.sections)
  }

  func elements(
    _ content: Content, _ rows: Rows
  ) throws(StorageError) -> LiveElements {
    .rows(content.rows)
  }

  func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost {
    try results.cost(ofEvaluating: rows)
  }

  func cost(
    ofFollowing changes: ChangeSet, from content: Content, seen scopes: [BoundScope]
  ) -> LiveCost {
    results.cost(ofFollowing: changes, from: content.rows, seen: scopes + [keyScope])
  }
}

/// The sections of the rows at one version, once the program has computed their keys. After that it
/// does not change.
final class KeyedRows<Key: Hashable>: DerivedState, @unchecked Sendable {
  // because: a worker passes it on without reading it. It is filled in on the scheduler of its
  // instance, and if that is frozen, before other threads see it.

  /// Nil until the keys have been computed.
  private(set) var table: SectionTable<Key>?
  /// The former rows and the changes since.
  private var origin: (former: KeyedRows, moves: IndexChanges)?

  /// Nothing is known yet.
  init() {}

  /// The rows after changes of `former`.
  init(from former: KeyedRows, _ moves: IndexChanges) { origin = (former, moves) }

  /// Computes the keys of added and changed rows, or of all rows if the former keys are unknown.
  ///
  /// - Parameter key: the key of the row at a position.
  func fill(rowCount: Int, _ key: (Int) -> Key) {
    if let origin, let old = origin.former.table {
      table = old.applying(origin.moves, key: key)
    } else {
      table = SectionTable(rowCount: rowCount, key: key)
    }
    origin = nil
  }
}
