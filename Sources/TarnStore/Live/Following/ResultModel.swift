/// Results: rows of a class, or elements of a collection, which may be values; all of them, or a
/// range by position.
///
/// For observers of a range all rows are kept in order, as without it: any row may replace one that
/// leaves the range. Changes are clipped to it. Without observers, reading the first rows of an
/// order does not produce the others.
package struct ResultModel: LiveModel {
  /// Models that are rarer than queries, and larger, are elsewhere in memory.
  package enum Source: Sendable {
    case query(CompiledQuery)
    indirect case elements(ElementsModel)
    indirect case values(ValuesModel)
  }

  package let source: Source
  /// The positions shown among all rows, as far as there are rows; nil for all.
  package let window: Range<Int>?

  package init(_ source: Source, window: Range<Int>? = nil) {
    self.source = source
    self.window = window
  }

  package var owner: ObjectRef? {
    switch source {
    case .query: nil
    case .elements(let model): model.origin.owner
    case .values(let model): model.owner
    }
  }

  package var concerningClasses: Set<ClassID> {
    switch source {
    case .query(let query): query.concerningClasses
    case .elements(let model): model.query.concerningClasses
    case .values: []
    }
  }

  package var elementClasses: Set<ClassID> {
    switch source {
    case .query(let query): [query.classID]
    case .elements(let model): [model.query.classID]
    case .values(let model): model.elementClasses
    }
  }

  package var route: Route? {
    switch source {
    case .query(let query): Route(query)
    case .elements(let model): model.route
    case .values: nil
    }
  }

  package var compact: ResultModel {
    guard case .query(let query) = source else { return self }
    return ResultModel(.query(query.compact), window: window)
  }

  package var followsIncrementally: Bool { if case .query = source { true } else { false } }

  package func isConcerned(by changes: ChangeSet) -> Bool {
    switch source {
    case .query(let query): query.isConcerned(by: changes)
    case .elements(let model): model.isConcerned(by: changes)
    case .values(let model): model.isConcerned(by: changes)
    }
  }

  // MARK: - Content

  package func evaluate(_ rows: Rows) throws(StorageError) -> ResultRows {
    switch source {
    case .query(let query): ResultRows(.root(try query.evaluate(rows)), window)
    case .elements(let model): ResultRows(.elements(try model.evaluate(rows)), window)
    case .values(let model): ResultRows(.values(try model.evaluate(rows)), window)
    }
  }

  package func evaluateForReading(_ rows: Rows) throws(StorageError) -> ResultRows {
    guard let (query, window) = firstRows, let first = try query.first(window.upperBound, rows)
    else { return try evaluate(rows) }
    return ResultRows(.keys(Array(first.dropFirst(window.lowerBound))))
  }

  /// Windows that end farther from the start are taken from all rows.
  private static let endMax = 1024

  /// The query whose first rows alone are read, and the window; nil if all rows are read.
  private var firstRows: (CompiledQuery, Range<Int>)? {
    guard let window, window.upperBound <= Self.endMax, case .query(let query) = source else {
      return nil
    }
    return (query, window)
  }

  package func follow(
    _ content: inout ResultRows, over changes: ChangeSet, to rows: Rows
  ) throws(StorageError) {
    guard isConcerned(by: changes) else { return }
    if case .query(let query) = source, case .root(let root) = content.all {
      content.all = .root(try query.advance(root, over: changes, to: rows))
    } else {
      // Repeated reads of first rows are faster with maintained rows.
      content = try evaluate(rows)
    }
  }

  // MARK: - Steps

  package enum Step {
    case rows(CompiledQuery.Move)
    /// How elements moved or were set, in observers' eyes without changes behind them.
    case script(EditScript)
  }

  package func advance(
    _ content: inout ResultRows, over move: LiveMove
  ) throws(StorageError) -> Step {
    switch (source, content.all) {
    case (.query(let query), .root(let root)):
      let made = try query.move(root, over: move.changes, to: move.rows)
      content.all = .root(made.after)
      return .rows(made)
    case (.elements(let model), .elements(var elements)):
      defer { content.all = .elements(elements) }
      return .script(try model.advance(&elements, over: move))
    case (.values(let model), .values(var values)):
      defer { content.all = .values(values) }
      return .script(try model.advance(&values, over: move))
    default: Self.trapMixed()
    }
  }

  package func isQuiet(_ step: Step) -> Bool {
    switch step {
    case .rows(let made): made.isQuiet
    case .script(let script): script.isIdentity
    }
  }

  package func change(
    _ step: inout Step, _ content: inout ResultRows, _ move: LiveMove, seen scope: BoundScope
  ) throws(StorageError) -> LiveChange? {
    switch (source, step, content.all) {
    case (.query(let query), .rows(let made), _):
      let step = try query.step(made, over: move.changes, to: move.rows, seen: scope)
      guard let step, step.isNews else { return nil }
      return window == nil ? .rows(step) : .news(clipped(step.script))
    case (.elements(let model), .script(let script), .elements(let elements)):
      let modified = try model.modifiedRows(elements, move.changes, move.rows, scope)
      return .news(clipped(script.modifying(modified)))
    case (.values(let model), .script(let script), .values(let values)):
      let modified = try model.modifiedRows(values, move.changes, move.rows, scope)
      return .news(clipped(script.modifying(modified)))
    default: Self.trapMixed()
    }
  }

  private func clipped(_ script: EditScript) -> EditScript {
    window.map { script.clipped(to: $0) } ?? script
  }

  /// The change of rows over `changes` that were not followed.
  package func difference(
    _ old: ResultRows, _ new: ResultRows, over changes: ChangeSet, _ rows: Rows,
    seen scope: BoundScope
  ) throws(StorageError) -> IndexChanges {
    switch (source, old.all, new.all) {
    case (.query(let query), .root(let before), .root(let after)):
      let all = try query.difference(before, after, over: changes, rows, seen: scope)
      guard let window else { return all }
      return EditScript(all, oldCount: before.count, newCount: after.count) { _ in true }
        .clipped(to: window).indexChanges(withMoves: true)
    case (.elements(let model), .elements(let before), .elements(let after)):
      let script = try model.script(from: before, to: after, over: changes, rows, seen: scope)
      return clipped(script).indexChanges()
    case (.values(let model), .values(let before), .values(let after)):
      let modified = try model.modifiedRows(after, changes, rows, scope)
      let script = after.rows.script(from: before.rows, along: nil).modifying(modified)
      return clipped(script).indexChanges()
    default: Self.trapMixed()
    }
  }

  private static func trapMixed() -> Never {
    trap("internal error: two kinds of rows from one query")
  }

  // MARK: - Costs

  package func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost {
    switch source {
    case .query(let query):
      let plan = try query.plan(rows)
      return plan.looksUpRows
        ? LiveCost(lookedUp: plan.rowCount) : LiveCost(scanned: plan.rowCount)
    case .elements(let model): return try model.cost(ofEvaluating: rows)
    case .values(let model): return try model.cost(ofEvaluating: rows)
    }
  }

  package func cost(
    ofFollowing changes: ChangeSet, from content: ResultRows, seen scopes: [BoundScope]
  ) -> LiveCost {
    switch (source, content.all) {
    case (.query(let query), .root(let root)):
      let behind = scopes.reduce(0) { max($0, $1.lookups(for: changes)) }
      let own = query.lookups(for: changes, among: root.count)
      return LiveCost(lookedUp: saturatingSum(own, behind))
    case (.elements(let model), .elements(let content)):
      return model.cost(ofFollowing: changes, from: content, seen: scopes)
    case (.values(let model), .values(let content)):
      return model.cost(ofFollowing: changes, from: content, seen: scopes)
    default: Self.trapMixed()
    }
  }

  // MARK: - The query

  /// The query for objects. Traps for values.
  package var query: CompiledQuery {
    switch source {
    case .query(let query): query
    case .elements(let model): model.query
    case .values: trap("internal error: values are not objects")
    }
  }

  /// True if the rows are all objects of their class, or a range of these.
  package var isOfWholeClass: Bool {
    if case .query(let query) = source { query.isUnfiltered } else { false }
  }

  /// The rows of no elements.
  package var nothing: ResultRows {
    switch source {
    case .query: ResultRows(.root(OrderedRoot(keyed: KeySet())), window)
    case .elements: ResultRows(.elements(ElementsModel.Content()), window)
    case .values: ResultRows(.values(ValuesModel.Content()), window)
    }
  }
}

