public import Dispatch

// Observers on another actor or queue. The first member of each kind states the rules. Only these
// blocks must be sent there, so the local forms stay separate: their blocks may capture confined
// objects. The form on an actor is `async`, and its block receives the actor. A block on a queue is
// `sending`: it may capture variables that nothing else uses afterwards.

extension _ObservableCollection {
  /// Calls `block` on an actor, as `observe` would there: first with `.initial` and then with each
  /// difference. Its arguments belong to the actor. Needed only for an actor that is not the
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
  /// Traps for an unmanaged, frozen or invalidated collection, and in a write that has changed
  /// something.
  ///
  /// - Parameters:
  ///   - actor: the observing actor.
  ///   - _isolation: the calling code's actor; do not pass it.
  ///   - block: receives the actor, isolated to it, and the change.
  /// - Returns: a token; retain it for as long as you want to observe. Any thread may invalidate
  ///   it.
  public func observe<A: Actor>(
    on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, _Change) -> Void
  ) async -> NotificationToken {
    await RemoteObserver(self).observe(on: actor, block) { $0.observe($1) }
  }

  /// Calls `block` on a queue, as `observe` would there: first with `.initial` and then with each
  /// difference. Its arguments belong to the queue.
  ///
  /// It returns at once, and the observation begins in a later block of the queue. If the queue has
  /// no Realm of the file yet, one is opened at the version of the collection, so that `.initial`
  /// has that version and no later change is missed. If it has one at a newer version, `.initial`
  /// has that version. Either is computed in that block.
  ///
  /// If the collection's owner has been deleted by then, or the token was invalidated, `block` is
  /// never called. Traps as the other form does, and for a queue that is not serial.
  ///
  /// - Parameters:
  ///   - queue: a serial queue or the main queue; nil to observe here.
  ///   - block: receives the change.
  /// - Returns: a token; retain it for as long as you want to observe. Any thread may invalidate
  ///   it.
  public func observe(
    on queue: DispatchQueue?, _ block: sending @escaping (_Change) -> Void
  ) -> NotificationToken {
    register(on: queue, block) { $0.observe($1) }
  }
}

extension _DeltaCollection {
  /// Calls `block` on an actor, as `observeChanges` would there; otherwise as `observe(on:)` does.
  /// The deltas belong to the actor.
  ///
  /// - Returns: a token; keep it for as long as you want to observe. Any thread may invalidate it.
  public func observeChanges<A: Actor>(
    on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObservedChange<Self, _Delta>) -> Void
  ) async -> NotificationToken {
    await RemoteObserver(self).observe(on: actor, block) { $0.observeChanges($1) }
  }

  /// Calls `block` on a queue, as `observeChanges` would there; otherwise as `observe(on:)` does.
  /// The deltas belong to the queue.
  ///
  /// - Returns: a token; keep it for as long as you want to observe. Any thread may invalidate it.
  public func observeChanges(
    on queue: DispatchQueue?, _ block: sending @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    register(on: queue, block) { $0.observeChanges($1) }
  }
}

// MARK: - Scopes

