import TarnStore

/// A property of a condition as an SQL term: a column of the class's table, the key in a link
/// column, or a property of an embedded object.
struct ConditionColumn {
  /// Null if the property is nil, or an embedded object on the path to it.
  let term: SQLCondition
  /// For a link, or the key of its target, the type of the target's primary key.
  let type: ColumnType
  /// For messages.
  let name: String

  /// - Throws: `PredicateError` for a property that is not in the table.
  init(_ path: ColumnPath, _ schema: StoreSchema) throws(PredicateError) {
    let steps = path.links.map { schema[$0.classID]?[$0.column].name ?? "" }
    let last = schema[path.classID]?[path.column]
    let names = steps + [last?.name ?? ""]
    let owner = path.links.first.flatMap { schema[$0.classID] } ?? schema[path.classID]
    name = "\(owner?.name ?? "").\(names.joined(separator: "."))"
    guard path.type != .any else {
      throw PredicateError(
        "a subscription cannot compare \(name), an AnyRealmValue: it is not a column of one type")
    }
    if path.links.isEmpty {
      (term, type) = Self.column(path, SQLText.name(names[0]), schema)
      return
    }
    let targets = path.links.map { schema[$0.target] }
    if targets.count == 1, let target = targets[0], !target.isEmbedded,
      target.primaryKey == path.column
    {
      (term, type) = (Self.compared(SQLText.name(names[0]), path.type), path.type)
      return
    }
    guard targets.allSatisfy({ $0?.isEmbedded == true }) else {
      throw PredicateError(
        "a subscription cannot follow the link \(name): it names properties of the class itself and"
          + " of embedded objects, and the primary key behind a link")
    }
    term = try Self.embedded(names, path.type, name)
    type = path.type
  }

  private static func column(
    _ path: ColumnPath, _ quoted: String, _ schema: StoreSchema
  ) -> (term: SQLCondition, type: ColumnType) {
    guard path.type == .link, let target = path.target.flatMap({ schema[$0] }) else {
      return (compared(quoted, path.type), path.type)
    }
    if target.isEmbedded {
      return ("CASE WHEN jsonb_typeof(\(sql: quoted)) = 'object' THEN true END", .bool)
    }
    let type = target.primaryKey.map { target[$0].type } ?? .int
    return (compared(quoted, type), type)
  }

  /// An application's table may sort its texts differently.
  private static func compared(_ quoted: String, _ type: ColumnType) -> SQLCondition {
    SQLCondition(sql: type == .string ? "(\(quoted) COLLATE \"C\")" : quoted)
  }

  /// No cast fails, whatever SQL has written there.
  private static func embedded(
    _ names: [String], _ type: ColumnType, _ described: String
  ) throws(PredicateError) -> SQLCondition {
    let path = SQLConstant(path: Array(names.dropFirst()))
    let column = SQLText.name(names[0])
    let json: SQLCondition = "(\(sql: column) #> \(path))"
    let text: SQLCondition = "(\(sql: column) #>> \(path))"
    func when(_ kind: String, _ value: SQLCondition) -> SQLCondition {
      "(CASE WHEN jsonb_typeof\(json) = '\(sql: kind)' THEN \(value) END)"
    }
    switch type {
    case .int: return when("number", "\(text)::numeric")
    case .bool: return when("boolean", "\(text)::boolean")
    case .string: return when("string", "\(text) COLLATE \"C\"")
    default:
      throw PredicateError(
        "a subscription cannot compare \(described) of type \(type): of embedded objects it"
          + " compares integers, strings and Booleans")
    }
  }
}
