import TarnStore

/// Objects that can be observed with their own type in the callback. `Object` and `EmbeddedObject`
/// conform; no other conformances are needed.
public protocol ObjectObservable: ObjectBase, _PropertyObservable {}

extension Object: ObjectObservable {}
extension EmbeddedObject: ObjectObservable {}

extension ObjectObservable {
  /// Calls `block` whenever a property of this object has been assigned, to any value, or the
  /// object was deleted. Commits in quick succession are reported in one call, with the values of
  /// the last call as the old ones. There is no initial call, and changes of linked objects are not
  /// reported.
  ///
  /// Traps on an unmanaged or invalidated object, on a thread that has no later turns, and in a
  /// write that has changed something.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(_ block: @escaping (ObjectChange<Self>) -> Void) -> NotificationToken {
    observeAs(Self.self, nil, block)
  }

  /// Like `observe(_:)`, but only for changes on one of the key paths, in this object or through
  /// its links: `"dog.name"` reports another dog and the dog's new name, `"dogs"` dogs that were
  /// added, removed or moved, `"dogs.name"` their names too. A change has the first property of the
  /// key path. The object's deletion is always reported. See <doc:Observing>.
  ///
  /// Nil and an empty array filter nothing. Traps for a property that a class does not have, and in
  /// the same cases as `observe(_:)`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    keyPaths: [String]?, _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observeAs(Self.self, keyPaths, block)
  }

  /// The same for key paths of the class, such as `\Person.dog?.name`. A key path through a
  /// collection continues from an element at any index: `\Person.dogs[0].name` means the names of
  /// all elements.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<Self>], _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observeAs(Self.self, _names(of: keyPaths), block)
  }

  /// The changes that `observe` delivers, as an asynchronous sequence: commits since the loop last
  /// asked are one change, and `.deleted` is the last. Traps for an unmanaged object; see
  /// ``ChangeSequence`` for where the loop may run.
  public var changes: ChangeSequence<ObjectChange<Self>> {
    changes(along: nil)
  }

  /// The same for the changes that `observe(keyPaths:)` delivers. Traps at once in the same cases.
  public func changes(keyPaths: [String]?) -> ChangeSequence<ObjectChange<Self>> {
    changes(along: keyPaths)
  }

  /// The same for key paths of the class.
  @_disfavoredOverload
  public func changes(
    keyPaths: [PartialKeyPath<Self>]
  ) -> ChangeSequence<ObjectChange<Self>> {
    changes(along: _names(of: keyPaths))
  }

  private func changes(along keyPaths: [String]?) -> ChangeSequence<ObjectChange<Self>> {
    guard let core = _core else { trapUnmanaged() }
    let paths = core.observedPaths(from: self, keyPaths)
    return ChangeSequence { core.changes(of: self, ObjectLook(paths: paths)).map { $0.typed() } }
  }
}

extension ObjectObservable {
  public func _observe(
    keyPaths: [String]?, _ block: @escaping (ObjectChange<any _PropertyObservable>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths) { (change: ObjectChange<Self>) in block(change.map { $0 }) }
  }
}

extension ObjectChange where T == ObjectBase {
  /// The same with the object's own type. Traps if it is of another one.
  fileprivate func typed<Typed: ObjectBase>() -> ObjectChange<Typed> {
    map { object in
      guard let typed = object as? Typed else {
        trap("The object is a \(Swift.type(of: object)), not a \(Typed.self).")
      }
      return typed
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
    observeAs(T.self, nil, block)
  }

  /// The same along key paths.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    keyPaths: [String]?, _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    observeAs(T.self, keyPaths, block)
  }

  fileprivate func observeAs<T: ObjectBase>(
    _ type: T.Type, _ keyPaths: [String]?, _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    guard let core = _core else { trapUnmanaged() }
    let look = ObjectLook(paths: core.observedPaths(from: self, keyPaths))
    return core.observe(self, look) { block($0.typed()) }
  }

  fileprivate func trapUnmanaged() -> Never {
    trap("Only objects which are managed by a Realm support change notifications; add it first.")
  }
}