extension _ScopedCollection {
  /// Calls `block` on an actor, as `observe(keyPaths:)` would there; otherwise as `observe(on:)`
  /// does. Traps on the actor for key paths of properties that a class does not have.
  ///
  /// - Returns: a token; keep it for as long as you want to observe. Any thread may invalidate it.
  public func observe<A: Actor>(
    keyPaths: [String]?, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, _Change) -> Void
  ) async -> NotificationToken {
    await observe(_ObservationScope(keyPaths: keyPaths, of: _ScopeRoot.self), on: actor, block)
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<_ScopeRoot>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, _Change) -> Void
  ) async -> NotificationToken where _ScopeRoot: KeypathSortable {
    await observe(_ObservationScope(keyPaths), on: actor, block)
  }

  /// The same for the changes within a depth, as in `observe(depth:)`. Traps for a negative depth.
  public func observe<A: Actor>(
    depth: Int, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, _Change) -> Void
  ) async -> NotificationToken {
    await observe(_ObservationScope(depth: depth), on: actor, block)
  }

  /// Calls `block` on a queue, as `observe(keyPaths:)` would there; otherwise as `observe(on:)`
  /// does. Traps on the queue for key paths of properties that a class does not have.
  ///
  /// - Returns: a token; keep it for as long as you want to observe. Any thread may invalidate it.
  public func observe(
    keyPaths: [String]?, on queue: DispatchQueue?, _ block: sending @escaping (_Change) -> Void
  ) -> NotificationToken {
    observe(_ObservationScope(keyPaths: keyPaths, of: _ScopeRoot.self), on: queue, block)
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<_ScopeRoot>], on queue: DispatchQueue?,
    _ block: sending @escaping (_Change) -> Void
  ) -> NotificationToken where _ScopeRoot: KeypathSortable {
    observe(_ObservationScope(keyPaths), on: queue, block)
  }

  /// The same for the changes within a depth, as in `observe(depth:)`. Traps for a negative depth.
  public func observe(
    depth: Int, on queue: DispatchQueue?, _ block: sending @escaping (_Change) -> Void
  ) -> NotificationToken {
    observe(_ObservationScope(depth: depth), on: queue, block)
  }

  /// Calls `block` on an actor, like `observeChanges(keyPaths:)` there; otherwise like
  /// `observe(keyPaths:on:)`. The deltas belong to the actor.
  ///
  /// - Returns: a token; retain it for as long as you want to observe. Any thread may invalidate
  ///   it.
  public func observeChanges<A: Actor>(
    keyPaths: [String]?, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObservedChange<Self, _Delta>) -> Void
  ) async -> NotificationToken {
    await observeChanges(
      _ObservationScope(keyPaths: keyPaths, of: _ScopeRoot.self), on: actor, block)
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observeChanges<A: Actor>(
    keyPaths: [PartialKeyPath<_ScopeRoot>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObservedChange<Self, _Delta>) -> Void
  ) async -> NotificationToken where _ScopeRoot: KeypathSortable {
    await observeChanges(_ObservationScope(keyPaths), on: actor, block)
  }

  /// The same for the changes within a depth, as in `observe(depth:)`. Traps for a negative depth.
  public func observeChanges<A: Actor>(
    depth: Int, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObservedChange<Self, _Delta>) -> Void
  ) async -> NotificationToken {
    await observeChanges(_ObservationScope(depth: depth), on: actor, block)
  }

  /// Calls `block` on a queue, like `observeChanges(keyPaths:)` there; otherwise like
  /// `observe(keyPaths:on:)`. The deltas belong to the queue.
  ///
  /// - Returns: a token; retain it for as long as you want to observe. Any thread may invalidate
  ///   it.
  public func observeChanges(
    keyPaths: [String]?, on queue: DispatchQueue?,
    _ block: sending @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    observeChanges(_ObservationScope(keyPaths: keyPaths, of: _ScopeRoot.self), on: queue, block)
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observeChanges(
    keyPaths: [PartialKeyPath<_ScopeRoot>], on queue: DispatchQueue?,
    _ block: sending @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken where _ScopeRoot: KeypathSortable {
    observeChanges(_ObservationScope(keyPaths), on: queue, block)
  }

  /// The same for the changes within a depth, as in `observe(depth:)`. Traps for a negative depth.
  public func observeChanges(
    depth: Int, on queue: DispatchQueue?,
    _ block: sending @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    observeChanges(_ObservationScope(depth: depth), on: queue, block)
  }
}

extension _ScopedCollection {
  private func observe<A: Actor>(
    _ scope: _ObservationScope, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, _Change) -> Void
  ) async -> NotificationToken {
    await RemoteObserver(self).observe(on: actor, block) {
      $0._plainOrigin.scoped(to: scope).observe($1)
    }
  }

  private func observe(
    _ scope: _ObservationScope, on queue: DispatchQueue?,
    _ block: sending @escaping (_Change) -> Void
  ) -> NotificationToken {
    register(on: queue, block) { $0._plainOrigin.scoped(to: scope).observe($1) }
  }

  private func observeChanges<A: Actor>(
    _ scope: _ObservationScope, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObservedChange<Self, _Delta>) -> Void
  ) async -> NotificationToken {
    await RemoteObserver(self).observe(on: actor, block) {
      $0._changeOrigin.scoped(to: scope).observe($1)
    }
  }

  private func observeChanges(
    _ scope: _ObservationScope, on queue: DispatchQueue?,
    _ block: sending @escaping (ObservedChange<Self, _Delta>) -> Void
  ) -> NotificationToken {
    register(on: queue, block) { $0._changeOrigin.scoped(to: scope).observe($1) }
  }
}

extension ThreadConfined {
  /// Observes on a queue, or here.
  ///
  /// - Parameter observe: observes this, or its counterpart there.
  func register<Change: _FailingChange>(
    on queue: DispatchQueue?, _ block: sending @escaping (Change) -> Void,
    _ observe: @escaping @Sendable (Self, @escaping (Change) -> Void) -> NotificationToken
  ) -> NotificationToken {
    guard let queue else { return observe(self, block) }
    nonisolated(unsafe) let block = block  // because: it was sent, and only the queue calls it
    return RemoteObserver(self).observe(on: queue, { unsafe block($0) }, observe)
  }
}
