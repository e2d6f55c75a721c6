public import Dispatch
import TarnStore

extension _PropertyObservable {
  /// Observes this object on an actor; see the same method of ``RealmCollection``.
  ///
  /// There is no first call. Commits between the versions of the object and of the observing Realm
  /// are reported, too. If the object does not exist there, the token is inactive.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    await Elsewhere(self).observe(on: actor, block) { $0.observeAsSelf(keyPaths, $1) }
  }

  /// The same for key paths of the class.
  @_disfavoredOverload
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Self>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    await observe(keyPaths: _names(of: keyPaths), on: actor, _isolation: _isolation, block)
  }

  /// Observes this object on a queue, beginning in a later block of it; see the same method of
  /// ``RealmCollection``.
  ///
  /// There is no first call. Commits between the versions of the object and of the observing Realm
  /// are reported, too. If the object does not exist there, the token is inactive.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue?,
    _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    guard let queue else { return observeAsSelf(keyPaths, block) }
    return Elsewhere(self).observe(on: queue, block) { $0.observeAsSelf(keyPaths, $1) }
  }

  /// The same for key paths of the class.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue?,
    _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: _names(of: keyPaths), on: queue, block)
  }

  private func observeAsSelf(
    _ keyPaths: [String]?, _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    _observe(keyPaths: keyPaths) { change in
      block(
        change.map { observed in
          guard let observed = observed as? Self else {
            trap("internal error: the observed object is of another type")
          }
          return observed
        })
    }
  }
}
