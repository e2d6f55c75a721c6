import TarnStore

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
    let look = ObjectLook(paths: core.observedPaths(from: self, keyPaths))
    return _ObjectOrigin(core: core, object: self, look: look)
  }

  /// Traps for an unmanaged object.
  var coreToObserve: RealmCore {
    guard let core = _core else {
      trap("Only objects which are managed by a Realm support change notifications; add it first.")
    }
    return core
  }
}
