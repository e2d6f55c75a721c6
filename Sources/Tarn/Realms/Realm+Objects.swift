import TarnStore

extension Realm {
  /// What adding does when the primary key exists already.
  public enum UpdatePolicy: Int, Sendable {
    /// Traps.
    case error = 1
    /// Writes the properties whose values differ; only those are told to observers.
    case modified = 3
    /// Writes every property, equal ones too.
    case all = 2
  }

  /// Makes an unmanaged object, and those that it links to, part of the Realm. The same Swift
  /// object is a live view of its row from then on. An object of this Realm stays as it is.
  ///
  /// Traps outside of a write, for an object of another Realm or a deleted one, with `.error` for
  /// a primary key that exists, and with any other policy for a class without primary key.
  public func add(_ object: Object, update: UpdatePolicy = .error) {
    core.add(object, update: update)
  }

  /// Adds several objects; see `add(_:update:)`.
  public func add<S: Sequence>(
    _ objects: S, update: UpdatePolicy = .error
  ) where S.Element: Object {
    for object in objects { core.add(object, update: update) }
  }

  /// Makes a managed object from values by property name; what is missing takes its default.
  ///
  /// Traps as `add` does, and for a name or a value that the class does not have.
  @discardableResult
  public func create<T: Object>(
    _ type: T.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
  ) -> T {
    core.create(type, value: value, update: update)
  }

  /// Removes an object. Links to it become nil; every accessor of it is invalidated.
  ///
  /// Traps outside of a write and for an object of another Realm.
  public func delete(_ object: ObjectBase) { core.delete(object) }

  /// Removes several objects; see `delete(_:)`.
  public func delete<S: Sequence>(_ objects: S) where S.Element: ObjectBase {
    core.delete(Array(objects))
  }

  /// Removes the objects in a list, which is empty then. One that is in it twice is removed once.
  ///
  /// Traps outside of a write and for a list of another Realm.
  public func delete<Element: ObjectBase>(_ objects: List<Element>) {
    core.delete(Array(objects))
  }

  /// Removes the objects in a map; its keys stay, with nil. One that is in it twice is removed
  /// once.
  ///
  /// Traps outside of a write and for a map of another Realm.
  public func delete<Key, Value: ObjectBase>(_ objects: Map<Key, Value?>) {
    core.delete(objects.values.compactMap { $0 })
  }

  /// Removes all objects of a collection, without making Swift objects of them.
  ///
  /// Traps outside of a write and for a collection of another Realm.
  public func delete<Element: ObjectBase>(_ objects: Results<Element>) {
    require(
      objects.core === core, "Can only delete a collection from the Realm it belongs to.")
    core.delete(objects)
  }

  /// Removes all objects of all classes. Traps outside of a write.
  public func deleteAll() { core.deleteAll() }

  /// All objects of a class, in the order in which they were created (of the primary key, where
  /// that is a non-optional integer). Traps if the class is not in the Realm's schema.
  public func objects<Element: Object>(_ type: Element.Type) -> Results<Element> {
    core.checkThread()
    return Results(core, QuerySpec(type))
  }

  /// The object with that primary key, or nil. Traps if the class has no primary key.
  public func object<Element: Object, Key>(
    ofType type: Element.Type, forPrimaryKey key: Key
  ) -> Element? {
    core.checkThread()
    return core.object(type, primaryKey: key)
  }
}

extension ObjectBase {
  /// The Realm that the object belongs to, nil while it is unmanaged.
  public var realm: Realm? { _core.map { Realm($0) } }
}
