public import Dispatch

// Observing on another actor or queue. The first function of each kind documents the rules.

extension _ObservableCollection {
  /// Calls `block` on an actor, like `observe(keyPaths:)` there: first with `.initial` and then
  /// with each change. Its arguments belong to the actor. Needed only if that is not the
  /// collection's own.
  ///
  /// When this returns, the first call has been made, unless the actor has a write open, and the
  /// observation is active: every later commit is reported, also those of the collection's own
  /// Realm, to which the observing one is another instance. If this call opens that instance, it
  /// begins at the version of the collection. An expensive first call is prepared by a worker while
  /// other code of the actor can run, and includes commits made meanwhile.
  ///
  /// The observation retains neither the actor nor the collection. If the collection's owner is
  /// gone, or the task is cancelled, the token is inactive, and `block` is never called.
  ///
  /// Traps for a collection that cannot be observed where it is: an unmanaged, frozen or
  /// invalidated one, and in a write that has changed something. Traps on the actor for key paths
  /// of properties that a class does not have.
  ///
  /// - Parameters:
  ///   - keyPaths: the properties that count; see `observe(keyPaths:)`.
  ///   - actor: where to observe.
  ///   - _isolation: the calling code's actor; do not pass it.
  ///   - block: receives the actor, isolated to it, and the change.
  /// - Returns: a token; retain it for as long as you want to observe. Any thread may invalidate
  ///   it.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, _Change) -> Void
  ) async -> NotificationToken {
    let look = _Look(keyPaths: keyPaths, of: _Looked.self)
    return await Elsewhere(self).observe(on: actor, block) { $0._observe(look, $1) }
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<_Looked>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, _Change) -> Void
  ) async -> NotificationToken where _Looked: KeypathSortable {
    let look = _Look(keyPaths)
    return await Elsewhere(self).observe(on: actor, block) { $0._observe(look, $1) }
  }

  /// Calls `block` on a queue, like `observe(keyPaths:)` there: first with `.initial` and then with
  /// each change. Its arguments belong to the queue.
  ///
  /// It returns at once, and the observation begins in a later block of the queue. If the queue has
  /// no Realm of the file yet, one is opened at the version of the collection, so that `.initial`
  /// has that version and no later change is missed. If it has one at a newer version, `.initial`
  /// has that version. Either is computed in that block.
  ///
  /// If the collection's owner is gone by then, or the token was invalidated, `block` is never
  /// called. Traps in the same cases as the other form, on the queue for the key paths, and for a
  /// queue that is not serial.
  ///
  /// - Parameters:
  ///   - keyPaths: the properties that count; see `observe(keyPaths:)`.
  ///   - queue: a serial queue or the main queue; nil to observe here.
  ///   - block: receives the change.
  /// - Returns: a token; retain it for as long as you want to observe. Any thread may invalidate
  ///   it.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue?,
    _ block: @escaping @Sendable (_Change) -> Void
  ) -> NotificationToken {
    let look = _Look(keyPaths: keyPaths, of: _Looked.self)
    guard let queue else { return _observe(look, block) }
    return Elsewhere(self).observe(on: queue, block) { $0._observe(look, $1) }
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<_Looked>], on queue: DispatchQueue?,
    _ block: @escaping @Sendable (_Change) -> Void
  ) -> NotificationToken where _Looked: KeypathSortable {
    let look = _Look(keyPaths)
    guard let queue else { return _observe(look, block) }
    return Elsewhere(self).observe(on: queue, block) { $0._observe(look, $1) }
  }
}

extension _DeltaCollection {
  /// Calls `block` on an actor, like `observe(depth:)` there; see `observe(keyPaths:on:)`. Traps
  /// for a negative depth, and in the same cases.
  public func observe<A: Actor>(
    depth: Int, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, _Change) -> Void
  ) async -> NotificationToken {
    let look = _Look(depth: depth)
    return await Elsewhere(self).observe(on: actor, block) { $0._observe(look, $1) }
  }

  /// Calls `block` on a queue, like `observe(depth:)` there; see `observe(keyPaths:on:)`. Traps for
  /// a negative depth, and in the same cases.
  public func observe(
    depth: Int, on queue: DispatchQueue?, _ block: @escaping @Sendable (_Change) -> Void
  ) -> NotificationToken {
    let look = _Look(depth: depth)
    guard let queue else { return _observe(look, block) }
    return Elsewhere(self).observe(on: queue, block) { $0._observe(look, $1) }
  }
}

// MARK: - With full details of each change

extension _DeltaCollection {
  private func observeChanges(
    _ look: _Look, _ block: @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    _changeOrigin.looking(look).observe(block)
  }

