import TarnStore
import ToolSupport

/// Which columns an import fills: those that the class has, and those that it gets.
struct ImportPlan {
  let className: String
  /// By name, all that the class will have.
  let columns: [String: ColumnReading]
  /// The class as it will be, for the schema.
  let definition: ClassDefinition
  /// The column that names an object, if there is one.
  let key: String?

  /// - Parameters:
  ///   - stored: the schema of the file as it is.
  ///   - found: the columns of the input in their order.
  init(
    _ className: String, stored: StoreSchema, found: [ColumnReading], key: String?
  ) throws {
    self.className = className
    let known = stored.named(className)
    var readings = known?.columns.filter { !$0.isRemoved }.map { ColumnReading($0) } ?? []
    let names = Set(readings.map(\.name))
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
          name: column.name, type: column.type,
          isOptional: !isKey && (column.isOptional || known != nil)))
    }
    self.key = known == nil ? key : storedKey
    if let key = self.key, !readings.contains(where: { $0.name == key }) {
      throw ToolError("the key '\(key)' is no column of the input")
    }
    columns = Dictionary(uniqueKeysWithValues: readings.map { ($0.name, $0) })
    definition = ClassDefinition(
      name: className,
      properties: readings.map { [key = self.key] column in
        ClassDefinition.Property(
          name: column.name, type: column.type,
          isOptional: known?.named(column.name)?.isOptional ?? column.isOptional,
          isIndexed: known?.named(column.name)?.isIndexed ?? false,
          isPrimaryKey: column.name == key,
          target: column.target.flatMap { stored[$0]?.name })
      })
    if let key = self.key, let type = columns[key]?.type,
      ![.int, .string, .uuid, .objectID].contains(type)
    {
      throw ToolError(
        "'\(key)' is of type \(ValueText.name(of: type)), which a primary key cannot be; "
          + "--types \(key):string makes it a text")
    }
  }

  /// The record's values, each with its column.
  ///
  /// - Parameter links: nil to leave links out, where nothing can be looked up yet.
  func values(_ record: ImportRecord, _ links: LinkFinder?) throws -> [String: Value] {
    var values: [String: Value] = [:]
    values.reserveCapacity(record.fields.count)
    for field in record.fields {
      guard let column = columns[field.name] else { continue }
      values[field.name] = try column.value(field.value, links)
    }
    if let key {
      guard let value = values[key], value != .null else { throw ToolError("no '\(key)'") }
    }
    return values
  }
}

/// What `--types` says: `size:int,name:string?`.
struct GivenTypes {
  private(set) var columns: [ColumnReading] = []

  init(_ arguments: ParsedArguments) throws {
    for item in arguments.values("types").flatMap({ $0.split(separator: ",") }) {
      guard let colon = item.lastIndex(of: ":") else {
        throw UsageError("--types takes COLUMN:TYPE, not '\(item)'")
      }
      var word = item[item.index(after: colon)...]
      let isOptional = word.last == "?"
      if isOptional { word.removeLast() }
      guard let type = ValueText.type(named: String(word)) else {
        let names = ValueText.typeNames.joined(separator: ", ")
        throw UsageError("--types: no type '\(word)'; there are \(names)")
      }
      columns.append(
        ColumnReading(name: String(item[..<colon]), type: type, isOptional: isOptional))
    }
  }

  func type(of name: String) -> ColumnReading? { columns.last { $0.name == name } }
}
