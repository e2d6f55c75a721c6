import TarnStore
import TarnText
import ToolSupport

/// The columns that an import fills: the existing ones of the class and those it adds.
struct ImportPlan {
  let className: String
  /// All columns that the class will have, by name.
  private(set) var columns: [String: ColumnReading]
  /// The class after the import, for the schema.
  let definition: ClassDefinition
  /// The embedded classes that new columns need.
  var embedded: [ClassDefinition] = []
  /// Whether a record with a field that the class lacks is an error.
  var refusesUnknown = false
  /// The columns whose dates are given as numbers.
  var unixTimes: [String: UnixTime] = [:]
  /// Whether columns missing from a record become the zeros of their types.
  var usesDefaults = false
  /// Whether numbers that their columns do not hold are rounded.
  var rounds = false
  /// Whether an existing column becomes nullable, which needs a migration.
  let widens: Bool
  /// The primary key, if there is one.
  let key: String?
  /// The class's id now, or after the import.
  private(set) var classID: ClassID
  /// The file's classes after the import.
  private(set) var schema: StoreSchema
  /// The columns that a new object needs values for.
  private var required: [String] = []

  /// - Parameters:
  /// - stored: the file's schema before the import.
  /// - found: the columns of the input in their order.
  /// - nullable: the columns that are to be nullable.
  init(
    _ className: String, stored: StoreSchema, found: [ColumnReading], key: String?,
    nullable: Set<String>
  ) throws {
    self.className = className
    schema = stored
    classID = ClassID(0)
    let known = stored.named(className)
    var readings = known?.shownColumns.map { ColumnReading($0) } ?? []
    let names = Set(readings.map(\.name))
    if known?.isEmbedded == true {
      throw ToolError(
        "class \(className) is embedded: its objects are imported as part of their owners")
    }
    let storedKey = known.flatMap { known in known.primaryKey.map { known[$0].name } }
    if known != nil, let key, key != storedKey {
      throw ToolError(
        "class \(className) has \(storedKey.map { "the primary key '\($0)'" } ?? "no primary key")"
          + ", not '\(key)'")
    }
    for column in found where !names.contains(column.name) {
      let isKey = known == nil && column.name == key
      // Existing objects have no value for a new column.
      readings.append(
        ColumnReading(
          name: column.name, type: column.type, collection: column.collection,
          isOptional: !isKey
            && (column.isOptional || known != nil && column.collection == .none
              || nullable.contains(column.name)),
          targetName: column.targetName))
    }
    self.key = known == nil ? key : storedKey
    if let key = self.key, !readings.contains(where: { $0.name == key }) {
      throw ToolError("the key '\(key)' is not a column of the input")
    }
    columns = Dictionary(uniqueKeysWithValues: readings.map { ($0.name, $0) })
    try GivenNullables.check(nullable, columns, key: self.key)
    let widened = readings.filter { $0.isRequired && nullable.contains($0.name) }.map(\.name)
    widens = !widened.isEmpty
    definition = ClassDefinition(
      name: className,
      properties: readings.map { [key = self.key] column in
        let described = known?.named(column.name)
        return ClassDefinition.Property(
          name: column.name, type: column.type, collection: column.collection,
          isOptional: widened.contains(column.name)
            || described?.isOptional ?? (column.isOptional && column.type != .any),
          isIndexed: described?.isIndexed ?? false, isPrimaryKey: column.name == key,
          target: column.target.flatMap { stored[$0]?.name } ?? column.targetName,
          deleteRule: described?.deleteRule ?? .nullify)
      },
      uniqueRules: known.map { known in known.uniqueRules.map { $0.map { known[$0].name } } } ?? [])
    if let key = self.key, let type = columns[key]?.type,
      ![.int, .string, .uuid, .objectID].contains(type) || columns[key]?.collection != .some(.none)
    {
      throw ToolError(
        "'\(key)' is of type \(ValueText.name(of: type)), which cannot be a primary key; "
          + "--types \(key):string makes it a string")
    }
  }

