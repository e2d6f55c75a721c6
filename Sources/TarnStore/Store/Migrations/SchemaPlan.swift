/// Compares the classes of a program with the schema of a file.
///
/// Additions are automatic: a class, a property or an index that the file lacks is added when the
/// file is opened. Classes and properties that a program does not know are left unchanged, so an
/// older program can open a file that a newer one has extended. Everything else is a difference,
/// and all differences of all classes are reported together.

/// A class as a program declares it, by names; the file assigns ids.
package struct ClassDefinition: Equatable, Sendable {
  package struct Property: Equatable, Sendable {
    package var name: String
    package var type: ColumnType
    /// For a collection, `type`, `isOptional` and `target` describe the elements.
    package var collection: CollectionKind
    package var isOptional: Bool
    package var isIndexed: Bool
    package var isPrimaryKey: Bool
    /// For a link, the name of the target's class.
    package var target: String?
    package var deleteRule: DeleteRule
    /// The value for objects that are older than the property; nil keeps null or the type's zero,
    /// which their rows have without it.
    package var initial: Value?
    /// The values that the type can represent, for a collection those of elements; nil if it can
    /// represent all that a column can store.
    package var domain: ValueDomain?

    package init(
      name: String, type: ColumnType, collection: CollectionKind = .none, isOptional: Bool = false,
      isIndexed: Bool = false, isPrimaryKey: Bool = false, target: String? = nil,
      deleteRule: DeleteRule = .nullify, initial: Value? = nil, domain: ValueDomain? = nil
    ) {
      self.domain = domain
      self.initial = initial
      self.name = name
      self.type = type
      self.collection = collection
      self.deleteRule = deleteRule
      self.isOptional = isOptional
      self.isIndexed = isIndexed
      self.isPrimaryKey = isPrimaryKey
      self.target = target
    }
  }

  package var name: String
  package var properties: [Property]
  package var isEmbedded: Bool
  /// Combinations of properties whose values must be unique.
  package var uniqueRules: [[String]]
  /// Whether the properties come from the types of a program, whose domains replace the file's.
  package var hasTypes: Bool

  package init(
    name: String, properties: [Property], isEmbedded: Bool = false, uniqueRules: [[String]] = [],
    hasTypes: Bool = false
  ) {
    self.hasTypes = hasTypes
    self.uniqueRules = uniqueRules
    self.name = name
    self.properties = properties
    self.isEmbedded = isEmbedded
  }
}

extension ClassDefinition {
  /// Refuses a new class with more properties than fit, whatever their types, before anything is
  /// planned for it.
  ///
  /// Errors: `.limitExceeded`.
  package static func requireRoom(
    for wanted: [ClassDefinition], addingTo stored: StoreSchema, path: String
  ) throws(StorageError) {
    for definition in wanted where definition.properties.count > ClassSchema.columnCountMax {
      guard stored.named(definition.name)?.isVacant != false else { continue }
      throw StorageError(
        .limitExceeded, operation: "open", path: path,
        detail: ClassSchema.tooWide(definition.name, definition.properties.count))
    }
    try requireNumbers(for: wanted, path: path)
  }

  /// Why an object of the class could not have values for all properties; nil if it could.
  package var excess: String? {
    if properties.count > ClassSchema.columnCountMax {
      return ClassSchema.tooWide(name, properties.count)
    }
    let schema = SchemaPlan(stored: StoreSchema(), wanted: [self]).schema
    return schema.classes.first { $0.rowByteCountMax > ClusterFormat.imageBytesMax }?.tooWide
  }

  /// Refuses more properties than can be numbered.
  ///
  /// Errors: `.limitExceeded`.
  static func requireNumbers(
    for wanted: [ClassDefinition], path: String
  ) throws(StorageError) {
    for definition in wanted where definition.properties.count > Int(UInt16.max) {
      throw StorageError(
        .limitExceeded, operation: "open", path: path,
        detail: ClassSchema.tooWide(definition.name, definition.properties.count))
    }
  }
}

