/// The change of a live source in one step, kept until all observers were notified.
package enum LiveChange: Sendable {
  /// The rows of a query over a class: the roots before and after.
  case rows(ResultStep)
  /// Positional changes: of lists, sets, backlinks, and rows found by reading elements.
  case script(ScriptStep)
  /// Changes of maps.
  case keys(KeyChanges)
  /// Changes of groups.
  case groups(GroupsStep)
  /// Changes of values that the program derives from rows: how the rows changed, how observers with
  /// key paths see it, and the derived values before and after.
  indirect case derived(
    all: LiveChange?, seen: LiveChange?, from: any DerivedState, to: any DerivedState)

  /// A script, unless it changes nothing.
  static func news(_ script: EditScript) -> LiveChange? {
    script.isIdentity ? nil : .script(ScriptStep(script))
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
    case (.script(let a), .script(let b)): return .script(a.merging(b))
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

  /// The elements after the step, if it has them.
  package var elements: LiveElements? {
    switch self {
    case .rows(let step): .rows(ResultRows(step.after))
    case .derived(let all, let seen, _, _): (all ?? seen)?.elements
    case .script, .keys, .groups: nil
    }
  }

  /// The approximate memory that it holds, in changed rows.
  package var weight: Int {
    if case .rows(let step) = self { step.weight } else { 1 }
  }

  /// The change for an observer.
  ///
  /// - Parameter baseline: the content that the observer saw instead of the state before the step.
  package func difference(from baseline: LiveBaseline? = nil) -> LiveDifference {
    var made = LiveDifference()
    switch self {
    case .rows(let step):
      made.indices = baseline?.root.map { step.difference(from: $0) } ?? step.difference()
    case .script(let step): made.indices = step.difference(from: baseline)
    case .keys(let keys): made.keys = keys
    case .groups(let step):
      let whole = step.beginning(with: baseline?.derived as? GroupTable)
      made.indices = whole.difference()
      made.derived = (made.indices, whole.before, whole.after)
    case .derived(let all, let seen, let from, let to):
      made.indices = seen?.difference(from: baseline).indices ?? IndexChanges()
      let indices = all?.difference(from: baseline).indices ?? IndexChanges()
      made.derived = (indices, baseline?.derived ?? from, to)
    }
    return made
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
package struct LiveDifference: Sendable {
  /// By position; empty for maps.
  package fileprivate(set) var indices = IndexChanges()
  /// The changed keys of a map; empty for other sources.
  package fileprivate(set) var keys = KeyChanges()
  /// For values that are derived from rows: how the rows changed, whether or not the observer sees
  /// it, and the values before and after.
  package fileprivate(set) var derived:
    (all: IndexChanges, from: any DerivedState, to: any DerivedState)?

  package init(keys: KeyChanges = KeyChanges()) { self.keys = keys }

  package var isEmpty: Bool {
    indices.isEmpty && keys.isEmpty && derived?.all.isEmpty != false
  }
}

/// The content of an observer's first call inside a write, as far as the next change depends on it:
/// no step begins from there.
package struct LiveBaseline: Sendable {
  /// The number of elements.
  let count: Int
  /// The rows, if the difference to them is determined exactly.
  let root: OrderedRoot?
  /// The values derived from the rows.
  package var derived: (any DerivedState)?
  /// The keys of a map.
  package var keys: [String]?

  init(count: Int, root: OrderedRoot? = nil, derived: (any DerivedState)? = nil) {
    self.count = count
    self.root = root
    self.derived = derived
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
