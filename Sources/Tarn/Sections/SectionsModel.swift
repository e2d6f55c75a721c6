import TarnStore

/// Results that are shown in sections. The keys of the sections are the program's business: they
/// are left open here and filled in when the program is asked about content that is shown.
struct SectionsModel<Key: Hashable>: LiveModel {
  struct Content: LiveContent {
    var rows: ResultRows
    /// How the rows fall into sections.
    var sections: KeyedRows<Key>

    var isOwnerGone: Bool { rows.isOwnerGone }
  }

  let results: ResultModel
  /// What a key may be made of: it is asked for again when something there was set.
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

  func isConcerned(by changes: ChangeSet) -> Bool {
    results.isConcerned(by: changes) || keyScope.mayBeConcerned(by: changes)
  }

  func evaluate(_ rows: StoreRows) throws(StorageError) -> Content {
    Content(rows: try results.evaluate(rows), sections: KeyedRows())
  }

  func follow(
    _ content: inout Content, over changes: ChangeSet, to rows: StoreRows
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
    /// What the move did to rows in the eyes of the keys.
    fileprivate let all: LiveChange?
    fileprivate let former: KeyedRows<Key>
  }

  func advance(_ content: inout Content, over move: LiveMove) throws(StorageError) -> Step {
    var rows = try results.advance(&content.rows, over: move)
    let all = try results.change(&rows, &content.rows, move, seen: keyScope)?.withDifference()
    let former = content.sections
    if let all, case .indices(let moves) = LiveChange.difference([all]) {
      content.sections = KeyedRows(from: former, moves)
    }
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
    _ content: Content, _ rows: StoreRows
  ) throws(StorageError) -> LiveElements {
    .rows(content.rows)
  }

  func content(after change: LiveChange) -> Content? {
    guard case .derived(let all, let seen, _, let to) = change,
      let rows = (all ?? seen).flatMap(results.content), let sections = to as? KeyedRows<Key>
    else { return nil }
    return Content(rows: rows, sections: sections)
  }

  func baseline(
    _ content: Content, _ rows: StoreRows
  ) throws(StorageError) -> LiveBaseline {
    .derived(try results.baseline(content.rows, rows), content.sections)
  }

  func cost(ofEvaluating rows: StoreRows) throws(StorageError) -> LiveCost {
    try results.cost(ofEvaluating: rows)
  }

  func cost(
    ofFollowing changes: ChangeSet, from content: Content, seen scopes: [BoundScope]
  ) -> LiveCost {
    results.cost(ofFollowing: changes, from: content.rows, seen: scopes + [keyScope])
  }
}

/// How the rows of a moment fall into sections, once the program has said their keys. Then it does
/// not change any more.
final class KeyedRows<Key: Hashable>: DerivedState, @unchecked Sendable {
  // because: a worker passes it on without a look inside. It is filled in on the scheduler of its
  // instance, and before other threads see it if that is frozen.

  /// Nil until the program has been asked.
  private(set) var table: SectionTable<Key>?
  /// What the rows were before and how they became these.
  private var origin: (former: KeyedRows, moves: IndexChanges)?

  /// Nothing is known.
  init() {}

  /// The rows that `former` became.
  init(from former: KeyedRows, _ moves: IndexChanges) { origin = (former, moves) }

  /// Asks for the keys of rows that came or changed, or of all if those before were not known.
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
