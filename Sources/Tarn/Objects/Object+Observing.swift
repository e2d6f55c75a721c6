import TarnStore

/// Objects that can be observed with their own type in the callback. `Object` and `EmbeddedObject`
/// conform; no other conformances are needed.
public protocol ObjectObservable: ObjectBase {}

extension Object: ObjectObservable {}
extension EmbeddedObject: ObjectObservable {}

extension ObjectObservable {
  /// Calls `block` whenever a property of this object has been assigned, to whatever value, or the
  /// object was deleted. Commits in quick succession are reported in one call, with the values of
  /// the last call as the old ones. There is no initial call, and changes of linked objects are not
  /// reported.
  ///
  /// Traps on an unmanaged or invalidated object, on a thread that has no later turns, on a
  /// read-only Realm that has a private copy, and in a write that has changed something.
  ///
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(_ block: @escaping (ObjectChange<Self>) -> Void) -> NotificationToken {
    observeAs(Self.self, block)
  }
}

extension ObjectBase {
  /// The same for code that knows the object by a base class and names the type in its closure.
  /// Traps if the object is of another type.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    observeAs(T.self, block)
  }

  fileprivate func observeAs<T: ObjectBase>(
    _ type: T.Type, _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    guard let core = _core else {
      trap(
        "Only objects which are managed by a Realm support change notifications; add it first.")
    }
    return core.observe(self) { change in
      switch change {
      case .error(let error): block(.error(error))
      case .deleted: block(.deleted)
      case .change(let object, let properties):
        guard let object = object as? T else {
          trap("The object is a \(Swift.type(of: object)), not a \(T.self).")
        }
        block(.change(object, properties))
      }
    }
  }
}
