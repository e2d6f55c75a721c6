import TarnStore

/// The changes of a map since the observer's last call. Each array of keys is in bytewise order,
/// and no key is in two of them.
///
/// The values are those after the change, even if a callback has written since; objects are live.
///
/// Threading: like the map. As long as it is referenced it keeps two versions in the file, the one
/// after the change and the one before.
public struct MapDelta<Key: _MapKey, Value: RealmCollectionValue> {
  /// Keys that were removed.
  public let deletions: [Key]
  /// Keys that were inserted.
  public let insertions: [Key]
  /// Keys whose value was set or whose object changed, and keys removed and added again.
  public let modifications: [Key]

  private let elements: PastElements
  private let host: any DeliveryHost
  private let isDynamic: Bool
  private let make: (TarnStore.Value) -> Value

  /// - Parameter make: converts a stored value to the program's type.
  init(
    _ changes: KeyChanges, _ elements: PastElements, on host: any DeliveryHost, isDynamic: Bool,
    _ make: @escaping (TarnStore.Value) -> Value
  ) {
    self.host = host
    self.isDynamic = isDynamic
    let lists = changes.lists
    deletions = lists.deletions.map { Key(_mapKey: $0) }
    insertions = lists.insertions.map { Key(_mapKey: $0) }
    modifications = lists.modifications.map { Key(_mapKey: $0) }
    self.elements = elements
    self.make = make
  }

  /// The value under a key after the change, nil if there is none.
  public func value(for key: Key) -> Value? { elements.value(for: key._mapKey).map(make) }

  /// The reasons why the value under a key is reported as modified, like
  /// ``CollectionDelta/nested(at:)`` for positions; empty for a missing key. Threading: like the
  /// map.
  public func nested(for key: Key) -> [NestedChange] {
    guard let value = elements.value(for: key._mapKey) else { return [] }
    return nestedChanges(
      of: value, in: elements, isModified: modifications.contains(key), on: host,
      isDynamic: isDynamic
    ) { walk throws(StorageError) in try walk.wasSet(key._mapKey) }
  }

  /// Applies the change to the old entries. Threading: like the map.
  ///
  /// A Swift dictionary has one entry for two canonically equivalent keys, which a map
  /// distinguishes: the entry of the key that is last in the map.
  public func apply(to entries: inout [Key: Value]) {
    for key in deletions { entries.removeValue(forKey: key) }
    for key in insertions + modifications {
      if let value = value(for: key) { entries.updateValue(value, forKey: key) }
    }
    if entries.count != elements.count { applySpellings(to: &entries) }
  }

  /// For each spelling that was removed, inserted or set, sets the value of the last equal
  /// spelling.
  private func applySpellings(to entries: inout [Key: Value]) {
    let changed = Set(deletions + insertions + modifications)
    for position in 0..<elements.count {
      let key = Key(_mapKey: elements.key(at: position))
      if changed.contains(key) { entries.put(make(elements.value(at: position)), forKey: key) }
    }
  }
}

extension Dictionary {
  /// Sets a value under exactly this key, replacing an equal key.
  fileprivate mutating func put(_ value: Value, forKey key: Key) {
    removeValue(forKey: key)
    updateValue(value, forKey: key)
  }
}

extension ObservedChange {
  /// Applies the change to a dictionary: `.initial` fills it, an update changes it, an error leaves
  /// it unchanged. The dictionary then equals the map, if `.initial` is applied before any further
  /// write; for canonically equivalent keys it has the last one, as in ``MapDelta/apply(to:)``.
  /// Threading: like the map.
  public func apply<Key, Value>(to entries: inout [Key: Value])
  where Collection == Map<Key, Value>, Delta == MapDelta<Key, Value> {
    switch self {
    case .initial(let map):
      entries = [:]
      for (key, value) in map { entries.put(value, forKey: key) }
    case .update(_, let delta): delta.apply(to: &entries)
    case .error: break
    }
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass its keys")
extension MapDelta: Sendable {}
