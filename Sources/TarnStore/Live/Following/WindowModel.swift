/// A range of the rows of results, by position in the order of all rows.
///
/// For observers all rows are kept in order, as for the whole results: any row may replace one that
/// leaves the window. Changes are clipped to the window. Without observers, reading the first rows
/// of an order does not produce the others.
package struct WindowModel: LiveModel {
  package struct Content: LiveContent {
    fileprivate enum Rows {
      case whole(ResultRows)
      /// The objects in the window; the other rows are unknown.
      case part([ObjectKey])
    }

    fileprivate var rows: Rows
    fileprivate let window: Range<Int>

    package var isOwnerGone: Bool {
      if case .whole(let rows) = rows { rows.isOwnerGone } else { false }
    }
  }

  package let whole: ResultModel
  /// The positions of the window, as far as there are rows.
  package let window: Range<Int>

  package init(_ whole: ResultModel, _ window: Range<Int>) {
    self.whole = whole
    self.window = window
  }

  package var owner: ObjectRef? { whole.owner }
  package var concerningClasses: Set<ClassID> { whole.concerningClasses }
  package var elementClasses: Set<ClassID> { whole.elementClasses }
  package var followsIncrementally: Bool { whole.followsIncrementally }
  package var readsPastState: Bool { whole.readsPastState }
  package var needsOwner: Bool { whole.needsOwner }

  package func isConcerned(by changes: ChangeSet) -> Bool { whole.isConcerned(by: changes) }

  // MARK: - Content

  /// Windows that end farther from the start are taken from all rows.
  private static let endMax = 1024

  /// The known part of the rows.
  package func content(of whole: ResultRows) -> Content {
    Content(rows: .whole(whole), window: window)
  }

  package func evaluateForReading(_ rows: Rows) throws(StorageError) -> Content {
    guard let query = queryForReading, let first = try query.first(window.upperBound, rows) else {
      return try evaluate(rows)
    }
    return Content(rows: .part(Array(first.dropFirst(window.lowerBound))), window: window)
  }

  /// The query whose first rows alone are read; nil if all rows are read.
  private var queryForReading: CompiledQuery? {
    guard case .query(let query) = whole, window.upperBound <= Self.endMax else { return nil }
    return query
  }

  package func canFollow(_ content: Content) -> Bool { content.isOfWhole }

  package func evaluate(_ rows: Rows) throws(StorageError) -> Content {
    content(of: try whole.evaluate(rows))
  }

  package func follow(
    _ content: inout Content, over changes: ChangeSet, to rows: Rows
  ) throws(StorageError) {
    if content.isOfWhole {
      try whole.follow(&content.whole, over: changes, to: rows)
    } else if isConcerned(by: changes) {
      // Repeated reads are faster with maintained rows.
      content = try evaluate(rows)
    }
  }

  package func elements(
    _ content: Content, _ rows: Rows
  ) throws(StorageError) -> LiveElements {
    .rows(.window(content))
  }

  package func baseline(
    _ content: Content, _ rows: Rows
  ) throws(StorageError) -> LiveBaseline {
    .count(content.count)
  }

  // MARK: - Steps

  package struct Step {
    fileprivate var whole: ResultModel.Step
    /// The positions of the window before the step.
    fileprivate let former: Range<Int>
  }

  package func advance(
    _ content: inout Content, over move: LiveMove
  ) throws(StorageError) -> Step {
    let former = content.range
    return Step(whole: try whole.advance(&content.whole, over: move), former: former)
  }

  package func isQuiet(_ step: Step) -> Bool { whole.isQuiet(step.whole) }

  package func change(
    _ step: inout Step, _ content: inout Content, _ move: LiveMove, seen scope: BoundScope
  ) throws(StorageError) -> LiveChange? {
    let change = try whole.change(&step.whole, &content.whole, move, seen: scope)
    guard let change else { return nil }
    return .news(Self.script(of: change).clipped(from: step.former, to: content.range))
  }

  private static func script(of change: LiveChange) -> EditScript {
    switch change {
    case .rows(let step): step.script
    case .positions(let script): script
    case .members, .keys, .groups, .derived:
      trap("internal error: a change of rows is of another kind")
    }
  }

  /// The change of rows over `changes` that were not followed.
  func difference(
    _ old: Content, _ new: Content, over changes: ChangeSet, _ rows: Rows,
    seen scope: BoundScope
  ) throws(StorageError) -> IndexChanges {
    let all = try whole.difference(old.whole, new.whole, over: changes, rows, seen: scope)
    return EditScript(all, oldCount: old.whole.count, newCount: new.whole.count) { _ in true }
      .clipped(from: old.range, to: new.range).indexChanges(withMoves: true)
  }

  /// Which of all rows are shown, and how they are found without observers.
  func explanation(_ rows: Rows) throws(StorageError) -> [String] {
    if window.isEmpty { return ["show: none"] }
    let last = window.upperBound == .max ? "on" : "to \(window.upperBound - 1)"
    let shown = "show: in this order, positions \(window.lowerBound) \(last)"
    let read = try queryForReading?.explanation(ofFirst: window.upperBound, rows)
    return [shown, read].compactMap(\.self)
  }

  // MARK: - Costs

  package func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost {
    try whole.cost(ofEvaluating: rows)
  }

  package func cost(
    ofFollowing changes: ChangeSet, from content: Content, seen scopes: [BoundScope]
  ) -> LiveCost {
    whole.cost(ofFollowing: changes, from: content.whole, seen: scopes)
  }
}

extension WindowModel.Content {
  /// Whether a step can begin from it.
  var isOfWhole: Bool { if case .whole = rows { true } else { false } }

  /// All rows.
  var whole: ResultRows {
    get {
      guard case .whole(let all) = rows else {
        trap("internal error: all rows are needed, but only a part is known")
      }
      return all
    }
    set { rows = .whole(newValue) }
  }

  /// The positions shown among all rows.
  var range: Range<Int> { window.clamped(to: 0..<whole.count) }

  var count: Int {
    switch rows {
    case .whole: range.count
    case .part(let keys): keys.count
    }
  }

  /// The elements, for values; nil for objects.
  var values: ValueRows? { isOfWhole ? whole.values?[range] : nil }

  func value(at position: Int) -> Value? {
    isOfWhole ? whole.value(at: range.lowerBound + position) : nil
  }

  func key(at position: Int) -> ObjectKey {
    switch rows {
    case .whole(let all): all.key(at: range.lowerBound + position)
    case .part(let keys): keys[position]
    }
  }

  func keys(in part: Range<Int>) -> [ObjectKey] {
    switch rows {
    case .whole(let all):
      let start = range.lowerBound
      return all.keys(in: start + part.lowerBound..<start + part.upperBound)
    case .part(let keys): return Array(keys[part])
    }
  }

  /// The first position of an object.
  func position(of key: ObjectKey) -> Int? {
    if case .whole(let all) = rows, all.isOfDistinctObjects {
      return all.position(of: key).flatMap { range.contains($0) ? $0 - range.lowerBound : nil }
    }
    return keys(in: 0..<count).firstIndex(of: key)
  }
}

extension ResultStep {
  /// The change of a window on the rows, as positions in it.
  package func difference(of window: Range<Int>) -> IndexChanges {
    let (old, new) = (before.count, after.count)
    return script.clipped(from: window.clamped(to: 0..<old), to: window.clamped(to: 0..<new))
      .indexChanges(withMoves: true)
  }

  /// The change as a script.
  fileprivate var script: EditScript {
    EditScript(difference(), oldCount: before.count, newCount: after.count) { position in
      modified.contains(after.key(at: position))
    }
  }
}
