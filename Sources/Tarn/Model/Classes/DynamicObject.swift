import TarnStore

/// An object of any class in a file, even of one that the program does not declare. Its properties
/// are accessed by name, as strings or as members; values are `Any?`.
///
///     for dog in realm.dynamicObjects("Dog") {
///       print(dog.name as? String ?? "", dog["age"] as? Int ?? 0)
///     }
///
/// Names are those of columns in the file. A value has the type of the column: `Int` for every
/// integer, `Bool`, `Float`, `Double`, `String`, `Data`, `Date`, `Decimal128`, `ObjectId`, `UUID`;
/// a link is an object of the program's class, if the Realm has that class, and otherwise another
/// `DynamicObject`, as always in migrations. A list is a live `List` of such values,
/// `List<DynamicObject>` for objects, and similarly for sets and maps: `MutableSet<Int>`,
/// `Map<String, DynamicObject?>`. Assigning one, or an array or a dictionary, replaces all
/// elements. Confined like any other object.
@dynamicMemberLookup
public final class DynamicObject: Object {
  /// Creates an object without a class and without properties. Get dynamic objects from a Realm.
  public required init() { super.init() }

  /// Dynamic objects belong to the classes in files; this class is in none.
  public override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension PropertyReflection {
  /// A column of the file as a property of dynamic objects. The index of a link serves backlinks,
  /// and is never declared.
  init(_ schema: StoreSchema, _ column: ColumnSchema, isPrimaryKey: Bool) {
    let target = column.target.flatMap { schema[$0]?.name }
    var description = _ColumnDescription(
      column.type, isOptional: column.isOptional,
      target: target == nil ? nil : DynamicObject.self)
    description.collection = column.collection
    self.init(
      name: column.name, columnName: column.name, offset: 0, wrapper: DynamicValue.self,
      description: description, isIndexed: column.isIndexed && column.type != .link,
      isPrimaryKey: isPrimaryKey,
      originProperty: nil, dynamicTarget: target, isDynamic: true)
  }
}

extension ClassReflection {
  /// The reflection of a class from a file's description; its properties have the names of their
  /// columns.
  convenience init(_ schema: StoreSchema, _ described: ClassSchema) {
    let properties = described.columns.filter { !$0.isRemoved }.map {
      PropertyReflection(schema, $0, isPrimaryKey: $0.id == described.primaryKey)
    }
    let indices = Dictionary(properties.enumerated().map { ($1.columnName, $0) }) { $1 }
    let uniqueRules = described.uniqueRules.map { rule in
      rule.compactMap { indices[described[$0].name] }
    }
    self.init(dynamic: DynamicObject.self, described.name, properties, uniqueRules: uniqueRules)
  }
}

/// Replaces the wrapper of a property in a class of the program. Dynamic properties have no storage
/// in the object, so that only values are converted here.
enum DynamicValue: AnyPersisted {
  static func unboxed(_ boxed: _BoxedValue) -> Any? { boxed.value.plain }

  private static func hasNoStorage() -> Never {
    trap("internal error: a dynamic property has no wrapper")
  }

  static var description: _ColumnDescription { hasNoStorage() }
  static var columnOffset: Int { hasNoStorage() }
  static var valueType: Any.Type { DynamicValue.self }
  static func boxed(_ value: Any) -> _BoxedValue? { hasNoStorage() }
  static var mover: _Mover { hasNoStorage() }
  static func forget(at field: UnsafeMutableRawPointer) { hasNoStorage() }
  static func giveUpLinks(
    at field: UnsafeMutableRawPointer, to pending: inout [ObjectBase]
  ) { hasNoStorage() }
  static func flags(at field: UnsafeRawPointer) -> UInt8 { hasNoStorage() }
  static func originProperty(at field: UnsafeRawPointer) -> String? { hasNoStorage() }
  static func read(_ object: ObjectBase, at field: UnsafeMutableRawPointer) -> Any {
    hasNoStorage()
  }
  static func readBoxed(_ object: ObjectBase, at field: UnsafeMutableRawPointer) -> _BoxedValue {
    hasNoStorage()
  }
  static func write(
    _ value: _BoxedValue, _ object: ObjectBase, at field: UnsafeMutableRawPointer
  ) -> Bool { hasNoStorage() }
  static func write(
    elements: any SequenceBacking, _ object: ObjectBase, at field: UnsafeMutableRawPointer
  ) { hasNoStorage() }
  static func hasOwnDefault(at field: UnsafeRawPointer) -> Bool { hasNoStorage() }
  static func canHold(_ boxed: _BoxedValue) -> Bool { true }
  static func fits(_ boxed: _BoxedValue) -> Bool { true }
}
