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

  /// What `observe` would tell, for `for await`: several commits that the loop has not asked for
  /// yet are one change, and `.deleted` is the last. Traps for an unmanaged object; see
  /// ``ChangeSequence`` for who may go over it.
  public var changes: ChangeSequence<ObjectChange<Self>> {
    guard let core = _core else { trapUnmanaged() }
    return ChangeSequence { core.changes(of: self).map { $0.typed() } }
  }
}

extension ObjectChange where T == ObjectBase {
  /// The same with the object's own type. Traps if it is of another one.
  fileprivate func typed<Typed: ObjectBase>() -> ObjectChange<Typed> {
    switch self {
    case .error(let error): return .error(error)
    case .deleted: return .deleted
    case .change(let object, let properties):
      guard let object = object as? Typed else {
        trap("The object is a \(Swift.type(of: object)), not a \(Typed.self).")
      }
      return .change(object, properties)
    }
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
    guard let core = _core else { trapUnmanaged() }
    return core.observe(self) { block($0.typed()) }
  }

  fileprivate func trapUnmanaged() -> Never {
    trap("Only objects which are managed by a Realm support change notifications; add it first.")
  }
}
