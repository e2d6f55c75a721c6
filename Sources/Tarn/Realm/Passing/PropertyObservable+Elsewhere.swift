public import Dispatch
import TarnStore

extension _PropertyObservable {
  /// Observes this object on an actor; see the same method of ``RealmCollection``.
  ///
  /// There is no initial call. Commits between the versions of the object and of the observing
  /// Realm are reported, too. If the object does not exist there, the token is inactive.
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

  /// Observes this object on a queue, beginning in a later block of it; see the same method of
  /// ``RealmCollection``.
  ///
  /// There is no initial call. Commits between the versions of the object and of the observing
  /// Realm are reported, too. If the object does not exist there, the token is inactive.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue?,
    _ block: sending @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observe(along: .texts(keyPaths), on: queue, block)
  }

  /// The same for key paths of the class.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue?,
    _ block: sending @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observe(along: .properties(_names(of: keyPaths)), on: queue, block)
  }

  private func observe<A: Actor>(
    along keyPaths: _ObjectPaths, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    await RemoteObserver(self).observe(on: actor, block) {
      $0._objectOrigin(along: keyPaths).observe($1)
    }
  }

  private func observe(
    along keyPaths: _ObjectPaths, on queue: DispatchQueue?,
    _ block: sending @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    register(on: queue, block) { $0._objectOrigin(along: keyPaths).observe($1) }
  }
}
