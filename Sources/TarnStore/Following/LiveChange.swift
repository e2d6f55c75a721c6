/// What one step did to a live source, as it is kept until everybody has been told.
package enum LiveChange: Sendable {
  /// The rows of a query over a class: the roots before and after.
  case rows(ResultStep)
  /// What is told by position: lists, backlinks, and what is made by going over elements.
  case positions(EditScript)
  case members(SetStep)
  /// Maps.
  case keys(KeyChanges)
  /// What the program helps to make of rows: how they changed, how those who look at some of that
  /// see it, and what was made of them before and after.
  indirect case derived(
    all: LiveChange?, seen: LiveChange?, from: any DerivedState, to: any DerivedState)

  /// Groups of rows.
  case groups(GroupsStep)

  /// A script, if there is something to tell.
  static func news(_ script: EditScript) -> LiveChange? {
    script.isIdentity ? nil : .positions(script)
  }

  /// Leaves what it says of rows: freeing that runs no code of the program.
  package mutating func dropDerivedState() {
    guard case .derived(let all, let seen, _, _) = self, let rows = all ?? seen else { return }
    self = rows
  }

  /// The same change, with its difference worked out.
  package func withDifference() -> LiveChange {
    if case .rows(let step) = self { .rows(step.withDifference()) } else { self }
  }

  /// This step and the next one of the same source as one.
  package func merging(_ later: LiveChange) -> LiveChange {
    switch (self, later) {
    case (.rows(let a), .rows(let b)): return .rows(a.merging(b))
    case (.positions(let a), .positions(let b)): return .positions(a.composing(b))
    case (.members(let a), .members(let b)): return .members(a.merging(b))
    case (.keys(var a), .keys(let b)):
      a.append(b)
      return .keys(a)
    case (.groups(let a), .groups(let b)): return .groups(a.merging(b))
    case (.derived(let all, let seen, let from, _), .derived(let nextAll, let nextSeen, _, let to)):
      return .derived(
        all: all.merging(nextAll), seen: seen.merging(nextSeen), from: from, to: to)
    default: trap("internal error: two kinds of steps from one source")
    }
  }

  /// About how much memory it keeps, in touched rows.
  package var weight: Int {
    if case .rows(let step) = self { step.weight } else { 1 }
  }
}

extension LiveChange? {
  /// The same for steps of which one or both did nothing.
  fileprivate func merging(_ later: LiveChange?) -> LiveChange? {
    guard let self else { return later }
    return later.map { self.merging($0) } ?? self
  }
}

/// What is made of rows. Only who has made it looks inside.
package protocol DerivedState: AnyObject, Sendable {}

/// What an observer is told.
package enum LiveDifference: Sendable {
  case indices(IndexChanges)
  case keys(KeyChanges)
  /// How rows changed, how the observer sees it, and what was made of them before and after.
  case derived(
    all: IndexChanges, seen: IndexChanges, from: any DerivedState, to: any DerivedState)

  /// What it says by position.
  fileprivate var positions: IndexChanges {
    if case .indices(let changes) = self { changes } else { IndexChanges() }
  }

  package var isEmpty: Bool {
    switch self {
    case .indices(let changes): changes.isEmpty
    case .keys(let changes): changes.isEmpty
    case .derived(let all, let seen, _, _): all.isEmpty && seen.isEmpty
    }
  }
}

/// What a first call showed that was made inside a write, and that no step begins from.
package enum LiveBaseline: Sendable {
  case rows(OrderedRoot)
  case count(Int)
  case keys([String])
  /// What was made of such rows.
  indirect case derived(LiveBaseline, any DerivedState)
}

extension LiveChange {
  /// The one way from steps to a difference.
  ///
  /// - Parameters:
  ///   - changes: of one source, in the order of the steps.
  ///   - baseline: what the observer saw instead of the state before the first of them.
  package static func difference(
    _ changes: ArraySlice<LiveChange>, from baseline: LiveBaseline? = nil
  ) -> LiveDifference {
    switch changes.first {
    case nil: .indices(IndexChanges())
    case .rows(let first): .indices(rows(first, changes, baseline))
    case .positions(let first):
      .indices(positions(first, changes, baseline).indexChanges(withMoves: true))
    case .members(let first): .indices(members(first, changes, baseline))
    case .keys: .keys(keys(changes))
    case .groups(let first): groups(first, changes, baseline)
    case .derived(_, _, let before, _): derived(before, changes, baseline)
    }
  }

  private static func groups(
    _ first: GroupsStep, _ changes: ArraySlice<LiveChange>, _ baseline: LiveBaseline?
  ) -> LiveDifference {
    var whole = first
    for case .groups(let step) in changes.dropFirst() { whole = whole.merging(step) }
    if case .derived(_, let seen)? = baseline, let seen = seen as? GroupTable {
      whole = GroupsStep(before: seen, after: whole.after, touched: nil)
    }
    let difference = whole.difference()
    return .derived(all: difference, seen: difference, from: whole.before, to: whole.after)
  }

  private static func derived(
    _ before: any DerivedState, _ changes: ArraySlice<LiveChange>, _ baseline: LiveBaseline?
  ) -> LiveDifference {
    var (from, to, seen) = (before, before, LiveBaseline?.none)
    if case .derived(let rows, let made)? = baseline { (seen, from) = (rows, made) }
    if case .derived(_, _, _, let last)? = changes.last { to = last }
    var (all, some): ([LiveChange], [LiveChange]) = ([], [])
    for case .derived(let step, let part, _, _) in changes {
      if let step { all.append(step) }
      if let part { some.append(part) }
    }
    return .derived(
      all: difference(all[...], from: seen).positions,
      seen: difference(some[...], from: seen).positions, from: from, to: to)
  }

  private static func rows(
    _ first: ResultStep, _ changes: ArraySlice<LiveChange>, _ baseline: LiveBaseline?
  ) -> IndexChanges {
    var all = first
    for case .rows(let step) in changes.dropFirst() { all = all.merging(step) }
    guard case .rows(let root)? = baseline else { return all.difference() }
    return all.difference(from: root)
  }

  private static func positions(
    _ first: EditScript, _ changes: ArraySlice<LiveChange>, _ baseline: LiveBaseline?
  ) -> EditScript {
    var script = first
    for case .positions(let step) in changes.dropFirst() { script = script.composing(step) }
    guard case .count(let count)? = baseline else { return script }
    return .replacingAll(oldCount: count, newCount: script.newCount)
  }

  private static func members(
    _ first: SetStep, _ changes: ArraySlice<LiveChange>, _ baseline: LiveBaseline?
  ) -> IndexChanges {
    var steps = [first]
    for case .members(let step) in changes.dropFirst() { steps.append(step) }
    return SetStep.difference(steps, from: baseline)
  }

  private static func keys(_ changes: ArraySlice<LiveChange>) -> KeyChanges {
    var merged = KeyChanges()
    for case .keys(let step) in changes { merged.append(step) }
    return merged
  }
}
