import TarnStore
import TarnText
import ToolSupport

/// The change of a class, as a migration.
struct ClassAlteration {
  /// A column after the change.
  private struct Entry {
    var property: ClassDefinition.Property
    /// The column before; nil for a new one.
    var former: ColumnSchema?
  }

  private let described: ClassSchema
  private let stored: StoreSchema
  private var entries: [Entry] = []
  private let dropped: Set<String>
  private var lostRules: [[String]] = []
  private var rules: [[String]] = []

  /// - Throws: a `ToolError` if the class cannot be changed in that way.
  init(_ edits: ClassEdits, of described: ClassSchema, in stored: StoreSchema) throws {
    self.described = described
    self.stored = stored
    dropped = Set(edits.dropped)
    for column in described.shownColumns {
      let property = ClassDefinition.Property(column, of: described, in: stored)
      entries.append(Entry(property: property, former: column))
    }
    for name in dropped { _ = try place(of: name) }
    for edit in edits.added { try add(edit) }
    for edit in edits.typed { try retype(edit) }
    for name in edits.nullable { try makeNullable(name) }
    for name in edits.indexed { try index(name) }
    for name in edits.unindexed { entries[try place(of: name)].property.isIndexed = false }
    entries.removeAll { dropped.contains($0.property.name) }
    guard !entries.isEmpty else {
      throw ToolError("class \(described.name) would have no property left")
    }
    try rename(edits.renamed)
  }

  private func place(of name: String) throws -> Int {
    guard let place = entries.firstIndex(where: { $0.property.name == name }) else {
      throw ToolError("class \(described.name) has no property '\(name)'")
    }
    return place
  }

  private func refuseTaken(_ name: String) throws {
    if described.named(name) != nil {
      throw ToolError("class \(described.name) has a property '\(name)' already")
    }
  }

  // MARK: - Changes

  private mutating func add(_ edit: ClassEdits.Typed) throws {
    try refuseTaken(edit.name)
    let reading = edit.reading
    entries.append(
      Entry(
        property: ClassDefinition.Property(
          name: edit.name, type: reading.type, collection: reading.collection,
          isOptional: reading.isOptional && reading.type != .any, target: reading.targetName)))
  }

  private mutating func retype(_ edit: ClassEdits.Typed) throws {
    let place = try place(of: edit.name)
    let (property, reading) = (entries[place].property, edit.reading)
    guard property.type != .link, reading.type != .link else {
      throw ToolError(
        "--type \(edit.name):\(edit.word): links cannot be made of values or lose theirs")
    }
    guard property.collection == reading.collection else {
      throw ToolError(
        "--type \(edit.name):\(edit.word): '\(edit.name)' is "
          + (property.collection == .none ? "a single value" : "a \(property.collection)")
          + ", and stays one")
    }
    entries[place].property.type = reading.type
    entries[place].property.isOptional =
      reading.type != .any && (property.isOptional || property.type == .any || reading.isOptional)
    if property.isIndexed, !ValueTypes.indexed.contains(reading.type) {
      throw ToolError(
        "'\(edit.name)' has an index, which \(ValueText.name(of: reading.type)) cannot have "
          + "(--no-index \(edit.name) drops it)")
    }
  }

  private mutating func makeNullable(_ name: String) throws {
    let place = try place(of: name)
    let property = entries[place].property
    if property.isPrimaryKey {
      throw ToolError("'\(name)' is the primary key, which cannot be null")
    }
    if property.collection != .none {
      throw ToolError("'\(name)' is a \(property.collection), which cannot be null")
    }
    if property.type != .any { entries[place].property.isOptional = true }
  }

  private mutating func index(_ name: String) throws {
    let place = try place(of: name)
    let property = entries[place].property
    guard property.collection == .none, ValueTypes.indexed.contains(property.type) else {
      throw ToolError(
        "'\(name)' cannot have an index: only single values of the types "
          + ValueTypes.indexed.map(ValueText.name(of:)).joined(separator: ", ") + " can")
    }
    entries[place].property.isIndexed = true
  }

