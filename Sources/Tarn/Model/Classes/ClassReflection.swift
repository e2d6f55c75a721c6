@_spi(Reflection) import Swift
import TarnStore

/// A stored or computed property of a model class, from its declaration.
struct PropertyReflection: Sendable {
  /// The program's name.
  let name: String
  /// The name in files.
  let columnName: String
  /// The offset of the wrapper in an object.
  let offset: Int
  @safe nonisolated(unsafe) let wrapper: any AnyPersisted.Type  // because: metatypes never change
  nonisolated(unsafe) let description: _ColumnDescription  // because: nor does what they say
  let isIndexed: Bool
  let isPrimaryKey: Bool
  /// The treatment of linked objects when the object is deleted.
  var deleteRule = DeleteRule.nullify
  /// LinkingObjects: the property on the other side.
  let originProperty: String?
  /// The class that the link of a dynamic object points to.
  var dynamicTarget: String?
  /// True if the declaration, or the class's `init`, gives a value.
  var hasOwnDefault = true
  /// A property of objects whose class the program does not have: it has no wrapper.
  var isDynamic = false

  var type: ColumnType { unsafe description.type }
  var collection: CollectionKind { unsafe description.collection }
  var isOptional: Bool { unsafe description.isOptional }
  var isComputed: Bool { unsafe description.isComputed }
  var target: ObjectBase.Type? { unsafe description.target }
  var initial: Value? { unsafe description.initial }
  /// The values that its type has; nil for all.
  var domain: ValueDomain? { unsafe description.limiting?._limits.domain }

  /// The address of the property's wrapper in an object. Valid while the object lives.
  func field(of object: ObjectBase) -> UnsafeMutableRawPointer {
    unsafe Unmanaged.passUnretained(object).toOpaque() + offset
  }

  /// The property's value, in a managed or unmanaged object of the class.
  func read(_ object: ObjectBase) -> Any {
    if isDynamic { return (object as any DynamicReading).dynamicValue(of: self) as Any }
    return withExtendedLifetime(object) { unsafe wrapper.read(object, at: field(of: object)) }
  }
  /// The value without its optional; nil for a collection.
  func readFlat(_ object: ObjectBase) -> Any? {
    if collection != .none { return nil }
    return isOptional || isDynamic ? flattened(read(object)) : read(object)
  }
  func readBoxed(_ object: ObjectBase) -> _BoxedValue {
    withExtendedLifetime(object) { unsafe wrapper.readBoxed(object, at: field(of: object)) }
  }
  /// Sets the property; false if the value is not of its type.
  func write(_ value: _BoxedValue, _ object: ObjectBase) -> Bool {
    withExtendedLifetime(object) { unsafe wrapper.write(value, object, at: field(of: object)) }
  }
  /// Replaces the elements of a collection.
  func write(elements: any SequenceBacking, _ object: ObjectBase) {
    withExtendedLifetime(object) {
      unsafe wrapper.write(elements: elements, object, at: field(of: object))
    }
  }
}

extension PropertyReflection {
  /// The step to the property in paths: its column, or its backlinks.
  var pathStep: PathStep {
    guard isComputed, let target else { return .property(columnName) }
    let origin = ClassReflection.of(target)
    let column = originProperty.flatMap { origin.property($0)?.columnName } ?? ""
    return .backlinks(origin: origin.name, property: column)
  }
}

/// Reading properties by the file's description. Every object can.
protocol DynamicReading {
  /// The value of a property of a managed object, nil for null. Traps for an invalidated object.
  func dynamicValue(of property: PropertyReflection) -> Any?
}

/// The declaration of a model class, read once in a process and cached.
final class ClassReflection: Sendable {
  let type: ObjectBase.Type
  /// The name in files.
  let name: String
  /// In the order of declaration, a superclass's first; without ignored ones.
  let properties: [PropertyReflection]
  /// Number of the primary key among `properties`.
  let primaryKey: Int?
  /// The program does not have the class.
  let isDynamic: Bool
  /// Combinations that are unique, of numbers among `properties`.
  let uniqueRules: [[Int]]
  private let numbers: [String: Int]

  /// The reflection of a class. Traps if the declaration contradicts itself.
  static func of(_ type: ObjectBase.Type) -> ClassReflection {
    do { return try find(type) } catch { trap(error.description) }
  }

  /// The reflection of a class. The first call for a class makes one object of it, to see the
  /// arguments of its `@Persisted` attributes.
  static func find(_ type: ObjectBase.Type) throws(ModelError) -> ClassReflection {
    let id = ObjectIdentifier(type)
    if let known = known.withLock({ $0[id] }) { return known }
    // Not under the lock: this runs the model's `init()`.
    let reflection = try ClassReflection(type)
    return known.withLock { known in
      let first = known[id] ?? reflection
      known[id] = first
      return first
    }
  }
  private static let known = Lock<[ObjectIdentifier: ClassReflection]>(ofProcess: [:])

