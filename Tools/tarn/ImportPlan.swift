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
  /// The classes of the file before it gets the columns that it lacks.
  private let stored: StoreSchema

  /// - Parameters:
  ///   - stored: the schema of the file as it is.
  ///   - found: the columns of the input in their order.
  init(
    _ className: String, stored: StoreSchema, found: [ColumnReading], key: String?
  ) throws {
    self.className = className
    self.stored = stored
    let known = stored.named(className)
    var readings = known?.columns.filter { !$0.isRemoved }.map { ColumnReading($0) } ?? []
    let names = Set(readings.map(\.name))
    if known?.isEmbedded == true {
      throw ToolError(
        "class \(className) is embedded: its objects are imported within those that have them")
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
            && (column.isOptional || known != nil && column.collection == .none)))
    }
    self.key = known == nil ? key : storedKey
    if let key = self.key, !readings.contains(where: { $0.name == key }) {
      throw ToolError("the key '\(key)' is no column of the input")
    }
    columns = Dictionary(uniqueKeysWithValues: readings.map { ($0.name, $0) })
    definition = ClassDefinition(
      name: className,
      properties: readings.map { [key = self.key] column in
        let described = known?.named(column.name)
        return ClassDefinition.Property(
          name: column.name, type: column.type, collection: column.collection,
          isOptional: described?.isOptional ?? (column.isOptional && column.type != .any),
          isIndexed: described?.isIndexed ?? false, isPrimaryKey: column.name == key,
          target: column.target.flatMap { stored[$0]?.name },
          deleteRule: described?.deleteRule ?? .nullify)
      })
    if let key = self.key, let type = columns[key]?.type,
      ![.int, .string, .uuid, .objectID].contains(type) || columns[key]?.collection != .some(.none)
    {
      throw ToolError(
        "'\(key)' is of type \(ValueText.name(of: type)), which a primary key cannot be; "
          + "--types \(key):string makes it a text")
    }
  }

  /// What the record says, by the columns' names.
  ///
  /// - Parameter links: nil to leave links out, where nothing can be looked up yet.
  func contents(_ record: ImportRecord, _ links: LinkFinder?) throws -> [String: Content] {
    let parser = ContentParser(schema: links?.schema ?? stored, links: links)
    var contents: [String: Content] = [:]
    contents.reserveCapacity(record.fields.count)
    for field in record.fields {
      guard let column = columns[field.name] else { continue }
      contents[field.name] = try parser.content(field.value, column)
    }
    if key != nil, keyValue(contents) == nil { throw ToolError("no '\(key ?? "")'") }
    return contents
  }

  /// The primary key among them, nil where there is none.
  func keyValue(_ contents: [String: Content]) -> Value? {
    guard let key, case .value(let value)? = contents[key], value != .null else { return nil }
    return value
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
      let word = String(item[item.index(after: colon)...])
      guard let reading = ColumnReading(name: String(item[..<colon]), typeName: word) else {
        let names = ValueText.typeNames.joined(separator: ", ")
        throw UsageError(
          "--types: no type '\(word)'; there are \(names), and list<…>, set<…>, map<…> of them")
      }
      columns.append(reading)
    }
  }

  func type(of name: String) -> ColumnReading? { columns.last { $0.name == name } }
}

extension ColumnReading {
  /// What `int`, `string?`, `list<int>`, `set<string>` and `map<double?>` say; nil for others.
  init?(name: String, typeName: String) {
    var word = Substring(typeName)
    var collection = CollectionKind.none
    if word.last == ">", let open = word.firstIndex(of: "<") {
      switch word[..<open].lowercased() {
      case "list": collection = .list
      case "set": collection = .set
      case "map": collection = .map
      default: return nil
      }
      word = word[word.index(after: open)...].dropLast()
    }
    let isOptional = word.last == "?"
    if isOptional { word.removeLast() }
    guard let type = ValueText.type(named: String(word)) else { return nil }
    self.init(name: name, type: type, collection: collection, isOptional: isOptional)
  }
}
