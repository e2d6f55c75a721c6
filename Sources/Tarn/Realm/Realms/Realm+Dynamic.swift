import TarnStore

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
  /// columns, or another object. Missing values are zero, empty or nil; a missing primary key that
  /// is an id is generated.
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
