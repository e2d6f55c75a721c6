import TarnStore

/// The common interface of objects and projections for observers of their properties. The library
/// provides the conformances.
public protocol _PropertyObservable: AnyObject, ThreadConfined, KeypathSortable {
  /// Where the changes come from that `observe` tells. Traps if it is unmanaged, and for a key path
  /// that begins with none of its properties or names one that a class does not have.
  func _objectOrigin(along keyPaths: _ObjectPaths) -> _ObjectOrigin
}

/// Key paths along which an object is observed.
public enum _ObjectPaths: Sendable {
  /// As the program writes them; nil and none for all properties.
  case texts([String]?)
  /// Those in the object's class that typed ones stand for; none for all properties.
  case properties([String])
}

/// Where the changes of an object come from. Observers and `for await` loops both begin here.
public struct _ObjectOrigin {
  let core: RealmCore
  let object: ObjectBase
  let look: ObjectLook
  /// What the program observes in place of an object; nil if that is the object itself.
  var view: ((ObjectBase) -> AnyObject)?

  func observe<Observed>(
    _ block: @escaping (ObjectChange<Observed>) -> Void
  ) -> NotificationToken {
    // Objects may have very many observers, so theirs keep nothing but the block.
    guard let view else { return core.observe(object, look) { block($0.typed()) } }
    return core.observe(object, look) { block($0.map(view).typed()) }
  }

  func changes<Observed>() -> ChangeSequence<ObjectChange<Observed>> {
    ChangeSequence { [self] in
      core.changes(of: object, look).map { [view] change in
        guard let view else { return change.typed() }
        return change.map(view).typed()
      }
    }
  }
}

extension _PropertyObservable {
  /// Calls `block` whenever a property of this object has been assigned, to whatever value, or the
  /// object was deleted. Commits in quick succession are reported in one call, with the values of
  /// the last call as the old ones. There is no initial call, and changes of linked objects are not
  /// reported. After `.deleted` or `.error` nothing comes.
  ///
  /// Of a projection the projected properties count alone, be they assigned through this
  /// projection, another one or the object, or be a link on their way assigned. Each change has the
  /// label of a property of the projection, with the values at the last call and now; those of
  /// collections are nil. Properties that project the same are told together.
  ///
  /// `block` is called on the Realm's thread, queue or actor, never within this call. Traps on an
  /// unmanaged, frozen or invalidated object, on a thread that has no later turns, and in a write
  /// that has changed something.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(_ block: @escaping (ObjectChange<Self>) -> Void) -> NotificationToken {
    _objectOrigin(along: .texts(nil)).observe(block)
  }

  /// Calls `block` as without key paths, but only for changes on one of them, in this object or
  /// behind its links: `"dog.name"` tells of another dog and of the dog's new name, `"dogs"` of
  /// dogs that came, went or moved, `"dogs.name"` of their names too. What is told is the first
  /// property of the key path. The object's deletion is told in any case. See <doc:Observing>.
  ///
  /// That of a projection begins with the label of a projected property or with what that projects,
  /// and may go on behind it: with `@Projected(\Person.friends) var mates`, `"mates"`, `"friends"`
  /// and `"mates.firstName"`.
  ///
  /// Nil and no key paths at all filter nothing. Traps for a property that a class does not have,
  /// for one that is not projected, and where the call without key paths does.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(
    keyPaths: [String]?, _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    _objectOrigin(along: .texts(keyPaths)).observe(block)
  }

  /// The same for key paths of the class, such as `\Person.dog?.name`. One through a collection
  /// goes on from an element at any index: `\Person.dogs[0].name` stands for the names of all.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<Self>], _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    _objectOrigin(along: .properties(_names(of: keyPaths))).observe(block)
  }

  /// What `observe` would tell, for `for await`: several commits that the loop has not asked for
  /// yet are one change, and `.deleted` is the last. Traps for an unmanaged object; see
  /// ``ChangeSequence`` for who may go over it.
  public var changes: ChangeSequence<ObjectChange<Self>> {
    _objectOrigin(along: .texts(nil)).changes()
  }

  /// The same along key paths: what `observe(keyPaths:)` would tell. Traps at once where that does.
  public func changes(keyPaths: [String]?) -> ChangeSequence<ObjectChange<Self>> {
    _objectOrigin(along: .texts(keyPaths)).changes()
  }

  /// The same for key paths of the class.
  @_disfavoredOverload
  public func changes(keyPaths: [PartialKeyPath<Self>]) -> ChangeSequence<ObjectChange<Self>> {
    _objectOrigin(along: .properties(_names(of: keyPaths))).changes()
  }
}

extension ObjectChange: _FailingChange {}

extension ObjectChange {
  /// The same change for a type that represents the object.
  func map<Other>(_ transform: (T) -> Other) -> ObjectChange<Other> {
    switch self {
    case .error(let error): .error(error)
    case .deleted: .deleted
    case .change(let object, let properties): .change(transform(object), properties)
    }
  }

  /// The same with the object's own type. Traps if it is of another one.
  fileprivate func typed<Typed>() -> ObjectChange<Typed> {
    map { object in
      guard let typed = object as? Typed else {
        trap("The object is a \(Swift.type(of: object)), not a \(Typed.self).")
      }
      return typed
    }
  }
}
