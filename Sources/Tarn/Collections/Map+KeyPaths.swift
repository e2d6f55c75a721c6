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
    _observe(_Look(keyPaths: keyPaths), block)
  }

  /// The same for key paths of the objects' class.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>], _ block: @escaping (RealmMapChange<Map<Key, Value>>) -> Void
  ) -> NotificationToken where Value == T? {
    _observe(_Look(keyPaths), block)
  }

  /// Calls `block` as without a depth, which is three: a key counts as modified if a property was
  /// set in its object, or in one that is at most so many links away. Traps for a negative depth,
  /// and where the call without a depth does.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(
    depth: Int, _ block: @escaping (RealmMapChange<Map<Key, Value>>) -> Void
  ) -> NotificationToken {
    _observe(_Look(depth: depth), block)
  }

  /// Calls `block` as `observeChanges` without key paths does, for what `observe(keyPaths:)` tells.
  /// Traps where that does.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
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

  /// Calls `block` as `observeChanges` without a depth does, for what `observe(depth:)` tells.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observeChanges(
    depth: Int, _ block: @escaping (ObservedChange<Map, MapDelta<Key, Value>>) -> Void
  ) -> NotificationToken {
    _changeOrigin.looking(_Look(depth: depth)).observe(block)
  }

  /// What `observeChanges(keyPaths:)` would tell, for `for await`. Traps at once where that does;
  /// see ``ChangeSequence`` for who may go over it.
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

  /// What `observeChanges(depth:)` would tell, for `for await`. Traps at once where that does; see
  /// ``ChangeSequence`` for who may go over it.
  public func changes(depth: Int) -> ChangeSequence<ObservedChange<Map, MapDelta<Key, Value>>> {
    _changeOrigin.looking(_Look(depth: depth)).changes
  }
}