/// The changes that opening a file with these classes requires.
package struct SchemaPlan: Equatable, Sendable {
  /// The schema after all additions; equal to the stored one if nothing is added.
  package private(set) var schema: StoreSchema
  /// Indexes to build over existing rows.
  package private(set) var newIndexes: [(ClassID, ColumnID)] = []
  /// Values of new properties for existing objects.
  package private(set) var fills: [PropertyFill] = []
  /// Unique rules that the file lacks, by their indices in their class.
  package private(set) var newRules: [(ClassID, Int)] = []
  /// A sentence for each class and property that the file lacks.
  package private(set) var additions: [String] = []
  /// A sentence for each difference that needs more than an addition.
  package private(set) var differences: [String] = []

  package init(stored: StoreSchema, wanted: [ClassDefinition]) {
    schema = stored
    for definition in wanted where schema.named(definition.name) == nil {
      let id = ClassID(UInt32(schema.classes.count))
      schema.classes.append(
        ClassSchema(
          id: id, name: definition.name, columns: [], isEmbedded: definition.isEmbedded))
      additions.append("Class '\(definition.name)' is not in the file.")
    }
    for definition in wanted {
      let isNew = stored.named(definition.name)?.isVacant ?? true
      merge(definition, isNew: isNew)
    }
  }

  package static func == (a: Self, b: Self) -> Bool {
    a.schema == b.schema && a.differences == b.differences && a.fills == b.fills
      && a.newIndexes.elementsEqual(b.newIndexes, by: ==)
      && a.newRules.elementsEqual(b.newRules, by: ==)
  }

  private mutating func merge(_ definition: ClassDefinition, isNew: Bool) {
    guard let index = schema.classes.firstIndex(where: { $0.name == definition.name }) else {
      trap("internal error: the class was added above")
    }
    if isNew { schema.classes[index].isEmbedded = definition.isEmbedded }
    for property in definition.properties {
      guard property.type != .link || property.targetID(in: schema) != nil else {
        differences.append(
          "Property '\(definition.name).\(property.name)' links to class "
            + "'\(property.target ?? "")', which is neither in the file nor among the classes "
            + "that it was opened with.")
        continue
      }
      if let column = schema.classes[index].named(property.name) {
        compare(property, with: column, in: index)
        if definition.hasTypes {
          schema.classes[index].columns[column.id.index].domain = property.domain
        }
      } else {
        add(property, to: index, isNew: isNew)
      }
    }
    comparePrimaryKeys(definition, index: index, isNew: isNew)
    addRules(of: definition, to: index)
    let isEmbedded = schema.classes[index].isEmbedded
    if isEmbedded != definition.isEmbedded {
      differences.append(
        "Class '\(definition.name)' is \(isEmbedded ? "" : "not ")embedded in the file but "
          + "\(isEmbedded ? "not " : "")embedded in the program.")
    }
  }

  private mutating func add(_ property: ClassDefinition.Property, to index: Int, isNew: Bool) {
    let id = ColumnID(UInt16(schema.classes[index].columns.count))
    if property.isPrimaryKey {
      guard isNew else { return }  // reported with the primary keys
      schema.classes[index].primaryKey = id
    }
    schema.classes[index].columns.append(property.column(id, in: schema))
    guard !isNew else { return }
    let described = schema.classes[index]
    additions.append("Property '\(described.name).\(property.name)' is not in the file.")
    // Existing rows have a value of the new column: its default.
    if described[id].filesAll, described.hasIndex(described[id]) {
      newIndexes.append((described.id, id))
    }
    if let initial = property.initial {
      fills.append(PropertyFill(classID: described.id, column: id, value: initial))
    }
  }

  private mutating func compare(
    _ property: ClassDefinition.Property, with column: ColumnSchema, in index: Int
  ) {
    let name = "'\(schema.classes[index].name).\(property.name)'"
    let wanted = property.column(column.id, in: schema)
    guard wanted.hasType(of: column) else {
      differences.append(
        "Property \(name) is \(schema.describe(column)) in the file but "
          + "\(schema.describe(wanted)) in the class.")
      return
    }
    if property.isOptional != column.isOptional {
      differences.append(
        "Property \(name) is \(column.isOptional ? "optional" : "required") in the file but "
          + "\(property.isOptional ? "optional" : "required") in the class.")
      return
    }
    // As with indexes: it is added for a program that wants it, and never removed.
    if property.deleteRule == .cascade {
      schema.classes[index].columns[column.id.index].deleteRule = .cascade
    }
    if property.isIndexed, !column.isIndexed {
      let hadAll = schema.classes[index].hasIndex(column) && column.filesAll
      schema.classes[index].columns[column.id.index].isIndexed = true
      let described = schema.classes[index]
      let changed = described[column.id]
      if !hadAll, described.hasIndex(changed), changed.filesAll {
        newIndexes.append((described.id, column.id))
      }
    }
  }

  private mutating func comparePrimaryKeys(
    _ definition: ClassDefinition, index: Int, isNew: Bool
  ) {
    guard !isNew else { return }
    let stored = schema.classes[index].primaryKey.map { schema.classes[index][$0].name }
    let wanted = definition.properties.first { $0.isPrimaryKey }?.name
    guard stored != wanted else { return }
    differences.append(
      "The primary key of class '\(definition.name)' is "
        + "\(stored.map { "'\($0)'" } ?? "none") in the file but "
        + "\(wanted.map { "'\($0)'" } ?? "none") in the class.")
  }

  /// As with indexes: a rule that any program has declared stays.
  private mutating func addRules(of definition: ClassDefinition, to index: Int) {
    let described = schema.classes[index]
    for rule in definition.uniqueRules {
      guard let columns = described.columns(named: rule),
        !schema.classes[index].uniqueRules.contains(where: { Set($0) == Set(columns) })
      else { continue }
      newRules.append((described.id, schema.classes[index].uniqueRules.count))
      schema.classes[index].uniqueRules.append(columns)
    }
  }
}

extension ClassDefinition.Property {
  /// The class that the property links to, if there is one of that name.
  func targetID(in schema: StoreSchema) -> ClassID? { target.flatMap { schema.named($0)?.id } }

  /// The property as a column of a file.
  func column(_ id: ColumnID, in schema: StoreSchema) -> ColumnSchema {
    ColumnSchema(
      id: id, name: name, type: type, collection: collection, isOptional: isOptional,
      isIndexed: isIndexed, target: targetID(in: schema), deleteRule: deleteRule, domain: domain)
  }
}

extension ColumnSchema {
  /// Whether both hold the same kind of values, apart from null.
  func hasType(of other: ColumnSchema) -> Bool {
    type == other.type && collection == other.collection && target == other.target
  }
}

extension StoreSchema {
  /// A column's type in words.
  func describe(_ column: ColumnSchema) -> String {
    let prefix = column.collection == .none ? "" : "a \(column.collection) of "
    guard column.type == .link, let target = column.target, let name = self[target]?.name else {
      return "\(prefix)\(column.type)"
    }
    return column.collection == .none ? "a link to '\(name)'" : "\(prefix)links to '\(name)'"
  }
}
