import TarnStore

/// What an observer of sections is called with.
enum SectionsNews {
  case initial
  case update(SectionChanges)
  case error(StorageError)

  /// What news of the rows mean for their sections; nil if nothing.
  ///
  /// - Parameter key: of the one section that is observed; nil for all.
  init?<Key: Hashable>(_ news: CollectionObservation.News, _ sections: Key.Type, only key: Key?) {
    switch news {
    case .initial: self = .initial
    case .error(let error): self = .error(error)
    case .update(.indices), .update(.keys): return nil
    case .update(.derived(let all, let seen, let from, let to)):
      let old = (from as? KeyedRows<Key>)?.table ?? SectionTable()
      let new = (to as? KeyedRows<Key>)?.table ?? SectionTable()
      var made = SectionChanges(from: old, to: new, all, seen: seen)
      if let key { made = made.concerning(old.number(of: key), new.number(of: key)) }
      if made.isEmpty { return nil }
      self = .update(made)
    }
  }
}
