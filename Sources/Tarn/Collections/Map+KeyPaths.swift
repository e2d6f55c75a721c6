extension Map {
  /// Like `observe(_:)`, but a key whose value is an object counts as modified only if its value
  /// was replaced or a property on one of the key paths was set, in the object or through its
  /// links. See <doc:Observing>.
  ///
  /// Nil and an empty array filter nothing. Each token has its own filter. Traps for a property
  /// that a class does not have, for values that are not objects, and in the same cases as
  /// `observe(_:)`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    keyPaths: [String]?, _ block: @escaping (RealmMapChange<Map<Key, Value>>) -> Void
  ) -> NotificationToken {
    _observe(_Look(keyPaths: keyPaths), block)
  }

  /// The same for key paths of the objects' class.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>], _ block: @escaping (RealmMapChange<Map<Key, Value>>) -> Void
  ) -> NotificationToken where Value == T? {
    _observe(_Look(keyPaths), block)
  }

  /// Like `observe(_:)`, with changes counted up to `depth` links away (3 by default): a key counts
  /// as modified if a property was set in its object, or in one within that depth. Traps for a
  /// negative depth, and in the same cases as `observe(_:)`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    depth: Int, _ block: @escaping (RealmMapChange<Map<Key, Value>>) -> Void
  ) -> NotificationToken {
    _observe(_Look(depth: depth), block)
  }

  /// Like `observeChanges`, limited to the changes that `observe(keyPaths:)` reports. Same
  /// preconditions.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    keyPaths: [String]?, _ block: @escaping (ObservedChange<Map, MapDelta<Key, Value>>) -> Void
  ) -> NotificationToken {
    _changeOrigin.looking(_Look(keyPaths: keyPaths)).observe(block)
  }

  /// The same for key paths of the objects' class.
  @_disfavoredOverload
  public func observeChanges<T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>],
    _ block: @escaping (ObservedChange<Map, MapDelta<Key, Value>>) -> Void
  ) -> NotificationToken where Value == T? {
    _changeOrigin.looking(_Look(keyPaths)).observe(block)
  }

  /// Like `observeChanges`, limited to the changes that `observe(depth:)` reports.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observeChanges(
    depth: Int, _ block: @escaping (ObservedChange<Map, MapDelta<Key, Value>>) -> Void
  ) -> NotificationToken {
    _changeOrigin.looking(_Look(depth: depth)).observe(block)
  }

  /// The changes that `observeChanges(keyPaths:)` delivers, as an asynchronous sequence. Traps at
  /// once in the same cases; see ``ChangeSequence`` for where the loop may run.
  public func changes(
    keyPaths: [String]?
  ) -> ChangeSequence<ObservedChange<Map, MapDelta<Key, Value>>> {
    _changeOrigin.looking(_Look(keyPaths: keyPaths)).changes
  }

  /// The same for key paths of the objects' class.
  @_disfavoredOverload
  public func changes<T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>]
  ) -> ChangeSequence<ObservedChange<Map, MapDelta<Key, Value>>> where Value == T? {
    _changeOrigin.looking(_Look(keyPaths)).changes
  }

  /// The changes that `observeChanges(depth:)` delivers, as an asynchronous sequence. Traps at once
  /// in the same cases; see ``ChangeSequence`` for where the loop may run.
  public func changes(depth: Int) -> ChangeSequence<ObservedChange<Map, MapDelta<Key, Value>>> {
    _changeOrigin.looking(_Look(depth: depth)).changes
  }
}
