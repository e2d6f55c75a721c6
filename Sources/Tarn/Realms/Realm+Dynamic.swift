import TarnStore

extension Realm {
  /// The classes of the file: those of the configuration as the program declares them, all others
  /// as the file describes them.
  public var schema: Schema {
    core.checkThread()
    return Schema(core.schemaToBind().schema, core.classes.model)
  }

  /// All objects of a class of the file, be it one that the program does not have; see
  /// `DynamicObject`. Sorting and aggregates take the names of columns. Traps if the file has no
  /// such class.
  public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
    core.checkThread()
    return Results(core, QuerySpec(dynamicClass: typeName))
  }

  /// The object of that class with that primary key, or nil. Traps if the file has no such class,
  /// if it has no primary key, or for a key of another type.
  public func dynamicObject(
    ofType typeName: String, forPrimaryKey key: Any
  ) -> DynamicObject? {
    core.checkThread()
    return core.object(core.dynamicBinding(typeName), primaryKey: key).map {
      unsafe unsafeDowncast($0, to: DynamicObject.self)
    }
  }

  /// Makes an object of a class of the file from values by name, in the order of the columns, or
  /// of another object. What is missing is zero, empty or nil, a primary key that is an id new.
  ///
  /// Traps outside of a write, for names and values that the class does not have, and as `create`
  /// does for primary keys that exist.
  @discardableResult
  public func dynamicCreate(
    _ typeName: String, value: Any = [String: Any](), update: UpdatePolicy = .error
  ) -> DynamicObject {
    core.dynamicCreate(typeName, value: value, update: update)
  }
}
