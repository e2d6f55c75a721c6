import TarnStore

extension Realm {
  /// Adds an unmanaged object, and the objects that it links to, to the Realm. From then on the
  /// same Swift object is a live view of its row. An object that is already in this Realm is left
  /// as it is.
  ///
  /// Traps outside of a write; for a deleted object or one of another Realm; with `.error`, for an
  /// existing primary key; with any other policy, for a class without a primary key.
  public func add(_ object: Object, update: UpdatePolicy = .error) {
    core.add(object, update: update)
  }

  /// Adds several objects; see `add(_:update:)`.
  public func add<S: Sequence>(
    _ objects: S, update: UpdatePolicy = .error
  ) where S.Element: Object {
    for object in objects { core.add(object, update: update) }
  }

  /// Creates a managed object from values: a dictionary keyed by property names, an array in the
  /// order of declaration, or another object. Missing values take their defaults; names that the
  /// class does not have are ignored. Values may come from `JSONSerialization`; see the article on
  /// models.
  ///
  /// Objects among the values are copied with everything that they link to, unless they are already
  /// in this Realm: unmanaged ones stay unmanaged, and those of another Realm and frozen ones stay
  /// there.
  ///
  /// A value that an enum or a failable custom type refuses is stored unchanged: an optional
  /// property then reads nil, any other traps when it is read.
  ///
  /// Traps in the same cases as `add`, and for a value that does not fit. Use
  /// ``create(_:checking:update:unknownKeys:)`` to get an error instead.
  @discardableResult
  public func create<T: Object>(
    _ type: T.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
  ) -> T {
    core.create(type, value: value, update: update)
  }

  /// Creates an object that goes to a server and is not read here; see ``AsymmetricObject``.
  ///
  /// Traps outside of a write, for values that do not fit, and if the Realm has an object with the
  /// primary key.
  ///
  /// - Parameters:
  ///   - type: the class.
  ///   - value: as for ``create(_:value:update:)``.
  public func create<T: AsymmetricObject>(_ type: T.Type, value: Any = [String: Any]()) {
    _ = core.create(type, value: value, update: .error)
  }

  /// The treatment of dictionary keys that the class does not have.
  public enum UnknownKeys: Sendable {
    /// They are ignored.
    case ignored
    /// They are an error.
    case refused
  }

  /// Creates a managed object from external values, like ``create(_:value:update:)``, but checks
  /// them first.
  ///
  ///     try realm.write {
  ///       try realm.create(Dog.self, checking: JSONSerialization.jsonObject(with: data))
  ///     }
  ///
  /// It is stricter in two ways. A value that an enum or a failable custom type refuses is an
  /// error. So is a missing value for a property that is neither optional nor declared with a
  /// default; this does not apply to ids, nor to an object that is updated.
  ///
  /// Traps outside of a write, and for an update policy in a class without a primary key.
  ///
  /// - Throws: ``InvalidValue`` for the first value that does not fit, at any depth. The call has
  ///   then changed nothing, and the write can continue.
  @discardableResult
  public func create<T: Object>(
    _ type: T.Type, checking value: Any, update: UpdatePolicy = .error,
    unknownKeys: UnknownKeys = .ignored
  ) throws -> T {
    try core.create(
      type, checking: value, update: update, allowsUnknownKeys: unknownKeys == .ignored)
  }

  /// Deletes an object. Links to it become nil, and every accessor of it is invalidated.
  ///
  /// Traps outside of a write and for an object of another Realm.
  public func delete(_ object: ObjectBase) { core.delete(object) }

  /// Deletes several objects; see `delete(_:)`.
  public func delete<S: Sequence>(_ objects: S) where S.Element: ObjectBase {
    core.delete(Array(objects))
  }

  /// Deletes the objects in a list, which leaves it empty. An object that is in it twice is deleted
  /// once.
  ///
  /// Traps outside of a write and for a list of another Realm.
  public func delete<Element: ObjectBase>(_ objects: List<Element>) {
    core.delete(Array(objects))
  }

  /// Deletes the objects in a map; its keys stay, with nil. An object that is in it twice is
  /// deleted once.
  ///
  /// Traps outside of a write and for a map of another Realm.
  public func delete<Key, Value: ObjectBase>(_ objects: Map<Key, Value?>) {
    core.delete(objects.values.compactMap { $0 })
  }

  /// Deletes all objects of a collection without creating Swift objects for them.
  ///
  /// Traps outside of a write and for a collection of another Realm.
  public func delete<Element: ObjectBase>(_ objects: Results<Element>) {
    require(
      objects.core === core,
      "Can only delete a collection from the Realm it belongs to. Use "
        + "its realm property.")
    core.delete(objects)
  }

  /// Deletes all objects of all classes. Traps outside of a write.
  public func deleteAll() { core.deleteAll() }

  /// All objects of a class, in the order of creation, or of the primary key if that is a
  /// non-optional integer. Traps if the class is not in the Realm's schema.
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

extension Realm {
  /// The configuration that the Realm was opened with.
  public var configuration: Configuration { core.configuration }

  /// True if no object of any class exists.
  public var isEmpty: Bool { core.isEmpty }

  /// True (the default) to follow other instances' commits in turns of the scheduler. False to stay
  /// at the current version until `refresh()` or a write; realm-level observers then get
  /// `.refreshRequired`. Always false for a frozen Realm, where setting it to true traps.
  public var autorefresh: Bool {
    get {
      core.checkThread()
      return core.autorefresh
    }
    nonmutating set {
      core.checkThread()
      if core.isFrozen {
        if newValue { core.trapFrozen("Cannot turn autorefresh on for") }
        return
      }
      core.autorefresh = newValue
      if newValue { core.scheduleTurn() }
    }
  }
}

extension Realm {
  /// The classes of the Realm: exactly those that `objectTypes` lists. Without a list, or with an
  /// empty one, all classes of the file: the program's as it declares them, all others as the file
  /// describes them.
  public var schema: Schema {
    core.checkThread()
    let (stored, model) = (core.schemaToBind().schema, core.classes.model)
    return Schema(stored, model, isOfModel: configuration.objectTypes?.isEmpty == false)
  }

  /// All objects of a class in the file, even of one that the program does not declare; see
  /// `DynamicObject`. Sorting and aggregates take the names of columns. Traps if the file has no
  /// such class.
  public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
    core.checkThread()
    return Results(core, QuerySpec(dynamicClass: typeName))
  }

  /// The object of a class with that primary key, or nil. Traps if the file has no such class, if
  /// the class has no primary key, or if the key is of another type.
  public func dynamicObject(
    ofType typeName: String, forPrimaryKey key: Any
  ) -> DynamicObject? {
    core.checkThread()
    return core.object(core.dynamicBinding(typeName), primaryKey: key).map {
      unsafe unsafeDowncast($0, to: DynamicObject.self)
    }
  }

  /// Creates an object of a class in the file, from values by name, an array in the order of the
  /// columns, or another object. Missing values are those that the program's class declares for new
  /// objects, except for values that are objects themselves. They are zero, empty or nil for a
  /// class that the program does not have; a missing primary key that is an id is generated.
  ///
  /// Traps outside of a write, for names and values that do not fit the class, and for existing
  /// primary keys like `create`.
  @discardableResult
  public func dynamicCreate(
    _ typeName: String, value: Any = [String: Any](), update: UpdatePolicy = .error
  ) -> DynamicObject {
    core.dynamicCreate(typeName, value: value, update: update)
  }
}
