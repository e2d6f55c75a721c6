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
