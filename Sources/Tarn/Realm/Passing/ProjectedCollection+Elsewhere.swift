public import Dispatch

extension ProjectedCollection {
  /// Calls `block` on an actor, as `observe(keyPaths:)` would there; otherwise as `observe(on:)`
  /// does. Traps on the actor for key paths of properties that the objects' class does not have.
  ///
  /// - Returns: a token; keep it for as long as you want to observe. Any thread may invalidate it.
  public func observe<A: Actor>(
    keyPaths: [String]?, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
  ) async -> NotificationToken {
    await RemoteObserver(self).observe(on: actor, block) {
      $0.plainOrigin(along: keyPaths).observe($1)
    }
  }

  /// Calls `block` on a queue, as `observe(keyPaths:)` would there; otherwise as `observe(on:)`
  /// does. Traps on the queue for key paths of properties that the objects' class does not have.
  ///
  /// - Returns: a token; keep it for as long as you want to observe. Any thread may invalidate it.
  public func observe(
    keyPaths: [String]?, on queue: DispatchQueue?,
    _ block: sending @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    register(on: queue, block) { $0.plainOrigin(along: keyPaths).observe($1) }
  }
}
