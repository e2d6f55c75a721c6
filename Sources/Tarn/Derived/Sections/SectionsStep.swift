import TarnStore

/// The former and the current sections of rows, and the changes of the rows in between.
struct SectionsStep<Key: Hashable> {
  let old: SectionTable<Key>
  let new: SectionTable<Key>
  private let all: IndexChanges
  /// The same as the observer sees it.
  private let seen: IndexChanges

  /// Nil for a difference of other content.
  init?(_ difference: LiveDifference) {
    guard case .derived(let all, let seen, let from, let to) = difference else { return nil }
    old = (from as? KeyedRows<Key>)?.table ?? SectionTable()
    new = (to as? KeyedRows<Key>)?.table ?? SectionTable()
    (self.all, self.seen) = (all, seen)
  }

  /// The resulting changes of the sections.
  var changes: SectionChanges { SectionChanges(from: old, to: new, all, seen: seen) }

  /// The same for one section.
  func changes(of key: Key) -> SectionChanges {
    changes.concerning(old.number(of: key), new.number(of: key))
  }

  /// The resulting changes of one section's elements, wherever the section is among the others.
  func elementChanges(of key: Key) -> IndexChanges {
    let (before, now) = (old.number(of: key), new.number(of: key))
    let all = SectionChanges(from: old, to: new, all, seen: seen, keeping: key)
      .concerning(before, now)
    var changes = IndexChanges()
    changes.deletions = all.deletions.map(\.item)
    if let before, !all.sectionsToDelete.isEmpty {
      changes.deletions = Array(0..<old.count(of: before))
    }
    changes.insertions = all.insertions.map(\.item)
    changes.modifications = all.modifications.map(\.item)
    changes.modificationsNew = all.modificationsNew.map(\.item)
    changes.moves = all.moves.map { IndexChanges.Move(from: $0.from.item, to: $0.to.item) }
    return changes
  }
}