  /// Calls `block` on an actor, like `observeChanges(keyPaths:)` there; otherwise like
  /// `observe(keyPaths:on:)`. The deltas belong to the actor.
  ///
  /// - Returns: a token; retain it for as long as you want to observe. Any thread may invalidate
  ///   it.
  public func observeChanges<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObservedChange<Self, _Delta>) -> Void
  ) async -> NotificationToken {
    let look = _Look(keyPaths: keyPaths, of: _Looked.self)
    return await Elsewhere(self).observe(on: actor, block) { $0.observeChanges(look, $1) }
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observeChanges<A: Actor>(
    keyPaths: [PartialKeyPath<_Looked>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObservedChange<Self, _Delta>) -> Void
  ) async -> NotificationToken where _Looked: KeypathSortable {
    let look = _Look(keyPaths)
    return await Elsewhere(self).observe(on: actor, block) { $0.observeChanges(look, $1) }
  }

  /// The same, with the changes that `observe(depth:)` reports.
  public func observeChanges<A: Actor>(
    depth: Int, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObservedChange<Self, _Delta>) -> Void
  ) async -> NotificationToken {
    let look = _Look(depth: depth)
    return await Elsewhere(self).observe(on: actor, block) { $0.observeChanges(look, $1) }
  }

  /// Calls `block` on a queue, like `observeChanges(keyPaths:)` there; otherwise like
  /// `observe(keyPaths:on:)`. The deltas belong to the queue.
  ///
  /// - Returns: a token; retain it for as long as you want to observe. Any thread may invalidate
  ///   it.
  public func observeChanges(
    keyPaths: [String]? = nil, on queue: DispatchQueue?,
    _ block: @escaping @Sendable (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    let look = _Look(keyPaths: keyPaths, of: _Looked.self)
    guard let queue else { return observeChanges(look, block) }
    return Elsewhere(self).observe(on: queue, block) { $0.observeChanges(look, $1) }
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observeChanges(
    keyPaths: [PartialKeyPath<_Looked>], on queue: DispatchQueue?,
    _ block: @escaping @Sendable (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken where _Looked: KeypathSortable {
    let look = _Look(keyPaths)
    guard let queue else { return observeChanges(look, block) }
    return Elsewhere(self).observe(on: queue, block) { $0.observeChanges(look, $1) }
  }

  /// The same, with the changes that `observe(depth:)` reports.
  public func observeChanges(
    depth: Int, on queue: DispatchQueue?,
    _ block: @escaping @Sendable (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    let look = _Look(depth: depth)
    guard let queue else { return observeChanges(look, block) }
    return Elsewhere(self).observe(on: queue, block) { $0.observeChanges(look, $1) }
  }
}

// MARK: - Maps along key paths of their objects' class

extension Map {
  /// The same as with strings, for key paths of the objects' class.
  @_disfavoredOverload
  public func observe<T: ObjectBase, A: Actor>(
    keyPaths: [PartialKeyPath<T>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmMapChange<Map>) -> Void
  ) async -> NotificationToken where Value == T? {
    await observe(keyPaths: _names(of: keyPaths), on: actor, _isolation: _isolation, block)
  }

  /// The same as with strings, for key paths of the objects' class.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue?,
    _ block: @escaping @Sendable (RealmMapChange<Map>) -> Void
  ) -> NotificationToken where Value == T? {
    observe(keyPaths: _names(of: keyPaths), on: queue, block)
  }

  /// The same as with strings, for key paths of the objects' class.
  @_disfavoredOverload
  public func observeChanges<T: ObjectBase, A: Actor>(
    keyPaths: [PartialKeyPath<T>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObservedChange<Map, MapDelta<Key, Value>>) -> Void
  ) async -> NotificationToken where Value == T? {
    await observeChanges(keyPaths: _names(of: keyPaths), on: actor, _isolation: _isolation, block)
  }

  /// The same as with strings, for key paths of the objects' class.
  @_disfavoredOverload
  public func observeChanges<T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue?,
    _ block: @escaping @Sendable (ObservedChange<Map, MapDelta<Key, Value>>) -> Void
  ) -> NotificationToken where Value == T? {
    observeChanges(keyPaths: _names(of: keyPaths), on: queue, block)
  }
}

// MARK: - One property of a collection's objects

extension ProjectedCollection {
  /// Calls `block` on an actor, as `observe` would there; see the same method of `RealmCollection`.
  public func observe<A: Actor>(
    on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmCollectionChange<ProjectedCollection>) -> Void
  ) async -> NotificationToken {
    await Elsewhere(self).observe(on: actor, block) { $0.observe($1) }
  }

  /// Calls `block` on a queue, as `observe` would there; see the same method of `RealmCollection`.
  public func observe(
    on queue: DispatchQueue?,
    _ block: @escaping @Sendable (RealmCollectionChange<ProjectedCollection>) -> Void
  ) -> NotificationToken {
    guard let queue else { return observe(block) }
    return Elsewhere(self).observe(on: queue, block) { $0.observe($1) }
  }

  /// Calls `block` on an actor, as `observeChanges` would there; see the same method of
  /// `RealmCollection`.
  public func observeChanges<A: Actor>(
    on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block:
      @escaping @Sendable (
        isolated A, ObservedChange<ProjectedCollection, CollectionDelta<Element>>
      ) -> Void
  ) async -> NotificationToken {
    await Elsewhere(self).observe(on: actor, block) { $0.observeChanges($1) }
  }

  /// Calls `block` on a queue, as `observeChanges` would there; see the same method of
  /// `RealmCollection`.
  public func observeChanges(
    on queue: DispatchQueue?,
    _ block:
      @escaping @Sendable (
        ObservedChange<ProjectedCollection, CollectionDelta<Element>>
      ) -> Void
  ) -> NotificationToken {
    guard let queue else { return observeChanges(block) }
    return Elsewhere(self).observe(on: queue, block) { $0.observeChanges($1) }
  }
}
