/// The change of a live source in one step, kept until all observers were notified.
package enum LiveChange: Sendable {
  /// The rows of a query over a class: the roots before and after.
  case rows(ResultStep)
  /// Positional changes: of lists, backlinks, and rows found by reading elements.
  case positions(EditScript)
  case members(SetStep)
  /// Changes of maps.
  case keys(KeyChanges)
  /// Changes of values that the program derives from rows: how the rows changed, how observers with
  /// key paths see it, and the derived values before and after.
  indirect case derived(
    all: LiveChange?, seen: LiveChange?, from: any DerivedState, to: any DerivedState)

  /// Changes of groups.
  case groups(GroupsStep)

  /// A script, unless it changes nothing.
  static func news(_ script: EditScript) -> LiveChange? {
    script.isIdentity ? nil : .positions(script)
  }

  /// Keeps only the change of rows: releasing that runs no code of the program.
  package mutating func dropDerivedState() {
    guard case .derived(let all, let seen, _, _) = self, let rows = all ?? seen else { return }
    self = rows
  }

  /// The same change, with its difference computed.
  package func withDifference() -> LiveChange {
    if case .rows(let step) = self { .rows(step.withDifference()) } else { self }
  }

  /// This step and the next one of the same source, merged.
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

  /// The approximate memory that it holds, in changed rows.
  package var weight: Int {
    if case .rows(let step) = self { step.weight } else { 1 }
  }
}

extension LiveChange? {
  /// The same for steps of which one or both changed nothing.
  fileprivate func merging(_ later: LiveChange?) -> LiveChange? {
    guard let self else { return later }
    return later.map { self.merging($0) } ?? self
  }
}

/// Values derived from rows. Only their creator accesses the contents.
package protocol DerivedState: AnyObject, Sendable {}

/// The change that an observer receives.
package enum LiveDifference: Sendable {
  case indices(IndexChanges)
  case keys(KeyChanges)
  /// How rows changed, how the observer sees it, and the derived values before and after.
  case derived(
    all: IndexChanges, seen: IndexChanges, from: any DerivedState, to: any DerivedState)

  /// Its positional changes.
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

/// The content of a first call inside a write, which no step begins from.
package enum LiveBaseline: Sendable {
  case rows(OrderedRoot)
  case count(Int)
  case keys([String])
  /// The values derived from such rows.
  indirect case derived(LiveBaseline, any DerivedState)
}

extension LiveChange {
  /// Computes a difference from steps.
  ///
  /// - Parameters:
  /// - changes: of one source, in the order of the steps.
  /// - baseline: the content that the observer saw instead of the state before the first step.
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

/// The changes of a map's keys.
package struct KeyChanges: Sendable {
  private enum Fate: Sendable { case deleted, inserted, modified }

  private var fates: [StoredText: Fate] = [:]

  /// The changes of one step. A key that was removed and added again has another value.
  package init(
    deletions: some Sequence<String> = [], insertions: some Sequence<String> = [],
    modifications: some Sequence<String> = []
  ) {
    for key in deletions { note(.deleted, StoredText(key)) }
    for key in insertions { note(.inserted, StoredText(key)) }
    for key in modifications { note(.modified, StoredText(key)) }
  }

  /// The difference of two sets of keys, with all values replaced.
  package init(from old: [String], to new: [String]) {
    self.init(deletions: old, insertions: new)
  }

  package var isEmpty: Bool { fates.isEmpty }

  package mutating func append(_ later: KeyChanges) {
    for (key, fate) in later.fates { note(fate, key) }
  }

  private mutating func note(_ fate: Fate, _ key: StoredText) {
    switch (fates[key], fate) {
    case (.deleted, .inserted): fates[key] = .modified
    case (.inserted, .modified): break
    case (.inserted, .deleted): fates[key] = nil
    default: fates[key] = fate
    }
  }

  /// The keys removed, added, or assigned a value, each list in the order of their bytes.
  package var lists: (deletions: [String], insertions: [String], modifications: [String]) {
    (keys(.deleted), keys(.inserted), keys(.modified))
  }

  private func keys(_ fate: Fate) -> [String] {
    fates.filter { $0.value == fate }.map(\.key.text).sorted { SequenceOrder.compare($0, $1) < 0 }
  }
}
