extension RealmCollection {
  /// Calls `block` as without key paths, but an object counts as modified only if something on one
  /// of the key paths was set: in the object, as in `"name"`, or behind links, collections and
  /// backlinks, as in `"owner.city.name"`. What comes, goes or moves is always told. See
  /// <doc:Observing>.
  ///
  /// Nil and no key paths at all filter nothing. Each token has a filter of its own. Traps for a
  /// property that a class does not have, for values that are no objects, and where the call
  /// without key paths does.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(
    keyPaths: [String]?, _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    _observe(_Look(keyPaths: keyPaths), block)
  }

  /// The same for key paths of the elements' class, such as `\Dog.owner?.name`. One through a
  /// collection goes on from an element at any index: `\Dog.siblings[0].name` stands for the names
  /// of all.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<Element>],
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken where Element: KeypathSortable {
    _observe(_Look(keyPaths: keyPaths.map { _name(for: $0, .observing) }), block)
  }

  /// Calls `block` as without a depth, which is three: an object counts as modified if a property
  /// was set in it, or in an object that is at most so many links away from it. With a depth of 0
  /// only its own properties count. Traps for a negative depth, and where the call without a depth
  /// does.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(
    depth: Int, _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    _observe(_Look(depth: depth), block)
  }
}

extension Map {
  /// Calls `block` as without key paths, but a key whose value is an object counts as modified only
  /// if another value was set for it or something on one of the key paths was set in the object, or
  /// behind its links. See <doc:Observing>.
  ///
  /// Nil and no key paths at all filter nothing. Each token has a filter of its own. Traps for a
  /// property that a class does not have, for values that are no objects, and where the call
  /// without key paths does.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(
    keyPaths: [String]?, _ block: @escaping (RealmMapChange<Map<Key, Value>>) -> Void
  ) -> NotificationToken {
    observe(_Look(keyPaths: keyPaths), block)
  }

  /// The same for key paths of the objects' class.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>], _ block: @escaping (RealmMapChange<Map<Key, Value>>) -> Void
  ) -> NotificationToken where Value == T? {
    observe(_Look(keyPaths: keyPaths.map { _name(for: $0, .observing) }), block)
  }

  /// Calls `block` as without a depth, which is three: a key counts as modified if a property was
  /// set in its object, or in one that is at most so many links away. Traps for a negative depth,
  /// and where the call without a depth does.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(
    depth: Int, _ block: @escaping (RealmMapChange<Map<Key, Value>>) -> Void
  ) -> NotificationToken {
    observe(_Look(depth: depth), block)
  }
}
