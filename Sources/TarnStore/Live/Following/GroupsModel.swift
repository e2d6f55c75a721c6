/// The rows of results in groups, with their aggregates.
///
/// A step removes the old values of changed rows from their groups and adds the new ones; it reads
/// both states for that, and nothing is stored per row. For a query over a class, not even its rows
/// are stored.
package struct GroupsModel: LiveModel {
  package struct Content: LiveContent {
    /// The grouped rows; nil for those of a query over a class.
    fileprivate var rows: ResultRows?
    package fileprivate(set) var table: GroupTable
    /// Whether it includes changes of an open write.
    fileprivate var isOfWrite = false
    /// The approximate cost of evaluating again.
    fileprivate var cost = LiveCost.none

    package var isOwnerGone: Bool { rows?.isOwnerGone == true }
    package var count: Int { table.count }
    package var baseline: LiveBaseline { LiveBaseline(count: count, derived: table) }
  }

  private let groups: GroupQuery
  /// The grouped results; nil for the rows of a query over a class.
  private let results: ResultModel?
  /// The columns that are read of the rows.
  private let read: BoundScope?

  /// - Parameters:
  /// - results: results of objects.
  /// - path: see `GroupQuery`.
  /// - Throws: for names that the class does not have, or columns that cannot be used this way.
  package init(
    _ results: ResultModel, by path: Path?, _ terms: [AggregateTerm], _ schema: SchemaView
  ) throws(PredicateError) {
    let groups = try GroupQuery(results.query, by: path, terms, schema.schema)
    self.groups = groups
    if results.window == nil, case .query = results.source {
      (self.results, read) = (nil, nil)
      return
    }
    self.results = results
    let id = results.query.classID
    let path = ScopePath(
      classID: id, property: 0, dependencies: groups.read.flatMap(\.dependencies))
    read = BoundScope(.paths([path]), from: [id], schema)
  }

  package var owner: ObjectRef? { results?.owner }
  package var concerningClasses: Set<ClassID> {
    let own = results?.concerningClasses ?? []
    return own.union(groups.query.concerningClasses)
  }
  package var elementClasses: Set<ClassID> { [] }
  package var route: Route? {
    guard let results, let read else { return Route(groups.query) }
    return results.route?.depending(on: groups.query).looking(as: read)
  }
  package var followsIncrementally: Bool { results == nil }
  package var followsFromStart: Bool { true }
  package var readsPastState: Bool { true }

  package func isConcerned(by changes: ChangeSet) -> Bool {
    groups.query.isConcerned(by: changes) || results?.isConcerned(by: changes) == true
  }

  /// The groups of no rows.
  package var nothing: GroupTable { groups.nothing }

  // MARK: - Content

  package func evaluate(_ rows: Rows) throws(StorageError) -> Content {
    let content = try results?.evaluate(rows)
    return try evaluate(content, rows)
  }

  /// - Parameter content: the grouped rows; nil for those of a query over a class.
  private func evaluate(
    _ content: ResultRows?, _ rows: Rows
  ) throws(StorageError) -> Content {
    let table: GroupTable
    if let content {
      table = try groups.evaluate(content.keys(in: 0..<content.count), rows)
    } else {
      table = try groups.evaluate(rows)
    }
    return Content(
      rows: content, table: table, isOfWrite: rows.beforeWrite != nil,
      cost: try cost(ofEvaluating: rows))
  }

  package func follow(
    _ content: inout Content, over changes: ChangeSet, to rows: Rows
  ) throws(StorageError) {
    guard isConcerned(by: changes) else { return }
    // The former state is known only if the move begins at the start of an open write. An open
    // write does not record the moves of a collection until it is committed.
    guard let past = rows.beforeWrite, !content.isOfWrite, results == nil else {
      content = try evaluate(rows)
      return
    }
    let move = LiveMove(changes, from: .version(past), to: rows)
    _ = try advance(&content, over: move)
  }

  package func elements(
    _ content: Content, _ rows: Rows
  ) throws(StorageError) -> LiveElements {
    .positions(content.table.count)
  }

  // MARK: - Steps

  package func advance(
    _ content: inout Content, over move: LiveMove
  ) throws(StorageError) -> GroupsStep {
    let before = content.table
    content.isOfWrite = move.rows.beforeWrite != nil
    if move.changes.schemaChanged {
      content = try evaluate(move.rows)
      return GroupsStep(before: before, after: content.table, touched: nil)
    }
    guard var rows = content.rows, let results, let read else {
      guard let shares = try groups.shares(over: move) else {
        content.table = try groups.evaluate(move.rows)
        return GroupsStep(before: before, after: content.table, touched: nil)
      }
      content.table = shares.applied(to: before, groups)
      return GroupsStep(before: before, after: content.table, touched: shares.touched)
    }
    let old = rows
    var made = try results.advance(&rows, over: move)
    let change = try results.change(&made, &rows, move, seen: read)
    content.rows = rows
    guard let moves = change?.difference().indices else {
      return GroupsStep(before: before, after: before, touched: [])
    }
    if moves.count > max(1000, rows.count / 4) {
      content = try evaluate(rows, move.rows)
      return GroupsStep(before: before, after: content.table, touched: nil)
    }
    let shares = try groups.shares(from: old, to: rows, moves, over: move)
    content.table = shares.applied(to: before, groups)
    return GroupsStep(before: before, after: content.table, touched: shares.touched)
  }

  package func isQuiet(_ step: GroupsStep) -> Bool { false }

  package func change(
    _ step: inout GroupsStep, _ content: inout Content, _ move: LiveMove, seen scope: BoundScope
  ) throws(StorageError) -> LiveChange? {
    step.difference().isEmpty ? nil : .groups(step)
  }

  // MARK: - Costs

  package func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost {
    guard let results else {
      return try ResultModel(.query(groups.query)).cost(ofEvaluating: rows)
    }
    return try results.cost(ofEvaluating: rows)
  }

  package func cost(
    ofFollowing changes: ChangeSet, from content: Content, seen scopes: [BoundScope]
  ) -> LiveCost {
    // Without observers the former state is no longer available, unless a write is open.
    if scopes.isEmpty { return isConcerned(by: changes) ? content.cost : .none }
    // Each row is looked up in both states.
    var cost = LiveCost(
      lookedUp: groups.query.lookups(for: changes, among: content.table.count))
    cost.lookedUp = saturatingSum(cost.lookedUp, cost.lookedUp)
    guard let rows = content.rows, let results, let read else { return cost }
    let own = results.cost(ofFollowing: changes, from: rows, seen: [read])
    cost.lookedUp = saturatingSum(cost.lookedUp, own.lookedUp)
    cost.scanned = own.scanned
    return cost
  }
}

