public import Dispatch
import TarnStore

extension _PropertyObservable {
  /// Calls `block` on an actor, as observing there would; see the same method of
  /// ``RealmCollection``.
  ///
  /// There is no first call. What was committed between the version that the object shows and the
  /// one that the observing Realm shows is told, too. If the object is gone there, the token is one
  /// of no observation.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    await observe(along: .texts(keyPaths), on: actor, block)
  }

  /// The same for key paths of the class.
  @_disfavoredOverload
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Self>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    await observe(along: .properties(_names(of: keyPaths)), on: actor, block)
  }

  /// Calls `block` on a queue, from a later block of it on; see the same method of
  /// ``RealmCollection``.
  ///
  /// There is no first call. What was committed between the version that the object shows and the
  /// one that the observing Realm shows is told, too. If the object is gone there, the token is one
  /// of no observation.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue?,
    _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observe(along: .texts(keyPaths), on: queue, block)
  }

  /// The same for key paths of the class.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue?,
    _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observe(along: .properties(_names(of: keyPaths)), on: queue, block)
  }

  private func observe<A: Actor>(
    along keyPaths: _ObjectPaths, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    await Elsewhere(self).observe(on: actor, block) {
      $0._objectOrigin(along: keyPaths).observe($1)
    }
  }

  private func observe(
    along keyPaths: _ObjectPaths, on queue: DispatchQueue?,
    _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    register(on: queue, block) { $0._objectOrigin(along: keyPaths).observe($1) }
  }
}
