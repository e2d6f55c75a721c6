import TarnStore

extension _CollectionProperty {
  /// Observes the collection; `block` receives it in the instance's present life.
  func observeNews(
    _ look: _Look, _ block: @escaping (Self, CollectionObservation.News) -> Void
  ) -> NotificationToken {
    guard let managed = backing as? ManagedSequence else {
      trap(
        "Only collections which are managed by a Realm support change notifications; add the "
          + "object that owns this one first.")
    }
    return managed.observe(look) { [self] news in
      block(managed.revived.map { Self(_handle: _SequenceHandle($0)) } ?? self, news)
    }
  }

  /// The same for a collection with positions.
  func observeIndices(
    _ look: _Look, _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    observeNews(look) { collection, news in
      switch news {
      case .initial: block(.initial(collection))
      case .update(.keys), .update(.derived): break
      case .update(.indices(let changes)):
        block(
          .update(
            collection, deletions: changes.deletions, insertions: changes.insertions,
            modifications: changes.modifications))
      case .error(let error): block(.error(Realm.Error(error)))
      }
    }
  }
}

extension List {
  /// Calls `block` first with `.initial` and then with the exact changes whenever elements were
  /// inserted, deleted, moved or replaced, or an object among them has changed, itself or up to
  /// three links away. Commits in quick succession are reported in one call. A moved element is
  /// reported as a deletion and an insertion. If the object that has the list is deleted, all
  /// elements are reported as deleted, and nothing follows; the list passed to that call is
  /// invalidated.
  ///
  /// Traps for an unmanaged or invalidated list, on a thread that has no later turns, and in a
  /// write that has changed something.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    _ block: @escaping (RealmCollectionChange<List<Element>>) -> Void
  ) -> NotificationToken {
    observeIndices(.standard, block)
  }

  public func _observe(
    _ look: _Look, _ block: @escaping (RealmCollectionChange<List<Element>>) -> Void
  ) -> NotificationToken {
    observeIndices(look, block)
  }
}

extension MutableSet {
  /// Calls `block` first with `.initial` and then with the exact changes, like `List`. Removing a
  /// value and inserting it again is not reported.
  ///
  /// Traps for an unmanaged or invalidated set, on a thread that has no later turns, and in a write
  /// that has changed something.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    _ block: @escaping (RealmCollectionChange<MutableSet<Element>>) -> Void
  ) -> NotificationToken {
    observeIndices(.standard, block)
  }

  public func _observe(
    _ look: _Look, _ block: @escaping (RealmCollectionChange<MutableSet<Element>>) -> Void
  ) -> NotificationToken {
    observeIndices(look, block)
  }
}

/// The argument of a map's observer.
public enum RealmMapChange<Collection: RealmKeyedCollection> {
  /// The first call: the map is ready to be read.
  case initial(Collection)
  /// The map changed since the last call: deleted keys, inserted keys, and keys whose value was set
  /// or whose object changed. Each array is in bytewise order, and no key is in two of them.
  case update(
    Collection, deletions: [Collection.Key], insertions: [Collection.Key],
    modifications: [Collection.Key])
  /// The file can no longer be followed; this is the last call.
  case error(any Error)
}

extension Map: _DeltaCollection {
  public typealias _Looked = Value

  /// Calls `block` first with `.initial` and then with the changed keys, like `List` with
  /// positions. A key that was removed and inserted again is modified.
  ///
  /// Traps for an unmanaged or invalidated map, on a thread that has no later turns, and in a write
  /// that has changed something.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    _ block: @escaping (RealmMapChange<Map<Key, Value>>) -> Void
  ) -> NotificationToken {
    _observe(.standard, block)
  }

  public func _observe(
    _ look: _Look, _ block: @escaping (RealmMapChange<Map<Key, Value>>) -> Void
  ) -> NotificationToken {
    observeNews(look) { map, news in
      switch news {
      case .initial: block(.initial(map))
      case .update(.indices), .update(.derived): break
      case .update(.keys(let changes)):
        func keys(_ texts: [String]) -> [Key] { texts.map { Key(_mapKey: $0) } }
        let lists = changes.lists
        block(
          .update(
            map, deletions: keys(lists.deletions), insertions: keys(lists.insertions),
            modifications: keys(lists.modifications)))
      case .error(let error): block(.error(Realm.Error(error)))
      }
    }
  }
}

extension RealmMapChange: Sendable where Collection: Sendable, Collection.Key: Sendable {}