  init(_ type: ObjectBase.Type) throws(ModelError) {
    self.type = type
    isDynamic = false
    name = Self.name(of: type)
    let declared = Self.declaredProperties(of: type)
    let ignored = Set(type.ignoredProperties())
    let indexed = Set(type.indexedProperties())
    let mapping = type.propertiesMapping()
    for property in indexed.union(mapping.keys) where !declared.contains(name: property) {
      throw ModelError(
        """
        Class '\(name)' names a property '\(property)' in indexedProperties() or \
        propertiesMapping() that is no @Persisted property of it.
        """)
    }
    let keys = declared.filter(\.isPrimaryKey)
    guard keys.count <= 1 else {
      throw ModelError(
        """
        Class '\(name)' has more than one primary key: \
        \(keys.map { "'\($0.name)'" }.joined(separator: ", ")). Leave one.
        """)
    }
    let key = type._primaryKeyName ?? keys.first?.name
    if let key, type._isOfEmbedded {
      throw ModelError(
        "The embedded class '\(name)' has a primary key, '\(key)': its objects are reached only "
          + "through the objects that own them.")
    }
    if let key, !declared.contains(name: key) {
      throw ModelError(
        "Class '\(name)' has no @Persisted property '\(key)' for its primary key.")
    }
    properties = declared.filter { !ignored.contains($0.name) }.map {
      unsafe PropertyReflection(
        name: $0.name, columnName: mapping[$0.name] ?? $0.name, offset: $0.offset,
        wrapper: $0.wrapper, description: $0.description,
        isIndexed: $0.isIndexed || indexed.contains($0.name), isPrimaryKey: $0.name == key,
        deleteRule: $0.deleteRule, originProperty: $0.originProperty,
        hasOwnDefault: $0.hasOwnDefault)
    }
    primaryKey = properties.firstIndex(where: \.isPrimaryKey)
    numbers = Dictionary(properties.enumerated().map { ($1.name, $0) }) { first, _ in first }
    uniqueRules = try Self.uniqueRules(of: type, name, properties)
    try checkColumns()
  }

  /// The reflection of a class that the program does not have.
  init(
    dynamic type: ObjectBase.Type, _ name: String, _ properties: [PropertyReflection],
    uniqueRules: [[Int]]
  ) {
    self.type = type
    self.name = name
    self.properties = properties
    self.uniqueRules = uniqueRules
    isDynamic = true
    primaryKey = properties.firstIndex(where: \.isPrimaryKey)
    numbers = Dictionary(properties.enumerated().map { ($1.name, $0) }) { first, _ in first }
  }

  /// The property of that name in the program, or nil.
  func property(_ name: String) -> PropertyReflection? { numbers[name].map { properties[$0] } }

  /// The property's index in `properties`, or nil.
  func number(_ name: String) -> Int? { numbers[name] }

  /// The name of the property marked as primary key. Does not call the class's `primaryKey()`.
  static func declaredPrimaryKey(of type: ObjectBase.Type) -> String? {
    declaredProperties(of: type).first(where: \.isPrimaryKey)?.name
  }

  private func checkColumns() throws(ModelError) {
    var columns: [String: String] = [:]
    for property in properties {
      if let other = columns.updateValue(property.name, forKey: property.columnName) {
        throw ModelError(
          """
          Class '\(name)' stores both '\(other)' and '\(property.name)' in the column \
          '\(property.columnName)'.
          """)
      }
      try checkCollection(property)
      if property.isPrimaryKey, !property.canBePrimaryKey {
        throw ModelError(
          """
          '\(name).\(property.name)' cannot be a primary key: that takes an integer, a String, an \
          ObjectId or a UUID.
          """)
      }
    }
  }
}

extension ClassReflection {
  private func checkCollection(_ property: PropertyReflection) throws(ModelError) {
    guard property.collection != .none else { return }
    if property.isIndexed {
      throw ModelError(
        "'\(name).\(property.name)' is a collection, which cannot have an index of its own.")
    }
    guard property.type == .link, let target = property.target else { return }
    let element = ClassReflection.name(of: target)
    if property.collection == .map, !property.isOptional {
      throw ModelError(
        """
        '\(name).\(property.name)' must be declared with optional objects, \
        Map<String, \(element)?>: deleting an object leaves its key with nil.
        """)
    }
    if property.collection != .map, property.isOptional {
      throw ModelError(
        """
        '\(name).\(property.name)' cannot hold nil: declare its elements as \(element). \
        Deleting an object takes it out of lists and sets.
        """)
    }
  }
}