extension ResultModel {
  /// How the rows are found and maintained, one line per step.
  package func explanation(_ rows: Rows) throws(StorageError) -> [String] {
    let all =
      switch source {
      case .query(let query):
        try query.explanation(rows) + [
          "keep: each commit changes the rows that it touches",
          query.routeExplanation(rows.schema),
        ]
      case .elements(let model) where model.origin.owner == nil:
        try model.query.explanation(rows) + [
          "keep: each commit changes the rows that it touches",
          model.query.routeExplanation(rows.schema),
        ]
      case .elements(let model):
        [
          "find: each element of the collection, tested one by one",
          "keep: each commit changes the elements that it touches",
          model.routeExplanation(rows.schema),
        ]
      case .values:
        [
          "find: each value of the collection",
          "keep: a commit that changes the collection evaluates them again",
        ]
      }
    return try all + windowExplanation(rows)
  }

  /// Which of all rows are shown, and how they are found without observers.
  private func windowExplanation(_ rows: Rows) throws(StorageError) -> [String] {
    guard let window else { return [] }
    if window.isEmpty { return ["show: none"] }
    let last = window.upperBound == .max ? "on" : "to \(window.upperBound - 1)"
    let shown = "show: in this order, positions \(window.lowerBound) \(last)"
    guard let (query, _) = firstRows,
      let read = try query.explanation(ofFirst: window.upperBound, rows)
    else { return [shown] }
    return [shown, read]
  }
}
