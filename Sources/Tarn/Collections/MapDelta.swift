import TarnStore

/// What became of a map since the observer was told last. Each array of keys is in bytewise order,
/// and no key is in two of them.
///
/// The values are those that the observer is told of, even if a callback has written since; objects
/// are live all the same.
///
/// Threading: as the map. For as long as it is referenced it keeps two versions in the file, the
/// one that it leads to and the one before.
public struct MapDelta<Key: _MapKey, Value: RealmCollectionValue> {
  /// Keys that were removed.
  public let deletions: [Key]
  /// Keys that came.
  public let insertions: [Key]
  /// Keys whose value was set, or is an object that changed; and those that went and came.
  public let modifications: [Key]

  private let elements: PastElements
  private let host: any DeliveryHost
  private let isDynamic: Bool
  private let make: (TarnStore.Value) -> Value

  /// - Parameter make: a value as the program sees it, from what is stored.
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

  /// Why the value under a key is told to be modified, as ``CollectionDelta/nested(at:)`` does for
  /// positions; empty for a key that is not there. Threading: as the map.
  public func nested(for key: Key) -> [NestedChange] {
    guard let value = elements.value(for: key._mapKey) else { return [] }
    return nestedChanges(
      of: value, in: elements, isModified: modifications.contains(key), on: host,
      isDynamic: isDynamic
    ) { walk throws(StorageError) in try walk.wasSet(key._mapKey) }
  }

  /// Makes the new entries of the old ones. Threading: as the map.
  ///
  /// A dictionary of Swift has one entry for keys that are two spellings of the same letters, which
  /// a map keeps apart: it is that of the key which comes last in the map.
  public func apply(to entries: inout [Key: Value]) {
    for key in deletions { entries.removeValue(forKey: key) }
    for key in insertions + modifications {
      if let value = value(for: key) { entries.updateValue(value, forKey: key) }
    }
    if entries.count != elements.count { applySpellings(to: &entries) }
  }

  /// Puts the last of all spellings in where one of them came, went or was set.
  private func applySpellings(to entries: inout [Key: Value]) {
    let changed = Set(deletions + insertions + modifications)
    for position in 0..<elements.count {
      let key = Key(_mapKey: elements.key(at: position))
      if changed.contains(key) { entries.put(make(elements.value(at: position)), forKey: key) }
    }
  }
}

extension Dictionary {
  /// Sets a value under this very key: of an equal one that is there nothing stays.
  fileprivate mutating func put(_ value: Value, forKey key: Key) {
    removeValue(forKey: key)
    updateValue(value, forKey: key)
  }
}

extension ObservedChange {
  /// Brings a dictionary up to this change: `.initial` fills it, an update changes it, an error
  /// leaves it as it is. It then holds what the map held, if `.initial` is applied before anything
  /// else is written; of keys that are two spellings of the same letters the last one, as in
  /// ``MapDelta/apply(to:)``. Threading: as the map.
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
