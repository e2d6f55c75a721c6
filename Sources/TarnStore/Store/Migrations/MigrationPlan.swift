/// How a file's schema becomes exactly that of a program with a higher version.
///
/// A property that changes its type, its target or its optionality gets a new column under its
/// name; so does a former integer primary key, because its column stores nothing. Columns without a
/// property are marked as removed. Classes that the program lacks are left unchanged.
package struct MigrationPlan: Sendable {
  /// The values that a new column takes from the one it replaces; null becomes the type's zero in a
  /// column that is not optional.
  struct Copy: Sendable {
    var classID: ClassID
    var from: ColumnID
    var to: ColumnID
  }

  package let stored: StoreSchema
  /// The schema in the migration's block: the program's, except that classes whose primary key
  /// changes have none, so that it can be set.
  package private(set) var working: StoreSchema
  /// A sentence for each change.
  package private(set) var differences: [String] = []
  /// Links to classes that are neither in the file nor in the program.
  private(set) var problems: [String] = []
  private(set) var copies: [Copy] = []
  /// Values of new columns that are not copied from another column.
  private(set) var fills: [PropertyFill] = []
  /// The new primary keys of the classes whose key changes.
  private(set) var primaryKeys: [ClassID: ColumnID?] = [:]
  /// Classes that become embedded. In the block their objects are still independent, so that it can
  /// split shared ones.
  private(set) var embedding: [ClassID] = []
  /// The classes of the program.
  package let wanted: Set<String>

  package init(stored: StoreSchema, wanted: [ClassDefinition]) {
    self.stored = stored
    self.wanted = Set(wanted.map(\.name))
    working = stored
    for definition in wanted where stored.named(definition.name) == nil {
      let id = ClassID(UInt32(working.classes.count))
      working.classes.append(
        ClassSchema(id: id, name: definition.name, columns: [], isEmbedded: definition.isEmbedded))
      differences.append("Class '\(definition.name)' has been added.")
    }
    for definition in wanted {
      guard let id = working.named(definition.name)?.id else { continue }
      fit(Int(id.rawValue), to: definition)
    }
  }

  /// True if `id` is a class that the program adds, possibly again.
  private func isNew(_ id: ClassID) -> Bool { stored[id]?.isVacant ?? true }

  /// The schema after the migration.
  func final(without deleted: Set<ClassID>) -> StoreSchema {
    var schema = working
    for (id, key) in primaryKeys { schema.classes[Int(id.rawValue)].primaryKey = key }
    for id in embedding { schema.classes[Int(id.rawValue)].isEmbedded = true }
    for id in deleted {
      let index = Int(id.rawValue)
      schema.classes[index].primaryKey = nil
      schema.classes[index].uniqueRules = []
      for column in schema.classes[index].columns.indices {
        schema.classes[index].columns[column].isRemoved = true
      }
    }
    return schema
  }

  // MARK: - One class

  private mutating func fit(_ index: Int, to definition: ClassDefinition) {
    let id = working.classes[index].id
    for property in definition.properties {
      if property.type == .link, property.targetID(in: working) == nil {
        problems.append(
          "Property '\(definition.name).\(property.name)' links to class "
            + "'\(property.target ?? "")', which is neither in the file nor in the program.")
      } else if let column = working.classes[index].named(property.name) {
        fit(column, to: property, in: index)
        if definition.hasTypes, let fitting = working.classes[index].named(property.name) {
          working.classes[index].columns[fitting.id.index].domain = property.domain
        }
      } else {
        append(property, to: index)
        if !isNew(id) { note(index, property.name, "has been added.") }
      }
    }
    let names = Set(definition.properties.map(\.name))
    for column in working.classes[index].columns
    where !column.isRemoved && !names.contains(column.name) {
      working.classes[index].columns[column.id.index].isRemoved = true
      note(index, column.name, "has been removed.")
    }
    fitPrimaryKey(index, definition)
    fitUniqueRules(index, definition)
    fitEmbedding(index, definition)
  }

  private mutating func note(_ index: Int, _ property: String, _ what: String) {
    differences.append("Property '\(working.classes[index].name).\(property)' \(what)")
  }

  private mutating func append(_ property: ClassDefinition.Property, to index: Int) {
    let id = ColumnID(UInt16(working.classes[index].columns.count))
    working.classes[index].columns.append(property.column(id, in: working))
    if let initial = property.initial {
      fills.append(PropertyFill(classID: working.classes[index].id, column: id, value: initial))
    }
  }

  private mutating func fit(
    _ column: ColumnSchema, to property: ClassDefinition.Property, in index: Int
  ) {
    let id = working.classes[index].id
    let wanted = property.column(column.id, in: working)
    let isSameType = wanted.hasType(of: column)
    let wasRowKey = stored[id].map { $0.keyIsPrimary && $0.primaryKey == column.id } ?? false
    let losesKey = wasRowKey && !(property.isPrimaryKey && isSameType && !property.isOptional)
    if isSameType, property.isOptional == column.isOptional, !losesKey {
      working.classes[index].columns[column.id.index].deleteRule = property.deleteRule
      guard property.isIndexed != column.isIndexed else { return }
      working.classes[index].columns[column.id.index].isIndexed = property.isIndexed
      if !property.isPrimaryKey, property.type != .link {
        note(index, column.name, property.isIndexed ? "now has an index." : "lost its index.")
      }
      return
    }
    working.classes[index].columns[column.id.index].isRemoved = true
    append(property, to: index)
    let replacement = ColumnID(UInt16(working.classes[index].columns.count - 1))
    if isSameType {
      copies.append(Copy(classID: id, from: column.id, to: replacement))
    }
    if !isSameType {
      note(
        index, column.name,
        "has been changed from \(working.describe(column)) to \(working.describe(wanted)).")
    } else if property.isOptional != column.isOptional {
      note(index, column.name, "has been made \(property.isOptional ? "optional" : "required").")
    }
  }

  private mutating func fitPrimaryKey(_ index: Int, _ definition: ClassDefinition) {
    let id = working.classes[index].id
    let wanted = definition.properties.first { $0.isPrimaryKey }.flatMap {
      working.classes[index].named($0.name)?.id
    }
    guard !isNew(id) else {
      working.classes[index].primaryKey = wanted
      return
    }
    guard wanted != stored[id]?.primaryKey else { return }
    primaryKeys[id] = .some(wanted)
    working.classes[index].primaryKey = nil
    let old = stored[id].flatMap { described in
      described.primaryKey.map { "'\(described[$0].name)'" }
    }
    let new = wanted.map { "'\(working.classes[index][$0].name)'" }
    differences.append(
      "The primary key of class '\(definition.name)' has been changed from \(old ?? "none") to "
        + "\(new ?? "none").")
  }

  private mutating func fitUniqueRules(_ index: Int, _ definition: ClassDefinition) {
    let described = working.classes[index]
    func names(_ rule: [ColumnID]) -> Set<String> { Set(rule.map { described[$0].name }) }
    var rules: [[ColumnID]] = []
    for rule in definition.uniqueRules.compactMap(described.columns(named:))
    where !rules.contains(where: { Set($0) == Set(rule) }) {
      rules.append(rule)
    }
    working.classes[index].uniqueRules = rules
    guard !isNew(described.id) else { return }
    let (former, new) = (described.uniqueRules.map(names), rules.map(names))
    for (rule, verb) in new.filter({ !former.contains($0) }).map({ ($0, "been added") })
      + former.filter({ !new.contains($0) }).map({ ($0, "been removed") })
    {
      let list = rule.sorted().map { "'\($0)'" }.joined(separator: ", ")
      differences.append("The unique rule of class '\(definition.name)' over \(list) has \(verb).")
    }
  }

  private mutating func fitEmbedding(_ index: Int, _ definition: ClassDefinition) {
    let described = working.classes[index]
    guard described.isEmbedded != definition.isEmbedded else { return }
    if isNew(described.id) || !definition.isEmbedded {
      working.classes[index].isEmbedded = definition.isEmbedded
    } else {
      embedding.append(described.id)
    }
    if isNew(described.id) { return }
    differences.append(
      "Class '\(definition.name)' has been made "
        + "\(definition.isEmbedded ? "embedded" : "top-level").")
  }
}