  /// The plans of several classes, which may link to each other, and all that the file will have.
  ///
  /// - Parameter path: the file, for messages.
  static func settled(
    _ plans: [ImportPlan], stored: StoreSchema, path: String
  ) throws -> [ImportPlan] {
    let wanted = plans.flatMap { $0.embedded + [$0.definition] }
    try ClassDefinition.requireRoom(for: wanted, addingTo: stored, path: path)
    let names = Set(wanted.map(\.name))
    for plan in plans {
      for case (let column, let target?) in plan.columns.map({ ($0.key, $0.value.targetName) })
      where !names.contains(target) && stored.named(target)?.isVacant != false {
        throw ToolError(
          "--types \(column):\(target): '\(target)' is not a type, nor a class of the file or of "
            + "this import; types are \(GivenTypes.known)")
      }
    }
    let schema =
      plans.contains(where: \.widens)
      ? MigrationPlan(stored: stored, wanted: wanted).working
      : SchemaPlan(stored: stored, wanted: wanted).schema
    return plans.map { plan in
      var plan = plan
      plan.schema = schema
      guard let described = schema.named(plan.className) else { return plan }
      plan.classID = described.id
      for column in described.columns where !column.isRemoved {
        var reading = ColumnReading(column)
        reading.unixTime = plan.unixTimes[column.name]
        plan.columns[column.name] = reading
        if reading.isRequired { plan.required.append(column.name) }
      }
      return plan
    }
  }

  /// The values read from a record.
  struct Found {
    /// By column name.
    var contents: [String: Content] = [:]
    /// The fields that wait for the objects they link to.
    var waiting: [ImportField] = []
    /// The errors of the links that are left out.
    var leftOut: [ToolError] = []
  }

  /// - Parameter leavesOut: whether links to missing objects are left out. Otherwise they are
  ///   errors.
  func contents(
    _ record: ImportRecord, _ links: any LinkFinding, leavingOut leavesOut: Bool = false
  ) throws -> Found {
    var found = Found()
    found.contents.reserveCapacity(record.fields.count)
    for field in record.fields {
      guard let column = columns[field.name] else {
        guard refusesUnknown, !field.value.isNull else { continue }
        throw ToolError(
          "column '\(field.name)': neither the class nor the first lines have it "
            + "(--types \(field.name):… adds it)")
      }
      try read(field, column, links, leavesOut, &found)
    }
    if key != nil, keyValue(found.contents) == nil { throw ToolError("no '\(key ?? "")'") }
    return found
  }

  /// The contents of one field.
  func content(
    of field: ImportField, _ links: any LinkFinding, leavingOut leavesOut: Bool
  ) throws -> Found {
    var found = Found()
    if let column = columns[field.name] { try read(field, column, links, leavesOut, &found) }
    return found
  }

  private func read(
    _ field: ImportField, _ column: ColumnReading, _ links: any LinkFinding, _ leavesOut: Bool,
    _ found: inout Found
  ) throws {
    var leftOut: [ToolError] = []
    let parser = ContentParser(
      schema: schema, links: links, usesDefaults: usesDefaults, rounds: rounds,
      leaveOut: leavesOut ? { leftOut.append($0) } : nil)
    do {
      let content = try parser.content(field.value, column)
      if links.takeWaiting() {
        found.waiting.append(field)
        return
      }
      found.contents[field.name] = content
    } catch is LinkIsLeftOut {
      // The property stays as it is.
    }
    found.leftOut += leftOut
  }

  /// - Throws: if the record lacks a column that a new object needs.
  func checkComplete(_ contents: [String: Content]) throws {
    if usesDefaults { return }
    for name in required where contents[name] == nil {
      throw ToolError(
        "column '\(name)' is missing, and class \(className) does not allow null there "
          + "(--nullable \(name) allows it, --defaults uses 0, false, \"\" and the like)")
    }
  }

  /// The error for an object that exists already.
  func taken(_ value: Value) -> ToolError {
    ToolError(
      "there is a \(className) '\(ValueText.shown(value))' already (use --update to change it)")
  }

  /// The primary key in the contents; nil without one.
  func keyValue(_ contents: [String: Content]) -> Value? {
    guard let key, case .value(let value)? = contents[key], value != .null else { return nil }
    return value
  }
}
