import TarnStore

/// The kinds of properties; the raw values are also used in files.
public enum PropertyType: Int, Sendable, CaseIterable, CustomStringConvertible {
  /// Integers of any size, and enums over them.
  case int = 0
  /// `Bool`.
  case bool = 1
  /// `String`, and enums over it.
  case string = 2
  /// `Data`.
  case data = 3
  /// `Date`.
  case date = 4
  /// `Float`.
  case float = 5
  /// `Double`.
  case double = 6
  /// A link to an object.
  case object = 7
  /// `LinkingObjects`: computed, not stored.
  case linkingObjects = 8
  /// An `AnyRealmValue`.
  case any = 9
  /// `ObjectId`.
  case objectId = 10
  /// `Decimal128`.
  case decimal128 = 11
  /// `UUID`.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  case UUID = 12

  public var description: String {
    switch self {
    case .int: "int"
    case .bool: "bool"
    case .string: "string"
    case .data: "data"
    case .date: "date"
    case .float: "float"
    case .double: "double"
    case .object: "object"
    case .linkingObjects: "linking objects"
    case .any: "mixed"
    case .objectId: "object id"
    case .decimal128: "decimal128"
    case .UUID: "uuid"
    }
  }
}

/// A property of a class, as it is stored.
public struct Property: Sendable, Equatable, CustomStringConvertible {
  /// The name in the program, or in the file if the program does not declare the class.
  public let name: String
  /// The name in the file.
  public let columnName: String
  /// The kind of the value, or of the elements.
  public let type: PropertyType
  /// True for lists, and for `LinkingObjects`.
  public let isArray: Bool
  /// True for sets.
  public let isSet: Bool
  /// True for maps.
  public let isMap: Bool
  /// True if there is an index over the property.
  public let isIndexed: Bool
  /// True if the value may be nil.
  public let isOptional: Bool
  /// The class that a link, or `LinkingObjects`, points to; else nil.
  public let objectClassName: String?

  init(_ property: PropertyReflection) {
    name = property.name
    columnName = property.columnName
    type =
      property.isComputed
      ? .linkingObjects : PropertyType(rawValue: Int(property.type.rawValue)) ?? .any
    isArray = property.isComputed || property.collection == .list
    isSet = property.collection == .set
    isMap = property.collection == .map
    isIndexed = property.isIndexed || property.isPrimaryKey
    isOptional = property.isOptional
    objectClassName =
      property.dynamicTarget ?? property.target.map { ClassReflection.name(of: $0) }
  }

  /// The property as a line of a schema.
  public var description: String {
    var text = "\(name): \(objectClassName ?? type.description)"
    if isArray { text = "\(name): [\(objectClassName ?? type.description)]" }
    if isSet { text = "\(name): set of \(objectClassName ?? type.description)" }
    if isMap { text = "\(name): map to \(objectClassName ?? type.description)" }
    if isOptional { text += "?" }
    if columnName != name { text += " as '\(columnName)'" }
    if isIndexed { text += ", indexed" }
    return text
  }
}

/// A class with its properties.
public struct ObjectSchema: Sendable, Equatable, CustomStringConvertible {
  /// The class's name in the file.
  public let className: String
  /// The stored properties, in the order of declaration, or of the columns if the program does not
  /// declare the class.
  public let properties: [Property]
  /// The computed properties, `LinkingObjects`, in the order of declaration.
  public let computedProperties: [Property]
  private let type: ObjectBase.Type
  /// True if objects of the class are owned by the object that links to them.
  public let isEmbedded: Bool
  /// The primary key, or nil.
  public let primaryKeyProperty: Property?
  /// Combinations of properties that are unique within the class, by name.
  public let uniqueProperties: [[String]]

  init(_ reflection: ClassReflection, isEmbedded: Bool) {
    className = reflection.name
    properties = reflection.properties.filter { !$0.isComputed }.map { Property($0) }
    computedProperties = reflection.properties.filter(\.isComputed).map { Property($0) }
    type = reflection.type
    self.isEmbedded = isEmbedded
    primaryKeyProperty = reflection.primaryKey.map { Property(reflection.properties[$0]) }
    uniqueProperties = reflection.uniqueRules.map { rule in
      rule.map { reflection.properties[$0].name }
    }
  }

  /// The class of the program, or `DynamicObject` if it has none of that name.
  public var objectClass: ObjectBase.Type { type }
  /// Whether the objects only go to a server; see ``AsymmetricObject``.
  public var isAsymmetric: Bool { type is AsymmetricObject.Type }

  /// The property of that name, or nil.
  public subscript(propertyName: String) -> Property? {
    (properties + computedProperties).first { $0.name == propertyName }
  }

  /// True if name, properties, unique combinations and class are the same.
  public static func == (a: ObjectSchema, b: ObjectSchema) -> Bool {
    a.className == b.className && a.properties == b.properties
      && a.computedProperties == b.computedProperties && a.isEmbedded == b.isEmbedded
      && a.primaryKeyProperty == b.primaryKeyProperty && a.type == b.type
      && a.uniqueProperties == b.uniqueProperties
  }

  /// The class and its properties, one per line.
  public var description: String {
    let key = primaryKeyProperty?.name
    let lines = (properties + computedProperties).map { property in
      "\t\(property)" + (property.name == key ? ", primary key" : "")
    }
    let rules = uniqueProperties.map { "\tunique: \($0.joined(separator: ", "))" }
    return "\(className)\(isEmbedded ? " (embedded)" : "") {\n"
      + (lines + rules).joined(separator: "\n") + "\n}"
  }
}

/// The classes of a file.
public struct Schema: Sendable, Equatable, CustomStringConvertible {
  /// Sorted by name.
  public let objectSchema: [ObjectSchema]

  /// The classes of a file; classes of the program as it declares them.
  ///
  /// - Parameter isOfModel: true to leave out all others.
  init(_ stored: StoreSchema, _ model: ModelSchema, isOfModel: Bool = false) {
    let present = stored.classes.filter {
      !$0.isVacant && (!isOfModel || model[$0.name] != nil)
    }
    objectSchema = present.map { described in
      let reflection =
        model[described.name] ?? ClassReflection(stored, described)
      return ObjectSchema(reflection, isEmbedded: described.isEmbedded)
    }.sorted { $0.className < $1.className }
  }

  /// The class of that name, or nil.
  public subscript(className: String) -> ObjectSchema? {
    objectSchema.first { $0.className == className }
  }

  /// All classes, one after the other.
  public var description: String {
    objectSchema.map(\.description).joined(separator: "\n")
  }
}

extension ObjectBase {
  /// The class as it is declared; nil for the classes of the library, from which others derive.
  /// Traps if the declaration contradicts itself.
  public class func sharedSchema() -> ObjectSchema? {
    let bases: [ObjectBase.Type] = [
      ObjectBase.self, Object.self, EmbeddedObject.self, AsymmetricObject.self, DynamicObject.self,
    ]
    if bases.contains(where: { $0 == self }) { return nil }
    return ObjectSchema(ClassReflection.of(self), isEmbedded: self is EmbeddedObject.Type)
  }

  /// The class of this object: as it declares itself, or, for a `DynamicObject`, as the file
  /// describes it.
  public var objectSchema: ObjectSchema {
    ObjectSchema(
      _reflection, isEmbedded: _binding?.schema.isEmbedded ?? (self is EmbeddedObject))
  }
}
