import TarnStore

/// The common interface of objects and projections for observers of their properties. The library
/// provides the conformances.
public protocol _PropertyObservable: AnyObject, ThreadConfined, KeypathSortable {
  /// The source of the changes that `observe` reports. Traps if the object is unmanaged, and for a
  /// key path with a property that it, or a class on the path, does not have.
  func _objectOrigin(along keyPaths: _ObjectPaths) -> _ObjectOrigin
}

/// Key paths along which an object is observed.
public enum _ObjectPaths: Sendable {
  /// As the program writes them; nil or an empty array for all properties.
  case texts([String]?)
  /// The names of typed key paths in the object's class; an empty array for all properties.
  case properties([String])
}

/// The source of an object's changes, for observers and for `for await` loops.
public struct _ObjectOrigin {
  let core: RealmCore
  let object: ObjectBase
  let scope: ObjectScope
  /// Makes the projection that the program observes; nil if it observes the object itself.
  var view: ((ObjectBase) -> AnyObject)?

  func observe<Observed: AnyObject>(
    _ block: @escaping (ObjectChange<Observed>) -> Void
  ) -> NotificationToken {
    // Objects may have very many observers, so each of theirs stores only the block. The compiler
    // would wrap it once more for a type that is not known to be a class.
    guard let view else { return core.observe(object, scope) { block($0.typed()) } }
    return core.observe(object, scope) { block($0.map(view).typed()) }
  }

  func changes<Observed: AnyObject>() -> ChangeSequence<ObjectChange<Observed>> {
    ChangeSequence { [self] in
      core.changes(of: object, scope).map { [view] change in
        guard let view else { return change.typed() }
        return change.map(view).typed()
      }
    }
  }
}

extension _PropertyObservable {
  /// Calls `block` whenever a property of this object was assigned, even the same value, or the
  /// object was deleted. Commits in quick succession are reported in one call, with the values of
  /// the last call as the old ones. There is no initial call, and changes of linked objects are not
  /// reported. `.deleted` or `.error` is the last call.
  ///
  /// For a projection only the projected properties count, whether they were assigned through this
  /// projection, another one or the object, or a link on their path was assigned. Each change has
  /// the label of a property of the projection, with its values at the last call and now, which are
  /// nil for collections. Properties that project the same one are reported in one call.
  ///
  /// `block` is called on the Realm's thread, queue or actor, never within this call. Traps on an
  /// unmanaged, frozen or invalidated object, on a thread that has no later turns, and in a write
  /// that has changed something.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(_ block: @escaping (ObjectChange<Self>) -> Void) -> NotificationToken {
    _objectOrigin(along: .texts(nil)).observe(block)
  }

  /// Like `observe(_:)`, but only for changes on one of the key paths, in this object or behind its
  /// links: `"dog.name"` reports another dog and a new name of the dog, `"dogs"` reports inserted,
  /// deleted and moved dogs, `"dogs.name"` also their names. The reported property is the first of
  /// the key path. The object's deletion is always reported. See <doc:Observing>.
  ///
  /// For a projection, a key path begins with the label of a projected property or with the
  /// property that it projects, and may continue: with `@Projected(\Person.friends) var mates`,
  /// `"mates"`, `"friends"` and `"mates.firstName"`.
  ///
  /// Nil and an empty array filter nothing. Traps for a property that a class does not have, for
  /// one that is not projected, and in the same cases as `observe(_:)`.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(
    keyPaths: [String]?, _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    _objectOrigin(along: .texts(keyPaths)).observe(block)
  }

  /// The same for key paths of the class, such as `\Person.dog?.name`. One through a collection
  /// continues from an element at any index: `\Person.dogs[0].name` means the names of all dogs.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<Self>], _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    _objectOrigin(along: .properties(_names(of: keyPaths))).observe(block)
  }

  /// The changes that `observe` reports, for `for await`: commits that the loop has not fetched yet
  /// are one change, and `.deleted` is the last. Traps for an unmanaged object; ``ChangeSequence``
  /// says which code may iterate over it.
  public var changes: ChangeSequence<ObjectChange<Self>> {
    _objectOrigin(along: .texts(nil)).changes()
  }

  /// The changes that `observe(keyPaths:)` reports. Traps at once in the same cases.
  public func changes(keyPaths: [String]?) -> ChangeSequence<ObjectChange<Self>> {
    _objectOrigin(along: .texts(keyPaths)).changes()
  }

  /// The same for key paths of the class.
  @_disfavoredOverload
  public func changes(keyPaths: [PartialKeyPath<Self>]) -> ChangeSequence<ObjectChange<Self>> {
    _objectOrigin(along: .properties(_names(of: keyPaths))).changes()
  }
}

extension ObjectChange: _FailingChange {
  public static func _ended(by error: any Error) -> Self? { .error(error) }
}

extension ObjectChange {
  /// The same change for a type that represents the object.
  func map<Other>(_ transform: (T) -> Other) -> ObjectChange<Other> {
    switch self {
    case .error(let error): .error(error)
    case .deleted: .deleted
    case .change(let object, let properties): .change(transform(object), properties)
    }
  }

  /// The same change with the object as `Typed`. Traps if the object has another type.
  fileprivate func typed<Typed: AnyObject>() -> ObjectChange<Typed> {
    map { object in
      guard let typed = object as? Typed else {
        trap("The object is a \(Swift.type(of: object)), not a \(Typed.self).")
      }
      return typed
    }
  }
}

/// Objects that can be observed with their own type in the callback. `Object` and `EmbeddedObject`
/// conform; no other conformances are needed.
public protocol ObjectObservable: ObjectBase, _PropertyObservable {}

extension Object: ObjectObservable {}
extension EmbeddedObject: ObjectObservable {}

extension ObjectObservable {
  public func _objectOrigin(along keyPaths: _ObjectPaths) -> _ObjectOrigin {
    switch keyPaths {
    case .texts(let texts): origin(along: texts)
    case .properties(let names): origin(along: names)
    }
  }
}

extension ObjectBase {
  /// The same for code that knows the object by a base class and names the type in its closure.
  /// Traps if the object has another type.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    origin(along: nil).observe(block)
  }

  /// The same along key paths.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    keyPaths: [String]?, _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    origin(along: keyPaths).observe(block)
  }

  fileprivate func origin(along keyPaths: [String]?) -> _ObjectOrigin {
    let core = coreToObserve
    let scope = ObjectScope(paths: core.observedPaths(from: self, keyPaths))
    return _ObjectOrigin(core: core, object: self, scope: scope)
  }

  /// Traps for an unmanaged object.
  var coreToObserve: RealmCore {
    guard let core = _core else {
      trap("Only objects which are managed by a Realm support change notifications; add it first.")
    }
    return core
  }
}
