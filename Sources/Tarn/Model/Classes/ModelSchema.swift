import CTarn
import TarnStore

/// The classes and columns that a program's models require in a file, by name and without a file's
/// numbers.
///
/// Describing the classes takes far longer than opening a file that is already open, so it is done
/// once for each choice of classes; see `of`.
final class ModelSchema: Sendable {
  /// In the order of their names.
  let classes: [ClassReflection]
  /// The classes that the program requires in a file.
  let definitions: [ClassDefinition]
  private let numbers: [String: Int]

  /// The reflection of a class that is in the schema, else nil.
  func reflection(of type: ObjectBase.Type) -> ClassReflection? {
    guard let known = self[ClassReflection.name(of: type)], known.type == type else {
      return nil
    }
    return known
  }

  subscript(name: String) -> ClassReflection? { numbers[name].map { classes[$0] } }

  /// The schema without classes.
  static let empty = ModelSchema(classes: [], definitions: [])

  private init(classes: [ClassReflection], definitions: [ClassDefinition]) {
    self.classes = classes
    self.definitions = definitions
    numbers = Dictionary(uniqueKeysWithValues: classes.enumerated().map { ($1.name, $0) })
  }

  /// Describes the given classes, or all classes of the program that belong to default schemas.
  ///
  /// - Throws: all contradictions in their declarations at once.
  convenience init(_ types: [ObjectBase.Type]? = nil) throws(ModelError) {
    var reflections: [String: ClassReflection] = [:]
    var problems: [String] = []
    var refused: Set<String> = []
    for type in types ?? ModelSchema.discoverClasses() {
      let reflection: ClassReflection
      do {
        reflection = try ClassReflection.find(type)
      } catch {
        problems.append(error.description)
        refused.insert(ClassReflection.name(of: type))
        continue
      }
      if let other = reflections.updateValue(reflection, forKey: reflection.name),
        other.type != type
      {
        problems.append(
          """
          Two model classes are called '\(reflection.name)': \(String(reflecting: other.type)) and \
          \(String(reflecting: type)). Rename one, override its className(), or list the \
          classes of each Realm in Configuration.objectTypes.
          """)
      }
    }
    let classes = reflections.values.sorted { $0.name < $1.name }
    let definitions = classes.map {
      ModelSchema.describe($0, among: reflections, refused, &problems)
    }
    guard problems.isEmpty else { throw ModelError(problems) }
    self.init(classes: classes, definitions: definitions)
  }

  private static func describe(
    _ reflection: ClassReflection, among known: [String: ClassReflection],
    _ refused: Set<String>, _ problems: inout [String]
  ) -> ClassDefinition {
    var definition = ClassDefinition(
      name: reflection.name, properties: [], isEmbedded: reflection.type._isOfEmbedded,
      uniqueRules: reflection.uniqueRules.map { rule in
        rule.map { reflection.properties[$0].columnName }
      }, hasTypes: true)
    for property in reflection.properties {
      let target = property.target.map { ClassReflection.name(of: $0) }
      if let target, known[target] == nil {
        if refused.contains(target) { continue }
        problems.append(
          """
          '\(reflection.name).\(property.name)' points to class '\(target)', which is not in the \
          schema. Add \(target).self to Configuration.objectTypes.
          """)
        continue
      }
      if property.isComputed {
        checkOrigin(of: property, in: reflection, known[target!]!, &problems)
        continue
      }
      let keyIsRow = property.isPrimaryKey && property.type == .int && !property.isOptional
      definition.properties.append(
        .init(
          name: property.columnName, type: property.type, collection: property.collection,
          isOptional: property.isOptional,
          isIndexed: property.isIndexed || property.type == .link
            || property.isPrimaryKey && !keyIsRow,
          isPrimaryKey: property.isPrimaryKey, target: target, deleteRule: property.deleteRule,
          initial: property.initial, domain: property.domain))
    }
    return definition
  }

  private static func checkOrigin(
    of property: PropertyReflection, in reflection: ClassReflection, _ origin: ClassReflection,
    _ problems: inout [String]
  ) {
    let name = property.originProperty ?? ""
    if let other = origin.property(name), !other.isComputed,
      other.target.map({ ClassReflection.name(of: $0) }) == reflection.name
    {
      return
    }
    problems.append(
      """
      '\(reflection.name).\(property.name)' shows what links here through \
      '\(origin.name).\(name)', but that is no link to '\(reflection.name)'.
      """)
  }

  /// Every class of the running program that is a model, is not generic, and does not
  /// refuse to be in default schemas.
  static func discoverClasses() -> [ObjectBase.Type] {
    var found: [ObjectBase.Type] = []
    let root = unsafe unsafeBitCast(ObjectBase.self as AnyObject.Type, to: UnsafeRawPointer.self)
    unsafe withUnsafeMutablePointer(to: &found) { pointer in
      unsafe tarn_subclasses(
        root,
        { metadata, context in
          let type = unsafe unsafeBitCast(metadata!, to: AnyObject.Type.self) as! ObjectBase.Type
          unsafe context!.assumingMemoryBound(to: [ObjectBase.Type].self).pointee.append(type)
        }, unsafe pointer)
    }
    return found.filter { type in
      ![Object.self, EmbeddedObject.self, AsymmetricObject.self].contains { type == $0 }
        && type.shouldIncludeInDefaultSchema()
    }
  }
}

// MARK: - Once for each choice of classes

extension ModelSchema {
  private struct Known: Sendable {
    /// All classes of the program, and how many binaries it had loaded when they were looked for.
    var all: (binaries: Int64, model: ModelSchema)?
    var lists: [[ObjectIdentifier]: ModelSchema] = [:]
  }

  private static let known = Lock(ofProcess: Known())
  private static let listsMax = 64

  /// The model of the given classes, or else of all classes in the program that belong to default
  /// schemas, including those in libraries loaded since the last call. Traps if classes contradict
  /// themselves, and lists every contradiction.
  static func of(_ types: [ObjectBase.Type]?) -> ModelSchema {
    // Read before the search: the next call then searches a library that is loaded meanwhile.
    let binaries = tarn_binary_count()
    let list = types.map { $0.map { ObjectIdentifier($0) } }
    let found = known.withLock { known in
      if let list { return known.lists[list] }
      return known.all.flatMap { $0.binaries == binaries ? $0.model : nil }
    }
    if let found { return found }
    let made: ModelSchema
    do { made = try ModelSchema(types) } catch { trap(error.description) }
    return known.withLock { known in
      guard let list else {
        // Most libraries bring no classes, so the schemas made for the known model stay valid.
        let model = known.all.flatMap { $0.model.describesSame(made) ? $0.model : nil } ?? made
        known.all = (binaries, model)
        return model
      }
      if known.lists.count >= listsMax { known.lists = [:] }
      let model = known.lists[list] ?? made
      known.lists[list] = model
      return model
    }
  }

  private func describesSame(_ other: ModelSchema) -> Bool {
    classes.elementsEqual(other.classes, by: ===)
  }
}
