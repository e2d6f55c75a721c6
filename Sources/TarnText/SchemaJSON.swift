package import TarnStore

/// Why JSON is not a list of classes.
package struct SchemaJSONError: Error, Equatable, Sendable, CustomStringConvertible {
  package let message: String

  init(_ message: String) { self.message = message }

  package var description: String { message }
}

/// Classes as JSON, which `tarn create` reads.
///
///     [{"class":"Dog","key":"id","columns":[{"name":"id","type":"int"},…],"unique":[["a","b"]]}]
package enum SchemaJSON {
  package static func json(_ classes: [ClassSchema], _ schema: StoreSchema) -> JSONValue {
    .array(classes.map { json($0, schema) })
  }

  private static func json(_ described: ClassSchema, _ schema: StoreSchema) -> JSONValue {
    var members = [JSONMember("class", .string(described.name))]
    if described.isEmbedded { members.append(JSONMember("embedded", .bool(true))) }
    if let key = described.primaryKey {
      members.append(JSONMember("key", .string(described[key].name)))
    }
    let columns = described.shownColumns
    members.append(JSONMember("columns", .array(columns.map { json($0, schema) })))
    if !described.uniqueRules.isEmpty {
      let rules = described.uniqueRules.map { rule in
        JSONValue.array(rule.map { .string(described[$0].name) })
      }
      members.append(JSONMember("unique", .array(rules)))
    }
    return .object(members)
  }

  private static func json(_ column: ColumnSchema, _ schema: StoreSchema) -> JSONValue {
    var members = [
      JSONMember("name", .string(column.name)),
      JSONMember("type", .string(ValueText.name(of: column.type))),
    ]
    if column.collection != .none {
      members.append(JSONMember("collection", .string("\(column.collection)")))
    }
    if let target = column.target.flatMap({ schema[$0] }) {
      members.append(JSONMember("target", .string(target.name)))
    }
    for (name, isTrue) in [
      ("optional", column.isOptional), ("indexed", column.isIndexed),
      ("cascade", column.deleteRule == .cascade),
    ] where isTrue {
      members.append(JSONMember(name, .bool(true)))
    }
    return .object(members)
  }

  // MARK: - Reading

  /// - Throws: `SchemaJSONError` that names the fault.
  package static func classes(_ json: JSONValue) throws -> [ClassDefinition] {
    guard case .array(let items) = json else { throw SchemaJSONError("the schema is not a list") }
    let classes = try items.enumerated().map { index, item in
      try definition(Members(item, "class \(index + 1)"))
    }
    if let name = repeated(classes.map(\.name)) {
      throw SchemaJSONError("two classes are called '\(name)'")
    }
    return classes
  }

  /// A name that is given twice, perhaps in another spelling of the same letters.
  private static func repeated(_ names: [String]) -> String? {
    var met: Set<String> = []
    return names.first { !met.insert($0).inserted }
  }

  private static func definition(_ members: Members) throws -> ClassDefinition {
    let name = try members.string("class")
    let key = try members.optionalString("key")
    let columns = try members.items("columns").map { item in
      try property(Members(item, "a column of class \(name)"), key)
    }
    if let column = repeated(columns.map(\.name)) {
      throw SchemaJSONError("class \(name) has two columns called '\(column)'")
    }
    if let key, !columns.contains(where: { $0.name == key }) {
      throw SchemaJSONError("class \(name) has no column '\(key)' to be its key")
    }
    let rules = try members.items("unique").map { rule in
      guard case .array(let names) = rule else {
        throw SchemaJSONError("a unique rule of class \(name) is not a list of columns")
      }
      return try names.map { item in
        guard case .string(let text) = item else {
          throw SchemaJSONError("a unique rule of class \(name) is not a list of columns")
        }
        return text
      }
    }
    let isEmbedded = try members.bool("embedded")
    try members.finish()
    return ClassDefinition(
      name: name, properties: columns, isEmbedded: isEmbedded, uniqueRules: rules)
  }

  private static func property(
    _ members: Members, _ key: String?
  ) throws -> ClassDefinition.Property {
    let name = try members.string("name")
    let typeName = try members.string("type")
    guard let type = typeName == "link" ? .link : ValueText.type(named: typeName) else {
      throw SchemaJSONError(
        "column '\(name)' has the unknown type '\(typeName)'; there are "
          + ValueText.typeNames.joined(separator: ", ") + ", link")
    }
    var collection = CollectionKind.none
    if let word = try members.optionalString("collection") {
      guard let found = CollectionKind.allCases.first(where: { "\($0)" == word }) else {
        throw SchemaJSONError("column '\(name)' is neither a list, a set nor a map, but '\(word)'")
      }
      collection = found
    }
    let target = try members.optionalString("target")
    guard (type == .link) == (target != nil) else {
      throw SchemaJSONError("column '\(name)': links, and only they, have a target")
    }
    let property = ClassDefinition.Property(
      name: name, type: type, collection: collection, isOptional: try members.bool("optional"),
      isIndexed: try members.bool("indexed"), isPrimaryKey: name == key, target: target,
      deleteRule: try members.bool("cascade") ? .cascade : .nullify)
    try members.finish()
    return property
  }

  /// The members of an object, each asked for by name.
  private final class Members {
    private let members: [JSONMember]
    private let place: String
    private var known: Set<String> = []

    init(_ json: JSONValue, _ place: String) throws {
      guard case .object(let members) = json else {
        throw SchemaJSONError("\(place) is not an object")
      }
      self.members = members
      self.place = place
    }

    private func value(_ name: String) -> JSONValue? {
      known.insert(name)
      return members.last { $0.name == name }?.value
    }

    func optionalString(_ name: String) throws -> String? {
      switch value(name) {
      case nil: return nil
      case .string(let text)?: return text
      default: throw SchemaJSONError("\(place): \"\(name)\" is not text")
      }
    }

    func string(_ name: String) throws -> String {
      guard let text = try optionalString(name) else {
        throw SchemaJSONError("\(place) has no \"\(name)\"")
      }
      return text
    }

    func bool(_ name: String) throws -> Bool {
      switch value(name) {
      case nil: return false
      case .bool(let value)?: return value
      default: throw SchemaJSONError("\(place): \"\(name)\" is neither true nor false")
      }
    }

    func items(_ name: String) throws -> [JSONValue] {
      switch value(name) {
      case nil: return []
      case .array(let items)?: return items
      default: throw SchemaJSONError("\(place): \"\(name)\" is not a list")
      }
    }

    func finish() throws {
      if let other = members.first(where: { !known.contains($0.name) }) {
        throw SchemaJSONError("\(place) has the unknown member \"\(other.name)\"")
      }
    }
  }
}
