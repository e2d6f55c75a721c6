public import Dispatch

// Maps, sections and projected lists, observed on another actor or queue.

extension Map {
  /// Calls `block` on an actor, as observing there would; see the same method of
  /// ``RealmCollection``.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmMapChange<Map<Key, Value>>) -> Void
  ) async -> NotificationToken {
    await Elsewhere(self).observe(on: actor, block) {
      $0.observe(keyPaths: keyPaths, $1)
    }
  }

  /// Calls `block` on a queue, from a later block of it on; see the same method of
  /// ``RealmCollection``.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue?,
    _ block: @escaping @Sendable (RealmMapChange<Map<Key, Value>>) -> Void
  ) -> NotificationToken {
    guard let queue else { return observe(keyPaths: keyPaths, block) }
    return Elsewhere(self).observe(on: queue, block) {
      $0.observe(keyPaths: keyPaths, $1)
    }
  }
}

extension RealmSectionedResult {
  /// Calls `block` on an actor, as observing there would; see the same method of
  /// ``RealmCollection``.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, SectionedResultsChange<Self>) -> Void
  ) async -> NotificationToken {
    await Elsewhere(self).observe(on: actor, block) {
      $0.observe(keyPaths: keyPaths, $1)
    }
  }

  /// Calls `block` on a queue, from a later block of it on; see the same method of
  /// ``RealmCollection``.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue?,
    _ block: @escaping @Sendable (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    guard let queue else { return observe(keyPaths: keyPaths, block) }
    return Elsewhere(self).observe(on: queue, block) {
      $0.observe(keyPaths: keyPaths, $1)
    }
  }
}

extension ProjectedCollection {
  /// Calls `block` on an actor, as observing there would; see the same method of
  /// ``RealmCollection``.
  public func observe<A: Actor>(
    on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmCollectionChange<ProjectedCollection>) -> Void
  ) async -> NotificationToken {
    await Elsewhere(self).observe(on: actor, block) {
      $0.observe($1)
    }
  }

  /// Calls `block` on a queue, from a later block of it on; see the same method of
  /// ``RealmCollection``.
  public func observe(
    on queue: DispatchQueue?,
    _ block: @escaping @Sendable (RealmCollectionChange<ProjectedCollection>) -> Void
  ) -> NotificationToken {
    guard let queue else { return observe(block) }
    return Elsewhere(self).observe(on: queue, block) {
      $0.observe($1)
    }
  }
}
