public import Dispatch

// Observing where another actor or queue is the observer. The rules are told at the first of each
// kind.

extension RealmCollection {
  /// Calls `block` on an actor, as `observe(keyPaths:)` would there: first with `.initial` and then
  /// with each difference. What it is given belongs to the actor. Needed only where that is another
  /// one than the collection's own.
  ///
  /// When this returns, the first call has been made, unless the actor has a write open, and the
  /// observation is in force: every commit from then on is told, those of the collection's own
  /// Realm too, for which the observing one is another instance. If that is opened by this call, it
  /// begins at the version that the collection shows.
  ///
  /// The observation keeps neither the actor nor the collection. If the collection's owner is gone,
  /// or the task is cancelled, the token is one of no observation, and `block` is never called.
  ///
  /// Traps for what cannot be observed where it is: an unmanaged, frozen or invalidated collection,
  /// and in a write that has changed something.
  ///
  /// - Parameters:
  ///   - keyPaths: what of the elements counts; see `observe(keyPaths:)`.
  ///   - actor: where to observe.
  ///   - _isolation: the calling code's actor; not to be given.
  ///   - block: gets the actor, isolated to it, and the change.
  /// - Returns: a token; keep it for as long as you want to observe. Any thread may invalidate it.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
  ) async -> NotificationToken {
    let look = _Look(keyPaths: keyPaths, of: Element.self)
    return await Elsewhere(self).observe(on: actor, block) {
      $0._observe(look, $1)
    }
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Element>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
  ) async -> NotificationToken where Element: KeypathSortable {
    await observe(keyPaths: _names(of: keyPaths), on: actor, _isolation: _isolation, block)
  }

  /// Calls `block` on a queue, as `observe(keyPaths:)` would there: first with `.initial` and then
  /// with each difference. What it is given belongs to the queue.
  ///
  /// It returns at once, and the observation begins in a later block of the queue. If the queue has
  /// no Realm of the file yet, the one that is opened for it begins at the version that the
  /// collection shows, so that `.initial` shows that and every later change is told. If it has one
  /// that shows a newer version, `.initial` shows that one.
  ///
  /// If the collection's owner is gone by then, or the token was invalidated, `block` is never
  /// called. Traps as the other form does, and for a queue that is not serial.
  ///
  /// - Parameters:
  ///   - keyPaths: what of the elements counts; see `observe(keyPaths:)`.
  ///   - queue: a serial queue or the main queue; nil to observe here.
  ///   - block: gets the change.
  /// - Returns: a token; keep it for as long as you want to observe. Any thread may invalidate it.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue?,
    _ block: @escaping @Sendable (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    let look = _Look(keyPaths: keyPaths, of: Element.self)
    guard let queue else { return _observe(look, block) }
    return Elsewhere(self).observe(on: queue, block) {
      $0._observe(look, $1)
    }
  }

  /// The same for key paths of the elements' class.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue?,
    _ block: @escaping @Sendable (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken where Element: KeypathSortable {
    observe(keyPaths: _names(of: keyPaths), on: queue, block)
  }
}
