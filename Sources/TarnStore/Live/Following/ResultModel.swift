/// The content of results: rows of a class, elements of a collection, which may be values, or a
/// window on either.
package enum ResultModel: LiveModel {
  case query(CompiledQuery)
  case elements(ElementsModel)
  case values(ValuesModel)
  indirect case window(WindowModel)

  package var owner: ObjectRef? {
    switch self {
    case .query: nil
    case .elements(let model): model.owner
    case .values(let model): model.owner
    case .window(let model): model.owner
    }
  }

  package var concerningClasses: Set<ClassID> {
    switch self {
    case .query(let query): query.concerningClasses
    case .elements(let model): model.concerningClasses
    case .values(let model): model.concerningClasses
    case .window(let model): model.concerningClasses
    }
  }

  package var elementClasses: Set<ClassID> {
    switch self {
    case .query(let query): [query.classID]
    case .elements(let model): model.elementClasses
    case .values(let model): model.elementClasses
    case .window(let model): model.elementClasses
    }
  }

  package var followsIncrementally: Bool {
    switch self {
    case .query: true
    case .elements, .values: false
    case .window(let model): model.followsIncrementally
    }
  }

  package func isConcerned(by changes: ChangeSet) -> Bool {
    switch self {
    case .query(let query): query.isConcerned(by: changes)
    case .elements(let model): model.isConcerned(by: changes)
    case .values(let model): model.isConcerned(by: changes)
    case .window(let model): model.isConcerned(by: changes)
    }
  }

  // MARK: - Content

  package func evaluate(_ rows: Rows) throws(StorageError) -> ResultRows {
    switch self {
    case .query(let query): .root(try query.evaluate(rows))
    case .elements(let model): .elements(try model.evaluate(rows))
    case .values(let model): .values(try model.evaluate(rows))
    case .window(let model): .window(try model.evaluate(rows))
    }
  }

  package func evaluateForReading(_ rows: Rows) throws(StorageError) -> ResultRows {
    guard case .window(let model) = self else { return try evaluate(rows) }
    return .window(try model.evaluateForReading(rows))
  }

  package func canFollow(_ content: ResultRows) -> Bool {
    if case .window(let window) = content { window.isOfWhole } else { true }
  }

  package func follow(
    _ content: inout ResultRows, over changes: ChangeSet, to rows: Rows
  ) throws(StorageError) {
    guard isConcerned(by: changes) else { return }
    switch (self, content) {
    case (.query(let query), .root(let root)):
      content = .root(try query.advance(root, over: changes, to: rows))
    case (.window(let model), .window(var window)):
      try model.follow(&window, over: changes, to: rows)
      content = .window(window)
    default: content = try evaluate(rows)
    }
  }

  package enum Step {
    case query(CompiledQuery.Move)
    case elements(ElementsModel.Step)
    case values(ValuesModel.Step)
    indirect case window(WindowModel.Step)
  }

  package func advance(
    _ content: inout ResultRows, over move: LiveMove
  ) throws(StorageError) -> Step {
    switch (self, content) {
    case (.query(let query), .root(let root)):
      let made = try query.move(root, over: move.changes, to: move.rows)
      content = .root(made.after)
      return .query(made)
    case (.elements(let model), .elements(var elements)):
      defer { content = .elements(elements) }
      return .elements(try model.advance(&elements, over: move))
    case (.values(let model), .values(var values)):
      defer { content = .values(values) }
      return .values(try model.advance(&values, over: move))
    case (.window(let model), .window(var window)):
      defer { content = .window(window) }
      return .window(try model.advance(&window, over: move))
    default: Self.trapMixed()
    }
  }

  package func isQuiet(_ step: Step) -> Bool {
    switch (self, step) {
    case (_, .query(let made)): made.isQuiet
    case (.elements(let model), .elements(let made)): model.isQuiet(made)
    case (.values(let model), .values(let made)): model.isQuiet(made)
    case (.window(let model), .window(let made)): model.isQuiet(made)
    default: Self.trapMixed()
    }
  }

  package func change(
    _ step: inout Step, _ content: inout ResultRows, _ move: LiveMove, seen scope: BoundScope
  ) throws(StorageError) -> LiveChange? {
    switch (self, step, content) {
    case (.query(let query), .query(let made), _):
      let step = try query.step(made, over: move.changes, to: move.rows, seen: scope)
      return step.flatMap { $0.isNews ? .rows($0) : nil }
    case (.elements(let model), .elements(var made), .elements(var elements)):
      defer { (step, content) = (.elements(made), .elements(elements)) }
      return try model.change(&made, &elements, move, seen: scope)
    case (.values(let model), .values(var made), .values(var values)):
      return try model.change(&made, &values, move, seen: scope)
    case (.window(let model), .window(var made), .window(var window)):
      defer { (step, content) = (.window(made), .window(window)) }
      return try model.change(&made, &window, move, seen: scope)
    default: Self.trapMixed()
    }
  }

  package func content(after change: LiveChange) -> ResultRows? {
    if case .rows(let step) = change { .root(step.after) } else { nil }
  }

  package func baseline(
    _ content: ResultRows, _ rows: Rows
  ) throws(StorageError) -> LiveBaseline {
    if case .root(let root) = content { .rows(root) } else { .count(content.count) }
  }

  /// The change of rows over `changes` that were not followed.
  package func difference(
    _ old: ResultRows, _ new: ResultRows, over changes: ChangeSet, _ rows: Rows,
    seen scope: BoundScope
  ) throws(StorageError) -> IndexChanges {
    switch (self, old, new) {
    case (.query(let query), .root(let old), .root(let new)):
      try query.difference(old, new, over: changes, rows, seen: scope)
    case (.elements(let model), .elements(let old), .elements(let new)):
      try model.difference(old, new, over: changes, rows, seen: scope)
    case (.values(let model), .values(let old), .values(let new)):
      try model.difference(old, new, over: changes, rows, seen: scope)
    case (.window(let model), .window(let old), .window(let new)):
      try model.difference(old, new, over: changes, rows, seen: scope)
    default: Self.trapMixed()
    }
  }

  private static func trapMixed() -> Never {
    trap("internal error: two kinds of rows from one query")
  }

  // MARK: - Costs

  package func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost {
    switch self {
    case .query(let query):
      let plan = try query.plan(rows)
      return plan.looksUpRows
        ? LiveCost(lookedUp: plan.rowCount) : LiveCost(scanned: plan.rowCount)
    case .elements(let model): return try model.cost(ofEvaluating: rows)
    case .values(let model): return try model.cost(ofEvaluating: rows)
    case .window(let model): return try model.cost(ofEvaluating: rows)
    }
  }

  package func cost(
    ofFollowing changes: ChangeSet, from content: ResultRows, seen scopes: [BoundScope]
  ) -> LiveCost {
    switch (self, content) {
    case (.query(let query), .root(let root)):
      let behind = scopes.reduce(0) { max($0, $1.lookups(for: changes)) }
      let own = query.lookups(for: changes, among: root.count)
      return LiveCost(lookedUp: saturatingSum(own, behind))
    case (.elements(let model), .elements(let content)):
      return model.cost(ofFollowing: changes, from: content, seen: scopes)
    case (.values(let model), .values(let content)):
      return model.cost(ofFollowing: changes, from: content, seen: scopes)
    case (.window(let model), .window(let content)):
      return model.cost(ofFollowing: changes, from: content, seen: scopes)
    default: Self.trapMixed()
    }
  }

  // MARK: - The query

  /// The query for objects. Traps for values.
  package var query: CompiledQuery {
    switch self {
    case .query(let query): query
    case .elements(let model): model.query
    case .values: trap("internal error: values are not objects")
    case .window(let model): model.whole.query
    }
  }

  /// True if the rows are all objects of their class.
  package var isWholeClass: Bool {
    if case .query(let query) = self { query.isUnfiltered } else { false }
  }

  /// The rows of no elements.
  package var nothing: ResultRows {
    switch self {
    case .query: .root(OrderedRoot(keyed: KeySet()))
    case .elements: .elements(ElementsModel.Content())
    case .values: .values(ValuesModel.Content())
    case .window(let model): .window(model.content(of: model.whole.nothing))
    }
  }
}

extension ResultModel {
  /// How the rows are found and maintained, one line per step.
  package func explanation(_ rows: Rows) throws(StorageError) -> [String] {
    switch self {
    case .query(let query):
      try query.explanation(rows) + ["keep: each commit changes the rows that it touches"]
    case .elements(let model) where model.owner == nil:
      try model.query.explanation(rows) + ["keep: each commit changes the rows that it touches"]
    case .elements:
      [
        "find: each element of the collection, tested one by one",
        "keep: each commit changes the elements that it touches",
      ]
    case .values:
      [
        "find: each value of the collection",
        "keep: a commit that changes the collection evaluates them again",
      ]
    case .window(let model):
      try model.whole.explanation(rows) + model.explanation(rows)
    }
  }
}
