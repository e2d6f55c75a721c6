import TarnStore

/// The content of a notification for an observer of sections.
enum SectionsNews<Key: Hashable> {
  case initial
  case update(SectionsStep<Key>)
  case error(StorageError)

  /// Nil for other notifications.
  init?(_ news: CollectionObservation.News) {
    switch news {
    case .initial: self = .initial
    case .error(let error): self = .error(error)
    case .update(.indices), .update(.keys): return nil
    case .update(.derived(let all, let seen, let from, let to)):
      let old = (from as? KeyedRows<Key>)?.table ?? SectionTable()
      let new = (to as? KeyedRows<Key>)?.table ?? SectionTable()
      self = .update(SectionsStep(old: old, new: new, all: all, seen: seen))
    }
  }
}

/// The division of rows into sections before and after, and the changes of the rows in between.
struct SectionsStep<Key: Hashable> {
  let old: SectionTable<Key>
  let new: SectionTable<Key>
  fileprivate let all: IndexChanges
  /// The same in the observer's scope.
  fileprivate let seen: IndexChanges

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