  private mutating func rename(_ renamed: [(from: String, to: String)]) throws {
    let places = try renamed.map { try place(of: $0.from) }
    for (place, (_, to)) in zip(places, renamed) {
      try refuseTaken(to)
      entries[place].property.name = to
    }
    let names = Dictionary(uniqueKeysWithValues: renamed.map { ($0.from, $0.to) })
    for rule in described.uniqueRules.map({ $0.map { described[$0].name } }) {
      if rule.contains(where: dropped.contains) {
        lostRules.append(rule)
      } else {
        rules.append(rule.map { names[$0] ?? $0 })
      }
    }
  }

  // MARK: - Report

  /// A line for each change; empty if nothing changes.
  func lines(_ working: StoreSchema) -> [String] {
    var lines: [String] = []
    func type(_ column: ColumnSchema, _ schema: StoreSchema) -> String {
      printable(SchemaText.type(of: column, schema))
    }
    for entry in entries {
      let name = printable(entry.property.name)
      guard let new = working[described.id]?.named(entry.property.name) else { continue }
      guard let former = entry.former else {
        lines.append("+ \(name): \(type(new, working))")
        continue
      }
      if former.name != new.name { lines.append("~ \(printable(former.name)) → \(name)") }
      let types = (type(former, stored), type(new, working))
      if types.0 != types.1 { lines.append("~ \(name): \(types.0) → \(types.1)") }
      if former.isIndexed != new.isIndexed {
        lines.append("~ \(name): \(new.isIndexed ? "indexed" : "no longer indexed")")
      }
    }
    for column in described.shownColumns where dropped.contains(column.name) {
      lines.append("- \(printable(column.name)): \(type(column, stored))")
    }
    return lines + lostRules.map { "- unique: " + $0.map { printable($0) }.joined(separator: ", ") }
  }

  // MARK: - Migration

  private var definition: ClassDefinition {
    ClassDefinition(
      name: described.name, properties: entries.map(\.property), isEmbedded: described.isEmbedded,
      uniqueRules: rules)
  }

  /// Prepares the change.
  ///
  /// - Parameter version: the schema version that the file gets.
  func migration(_ snapshot: Snapshot, to version: UInt64, _ path: String) throws -> SchemaMigration
  {
    let migration = try SchemaMigration(snapshot, to: version, [definition], path: path) {}
    if let problem = migration.plan.working.inconsistency { throw ToolError(problem) }
    for entry in entries {
      guard let former = entry.former,
        let new = migration.plan.working[described.id]?.named(entry.property.name),
        new.id != former.id
      else { continue }
      if new.type != former.type {
        try widen(former, new, migration)
      } else if new.name != former.name {
        try migration.takeOver(former.id, new.id, in: described.id)
      }
    }
    return migration
  }

  private func widen(
    _ former: ColumnSchema, _ new: ColumnSchema, _ migration: SchemaMigration
  ) throws {
    for key in try migration.session.allKeys(in: described.id) {
      try Interruption.check()
      let content = try Rows(migration.old).content(of: former, at: key, in: described.id)
      let identity = try ContentJSON.name(of: key, in: described.id, Rows(migration.old))
      let widened = try content.widened(to: new) { value in
        ToolError(
          "\(described.name) \(ValueText.shown(identity)): '\(former.name)' has "
            + "\(value), which \(ValueText.name(of: new.type)) does not hold; "
            + "nothing was changed")
      }
      if case .value(.null) = widened { continue }
      try migration.session.put(widened, new, at: key, in: described.id)
    }
  }
}

extension ClassDefinition.Property {
  /// A file's column as a property.
  init(_ column: ColumnSchema, of described: ClassSchema, in schema: StoreSchema) {
    self.init(
      name: column.name, type: column.type, collection: column.collection,
      isOptional: column.isOptional, isIndexed: column.isIndexed,
      isPrimaryKey: column.id == described.primaryKey,
      target: column.target.flatMap { schema[$0]?.name }, deleteRule: column.deleteRule,
      domain: column.domain)
  }
}

/// The types that `alter` accepts.
enum ValueTypes {
  /// The types that can have an index. Columns of links and of `AnyRealmValue` always have one.
  static let indexed: [ColumnType] = [.int, .bool, .string, .date, .objectID, .uuid]
  static let names = ValueText.typeNames.joined(separator: ", ")
}
