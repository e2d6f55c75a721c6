/// What one step did to a live source, as it is kept until everybody has been told.
package enum LiveChange: Sendable {
  /// The rows of a query over a class: the roots before and after.
  case rows(ResultStep)
  /// What is told by position: lists, backlinks, and what is made by going over elements.
  case positions(EditScript)
  case members(SetStep)
  /// Maps.
  case keys(KeyChanges)

  /// About how much memory it keeps, in touched rows.
  package var weight: Int {
    if case .rows(let step) = self { step.touched.count } else { 1 }
  }
}

/// What an observer is told.
package enum LiveDifference: Sendable {
  case indices(IndexChanges)
  case keys(KeyChanges)

  package var isEmpty: Bool {
    switch self {
    case .indices(let changes): changes.isEmpty
    case .keys(let changes): changes.isEmpty
    }
  }
}

/// What a first call showed that was made inside a write, and that no step begins from.
package enum LiveBaseline: Sendable {
  case rows(OrderedRoot)
  case count(Int)
  case keys([String])
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
    case .positions(let first): .indices(positions(first, changes, baseline).indexChanges())
    case .members(let first): .indices(members(first, changes, baseline))
    case .keys: .keys(keys(changes))
    }
  }

  private static func rows(
    _ first: ResultStep, _ changes: ArraySlice<LiveChange>, _ baseline: LiveBaseline?
  ) -> IndexChanges {
    var all = first
    for case .rows(let step) in changes.dropFirst() { all = all.merging(step) }
    guard case .rows(let root)? = baseline else { return all.difference() }
    return all.touched.difference(root, all.after)
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
