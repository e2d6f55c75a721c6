import TarnStore
import ToolSupport

/// Which columns an import fills: those that the class has, and those that it gets.
struct ImportPlan {
  let className: String
  /// By name, all that the class will have.
  private(set) var columns: [String: ColumnReading]
  /// The class as it will be, for the schema.
  let definition: ClassDefinition
  /// Classes that new columns need.
  var embedded: [ClassDefinition] = []
  /// Whether a record may not have fields that the class does not have.
  var refusesUnknown = false
  /// The columns whose dates come as numbers.
  var unixTimes: [String: UnixTime] = [:]
  /// Whether a new object gets the zeros of types for columns that its record lacks.
  var usesDefaults = false
  /// Whether a column of the file is made nullable, which takes a migration.
  let widens: Bool
  /// The column that names an object, if there is one.
  let key: String?
  /// The id that the class has, or will have.
  private(set) var classID: ClassID
  /// The classes of the file as they will be.
  private(set) var schema: StoreSchema
  /// The columns that a new object must be given values for.
  private var required: [String] = []

  /// - Parameters:
  ///   - stored: the schema of the file as it is.
  ///   - found: the columns of the input in their order.
  ///   - nullable: the columns that are to allow null.
  init(
    _ className: String, stored: StoreSchema, found: [ColumnReading], key: String?,
    nullable: Set<String>
  ) throws {
    self.className = className
    schema = stored
    classID = ClassID(0)
    let known = stored.named(className)
    var readings = known?.columns.filter { !$0.isRemoved }.map { ColumnReading($0) } ?? []
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
      // Objects that are there already have no value for a new column.
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
          + "--types \(key):string makes it a text")
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
          "--types \(column):\(target): there is no class '\(target)', neither in the file nor in "
            + "this import, and no such type; there are \(GivenTypes.known)")
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

  /// What the record says, by the columns' names, and the fields that wait for what they link to.
  func contents(
    _ record: ImportRecord, _ links: any LinkFinding
  ) throws -> (contents: [String: Content], waiting: [ImportField]) {
    let parser = ContentParser(schema: schema, links: links, usesDefaults: usesDefaults)
    var contents: [String: Content] = [:]
    var waiting: [ImportField] = []
    contents.reserveCapacity(record.fields.count)
    for field in record.fields {
      guard let column = columns[field.name] else {
        guard refusesUnknown, !field.value.isNull else { continue }
        throw ToolError(
          "column '\(field.name)': neither the class nor the first lines have it "
            + "(--types \(field.name):… makes it one)")
      }
      do {
        contents[field.name] = try parser.content(field.value, column)
      } catch is LinkComesLater {
        waiting.append(field)
      }
    }
    if key != nil, keyValue(contents) == nil { throw ToolError("no '\(key ?? "")'") }
    return (contents, waiting)
  }

  /// What single fields say.
  func contents(_ fields: [ImportField], _ links: any LinkFinding) throws -> [String: Content] {
    let parser = ContentParser(schema: schema, links: links, usesDefaults: usesDefaults)
    var contents: [String: Content] = [:]
    for field in fields {
      if let column = columns[field.name] {
        contents[field.name] = try parser.content(field.value, column)
      }
    }
    return contents
  }

  /// - Throws: for a column that a new object needs and its record lacks.
  func checkComplete(_ contents: [String: Content]) throws {
    if usesDefaults { return }
    for name in required where contents[name] == nil {
      throw ToolError(
        "column '\(name)' is missing, and class \(className) does not allow null there "
          + "(--nullable \(name) allows it, --defaults uses 0, false, \"\" and the like)")
    }
  }

  /// Why an object cannot be added.
  func taken(_ value: Value) -> ToolError {
    ToolError(
      "there is a \(className) '\(ValueText.shown(value))' already (use --update to change it)")
  }

  /// The primary key among them, nil where there is none.
  func keyValue(_ contents: [String: Content]) -> Value? {
    guard let key, case .value(let value)? = contents[key], value != .null else { return nil }
    return value
  }
}