extension ClassReflection {
  private static func uniqueRules(
    of type: ObjectBase.Type, _ name: String, _ properties: [PropertyReflection]
  ) throws(ModelError) -> [[Int]] {
    var rules: [[Int]] = []
    for names in type.uniqueProperties() {
      guard !names.isEmpty, Set(names).count == names.count else {
        throw ModelError(
          "Class '\(name)' has a combination in uniqueProperties() that is empty, or names a "
            + "property twice.")
      }
      var rule: [Int] = []
      for property in names {
        guard let number = properties.firstIndex(where: { $0.name == property }) else {
          throw ModelError(
            "Class '\(name)' names a property '\(property)' in uniqueProperties() that is not a "
              + "@Persisted property of the class.")
        }
        let found = properties[number]
        guard found.collection == .none, found.type != .any, !found.isComputed else {
          throw ModelError(
            "'\(name).\(property)' cannot be in uniqueProperties(): collections and AnyRealmValue "
              + "properties cannot be compared as a whole.")
        }
        rule.append(number)
      }
      rules.append(rule)
    }
    return rules
  }
}

extension PropertyReflection {
  fileprivate var canBePrimaryKey: Bool {
    collection == .none && [.int, .string, .objectID, .uuid].contains(type)
  }
}

/// A contradiction in the declaration of a model, with the class and the property; or several.
struct ModelError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }

  init(_ problems: [String]) {
    if problems.count == 1 {
      description = problems[0]
    } else {
      let list = problems.map { "- " + $0 }.joined(separator: "\n")
      description = "\(problems.count) problems in the model classes:\n\(list)"
    }
  }
}

// MARK: Reading a declaration

extension ClassReflection {
  /// The name of a class in files.
  static func name(of type: ObjectBase.Type) -> String {
    type.className()
  }

  /// Without module and enclosing types. Those of private and local types contain an address, so
  /// only the last component is the same in the next run.
  static func unqualifiedName(of type: ObjectBase.Type) -> String { DeclaredName.ofType(type) }

  /// All properties with a `Persisted` wrapper, ignored ones included, as declared.
  private static func declaredProperties(of type: ObjectBase.Type) -> [PropertyReflection] {
    let example = type.init()
    let base = unsafe Unmanaged.passUnretained(example).toOpaque()
    var found: [PropertyReflection] = []
    // The option 1 is `.classType`, which is a mutable global and so unusable in Swift 6.
    let options = _EachFieldOptions(rawValue: 1)
    _ = unsafe _forEachField(of: type, options: options) { label, offset, fieldType, _ in
      guard let wrapper = fieldType as? any AnyPersisted.Type else { return true }
      let flags = unsafe wrapper.flags(at: base + offset)
      // The wrapper of `age` is `_age`.
      let name = DeclaredName.property(ofWrapper: unsafe String(cString: label))
      unsafe found.append(
        PropertyReflection(
          name: name, columnName: name, offset: offset, wrapper: wrapper,
          description: wrapper.description, isIndexed: flags & _PropertyFlags.indexed != 0,
          isPrimaryKey: flags & _PropertyFlags.primaryKey != 0,
          deleteRule: flags & _PropertyFlags.cascade != 0 ? .cascade : .nullify,
          originProperty: wrapper.originProperty(at: base + offset),
          hasOwnDefault: wrapper.hasOwnDefault(at: base + offset)))
      return true
    }
    withExtendedLifetime(example) {}
    return found
  }
}

extension [PropertyReflection] {
  fileprivate func contains(name: String) -> Bool { contains { $0.name == name } }
}

/// Names of a program's declarations as its author reads them: reflection has raw identifiers with
/// their backticks, and no-break spaces in place of spaces.
enum DeclaredName {
  /// The name of a property.
  ///
  /// - Parameter label: that of the property's wrapper: `_age` for `age`.
  static func property(ofWrapper label: String) -> String {
    String(plain(label).dropFirst())
  }

  /// The name of a class, without module and enclosing types.
  static func ofType(_ type: Any.Type) -> String { plain("\(type)") }

  private static func plain(_ text: String) -> String {
    let backtick = UInt8(ascii: "`")
    guard text.utf8.count > 2, text.utf8.first == backtick, text.utf8.last == backtick else {
      return text
    }
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.dropFirst().dropLast() {
      // No raw identifier can have one.
      scalars.append(scalar == "\u{a0}" ? " " : scalar)
    }
    return String(scalars)
  }
}
