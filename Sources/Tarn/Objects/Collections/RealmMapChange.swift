import TarnStore

/// The argument of a map's observer: the first state, a change, or an error.
public enum RealmMapChange<Collection: RealmKeyedCollection> {
  /// The first call: the map is ready to be read.
  case initial(Collection)
  /// The map changed since the last call: deleted keys, inserted keys, and keys whose value was set
  /// or whose object changed. Each array is in bytewise order, and no key is in two of them.
  case update(
    Collection, deletions: [Collection.Key], insertions: [Collection.Key],
    modifications: [Collection.Key])
  /// The file can no longer be observed; this is the last call.
  case error(any Error)
}

extension RealmMapChange {
  init<Key, Value>(_ news: News<KeyChanges>, _ map: @autoclosure () -> Map<Key, Value>)
  where Collection == Map<Key, Value> {
    func keys(_ texts: [String]) -> [Key] { texts.map { Key(_mapKey: $0) } }
    switch news {
    case .initial: self = .initial(map())
    case .update(let changes):
      let lists = changes.lists
      self = .update(
        map(), deletions: keys(lists.deletions), insertions: keys(lists.insertions),
        modifications: keys(lists.modifications))
    case .error(let error): self = .error(Realm.Error(error))
    }
  }
}

extension RealmMapChange: Sendable where Collection: Sendable, Collection.Key: Sendable {}