/// The change of groups in one step, kept until all observers were notified.
package struct GroupsStep: Sendable {
  package let before: GroupTable
  package let after: GroupTable
  /// The only groups that may have changed; nil if unknown.
  let touched: Set<GroupValue>?

  /// This step and the next one, merged.
  package func merging(_ later: GroupsStep) -> GroupsStep {
    let all = touched.flatMap { touched in later.touched.map { touched.union($0) } }
    return GroupsStep(before: before, after: later.after, touched: all)
  }

  /// The same step for an observer that saw other groups before it.
  func beginning(with seen: GroupTable?) -> GroupsStep {
    seen.map { GroupsStep(before: $0, after: after, touched: nil) } ?? self
  }

  func difference() -> IndexChanges { before.difference(to: after, touched: touched) }

  /// The change of a window on the groups, as positions in it.
  package func difference(of window: Range<Int>) -> IndexChanges {
    // Groups never move.
    EditScript(difference(), oldCount: before.count, newCount: after.count) { _ in false }
      .clipped(to: window).indexChanges(withMoves: false)
  }
}

extension GroupTable: DerivedState {}

extension IndexChanges {
  fileprivate var count: Int { deletions.count + insertions.count + modifications.count }
}

extension GroupQuery {
  /// The change of a move in the query's groups; nil if a scan of all rows is faster.
  fileprivate func shares(over move: LiveMove) throws(StorageError) -> GroupDeltas? {
    let (changes, rows) = (move.changes, move.rows)
    if changes[query.classID]?.isCleared == true { return nil }
    let none = OrderedRoot(keyed: KeySet())
    let touched = try query.touchedRows(changes, rows, among: none).candidates
    var shares = GroupDeltas()
    if touched.isEmpty { return shares }
    // Reading a row in two states takes as long as scanning some hundred.
    if touched.count > 1000, try touched.count > rows.count(of: query.classID) / 100 { return nil }
    let past = try move.pastRows()
    if touched.count > 16 {
      rows.expect(lookups: touched.count, in: query.classID)
      past.expect(lookups: touched.count, in: query.classID)
    }
    for key in touched {
      shares.note(
        from: try share(of: key, in: past, isTested: true),
        to: try share(of: key, in: rows, isTested: true))
    }
    return shares
  }

  /// The change of a move in the groups of rows that moved this way.
  fileprivate func shares(
    from old: ResultRows, to new: ResultRows, _ moves: IndexChanges, over move: LiveMove
  ) throws(StorageError) -> GroupDeltas {
    let past = try move.pastRows()
    var shares = GroupDeltas()
    for position in moves.deletions + moves.modifications {
      let key = old.key(at: position)
      shares.note(from: try share(of: key, in: past, isTested: false), to: nil)
    }
    for position in moves.insertions + moves.modificationsNew {
      let key = new.key(at: position)
      shares.note(from: nil, to: try share(of: key, in: move.rows, isTested: false))
    }
    return shares
  }
}
