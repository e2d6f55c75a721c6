import CTarn
import TarnStore

/// What a program's models ask of a file: classes and columns by name, in no file's numbers.
struct ModelSchema {
  struct Column: Equatable {
    var name: String
    /// Of a collection this and the rest describe the elements.
    var type: ColumnType
    var collection = CollectionKind.none
    var isOptional: Bool
    /// Includes the primary key unless its value is the object key, and every link.
    var isIndexed: Bool
    /// The name of the class that a link points to.
    var target: String?
    var deleteRule = DeleteRule.nullify
  }

  struct Class {
    var name: String
    var reflection: ClassReflection
    /// In the order of declaration.
    var columns: [Column]
    /// The primary key's column name.
    var primaryKey: String?
  }

  /// In the order of their names.
  let classes: [Class]

  /// What a file is asked for.
  var definitions: [ClassDefinition] {
    classes.map { described in
      ClassDefinition(
        name: described.name,
        properties: described.columns.map { column in
          ClassDefinition.Property(
            name: column.name, type: column.type, collection: column.collection,
            isOptional: column.isOptional, isIndexed: column.isIndexed,
            isPrimaryKey: column.name == described.primaryKey, target: column.target,
            deleteRule: column.deleteRule)
        }, isEmbedded: described.reflection.type is EmbeddedObject.Type,
        uniqueRules: described.reflection.uniqueRules.map { rule in
          rule.map { described.reflection.properties[$0].columnName }
        })
    }
  }

  /// The reflection of a class that is in the schema, else nil.
  func reflection(of type: ObjectBase.Type) -> ClassReflection? {
    guard let known = self[ClassReflection.name(of: type)]?.reflection, known.type == type else {
      return nil
    }
    return known
  }

  subscript(name: String) -> Class? { classes.first { $0.name == name } }

  /// Of no class.
  static let empty = ModelSchema(classes: [])

  private init(classes: [Class]) { self.classes = classes }

  /// Describes the given classes, or all of the program that want to be in default schemas.
  init(_ types: [ObjectBase.Type]? = nil) throws(ModelError) {
    var reflections: [String: ClassReflection] = [:]
    for type in types ?? ModelSchema.discoverClasses() {
      let reflection = ClassReflection.of(type)
      if let other = reflections.updateValue(reflection, forKey: reflection.name),
        other.type != type
      {
        throw ModelError(
          """
          Two model classes are called '\(reflection.name)': \(String(reflecting: other.type)) and \
          \(String(reflecting: type)). Rename one, override its className(), or list the \
          classes of each Realm in Configuration.objectTypes.
          """)
      }
    }
    var classes: [Class] = []
    for reflection in reflections.values.sorted(by: { $0.name < $1.name }) {
      classes.append(try ModelSchema.describe(reflection, among: reflections))
    }
    self.classes = classes
  }

  private static func describe(
    _ reflection: ClassReflection, among known: [String: ClassReflection]
  ) throws(ModelError) -> Class {
    var columns: [Column] = []
    for property in reflection.properties {
      let target = property.target.map { ClassReflection.name(of: $0) }
      if let target, known[target] == nil {
        throw ModelError(
          """
          '\(reflection.name).\(property.name)' points to class '\(target)', which is not in the \
          schema. Add \(target).self to Configuration.objectTypes.
          """)
      }
      if property.isComputed {
        try checkOrigin(of: property, in: reflection, known[target!]!)
        continue
      }
      let keyIsRow = property.isPrimaryKey && property.type == .int && !property.isOptional
      columns.append(
        Column(
          name: property.columnName, type: property.type, collection: property.collection,
          isOptional: property.isOptional,
          isIndexed: property.isIndexed || property.type == .link
            || property.isPrimaryKey && !keyIsRow,
          target: target, deleteRule: property.deleteRule))
    }
    return Class(
      name: reflection.name, reflection: reflection, columns: columns,
      primaryKey: reflection.primaryKey.map { reflection.properties[$0].columnName })
  }

  private static func checkOrigin(
    of property: PropertyReflection, in reflection: ClassReflection, _ origin: ClassReflection
  ) throws(ModelError) {
    let name = property.originProperty ?? ""
    guard let other = origin.property(name), !other.isComputed,
      other.target.map({ ClassReflection.name(of: $0) }) == reflection.name
    else {
      throw ModelError(
        """
        '\(reflection.name).\(property.name)' shows what links here through \
        '\(origin.name).\(name)', but that is no link to '\(reflection.name)'.
        """)
    }
  }

  /// Every class of the running program that is a model, is not generic, and does not
  /// refuse to be in default schemas. Asked anew each time: libraries may have been loaded.
  static func discoverClasses() -> [ObjectBase.Type] {
    var found: [ObjectBase.Type] = []
    let root = unsafeBitCast(ObjectBase.self as AnyObject.Type, to: UnsafeRawPointer.self)
    withUnsafeMutablePointer(to: &found) { pointer in
      tarn_subclasses(
        root,
        { metadata, context in
          let type = unsafeBitCast(metadata!, to: AnyObject.Type.self) as! ObjectBase.Type
          context!.assumingMemoryBound(to: [ObjectBase.Type].self).pointee.append(type)
        }, pointer)
    }
    return found.filter { type in
      type != Object.self && type != EmbeddedObject.self && type.shouldIncludeInDefaultSchema()
    }
  }
}
