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

  /// Makes a managed object from values: a dictionary by property names, an array in the order of
  /// declaration, or another object. What is missing takes its default, names that the class does
  /// not have are ignored. Values may be what `JSONSerialization` gives; see the article on models.
  ///
  /// Objects among the values are copied with all that they lead to, unless they are in this Realm:
  /// unmanaged ones stay unmanaged, and those of another Realm or a frozen one stay there.
  ///
  /// A value that an enum or a failable type of the program refuses is stored as it is: an optional
  /// property then reads nil, another one traps when it is read.
  ///
  /// Traps as `add` does, and for a value that does not fit. To be thrown an error instead use
  /// ``create(_:checking:update:unknownKeys:)``.
  @discardableResult
  public func create<T: Object>(
    _ type: T.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
  ) -> T {
    core.create(type, value: value, update: update)
  }

  /// What becomes of names in a dictionary that the class does not have.
  public enum UnknownKeys: Sendable {
    /// They are skipped.
    case ignored
    /// They are an error.
    case refused
  }

  /// Makes a managed object from values that come from outside, as ``create(_:value:update:)``
  /// does, and checks them first.
  ///
  ///     try realm.write {
  ///       try realm.create(Dog.self, checking: JSONSerialization.jsonObject(with: data))
  ///     }
  ///
  /// Stricter in two things: a value that an enum or a failable type refuses is an error, and so is
  /// a property without a value that is neither optional nor declared with one. A property of an
  /// id's type needs none, nor does an object that is updated.
  ///
  /// Traps outside of a write, and for an update policy in a class without primary key.
  ///
  /// - Throws: ``InvalidValue`` for the first value that does not fit, at any depth. The write then
  ///   has changed nothing for it, and can go on.
  @discardableResult
  public func create<T: Object>(
    _ type: T.Type, checking value: Any, update: UpdatePolicy = .error,
    unknownKeys: UnknownKeys = .ignored
  ) throws(InvalidValue) -> T {
    try core.create(
      type, checking: value, update: update, allowsUnknownKeys: unknownKeys == .ignored)
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
      objects.core === core,
      "Can only delete a collection from the Realm it belongs to. Use "
        + "its realm property.")
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
