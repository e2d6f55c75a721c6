import TarnStore

/// A property as a column of a class's table.
struct ServerColumn: Equatable, Sendable {
  let name: String
  /// PostgreSQL's type and collation: `text COLLATE "C"`.
  let type: String
  /// The default for rows that SQL inserts without the column; nil for an optional property.
  let standard: String?
  /// Whether the value has parts that are merged separately, and is a jsonb.
  let isStructured: Bool
  /// The condition that its values must satisfy so that a property can hold them; nil for a type
  /// all of whose values can be held.
  let check: String?

  /// - Parameter targetKey: the column of the target's primary key, for a link.
  init(_ column: ColumnSchema, embedded: Bool, targetKey: ColumnSchema?) {
    name = column.name
    if column.collection != .none || embedded || column.type == .any {
      (type, isStructured) = ("jsonb", true)
      let jsonType = "jsonb_typeof(\(SQLText.name(name)))"
      switch column.collection {
      case .list, .set: (standard, check) = ("'[]'", "\(jsonType) = 'array'")
      case .map: (standard, check) = ("'{}'", "\(jsonType) = 'object'")
      case .none: (standard, check) = (nil, embedded ? "\(jsonType) IN ('object', 'null')" : nil)
      }
      return
    }
    isStructured = false
    let valueType = targetKey?.type ?? column.type
    check = valueType == .objectID ? "octet_length(\(SQLText.name(name))) = 12" : nil
    let scalar = Self.scalar(valueType)
    type = scalar.type
    standard = column.isOptional || column.type == .link ? nil : scalar.standard
  }

  /// - Parameter schema: the file's schema, for the target of a link.
  init(_ column: ColumnSchema, in schema: StoreSchema) {
    let target = column.target.flatMap { schema[$0] }
    self.init(
      column, embedded: target?.isEmbedded == true,
      targetKey: target.flatMap { target in target.primaryKey.map { target[$0] } })
  }

  /// A column that only the server has.
  init(name: String, type: String) {
    self.name = name
    self.type = SQLTypeName(type).text
    (standard, check) = (nil, nil)
    isStructured = type == "jsonb"
  }

  private static func scalar(_ type: ColumnType) -> (type: String, standard: String) {
    switch type {
    case .int, .link: ("bigint", "0")
    case .bool: ("boolean", "false")
    // Compared by bytes, as in a store, so an update of ICU or libc changes no index.
    case .string: ("text COLLATE \"C\"", "''")
    case .data: ("bytea", "''")
    case .date: ("timestamp with time zone", "'1970-01-01 00:00:00+00'")
    case .float: ("real", "0")
    case .double: ("double precision", "0")
    case .objectID: ("bytea", "E'\\\\x000000000000000000000000'")
    case .decimal: ("numeric", "0")
    case .uuid: ("uuid", "'00000000-0000-0000-0000-000000000000'")
    case .any: ("jsonb", "'null'")
    }
  }

  var isText: Bool { SQLTypeName(type).propertyType == .string }

  /// Whether the property can use an existing column, whose type may be narrower in an
  /// application's table: the server then refuses values that do not fit.
  func fits(_ other: ServerColumn) -> Bool {
    let (own, others) = (SQLTypeName(type), SQLTypeName(other.type))
    if let type = own.propertyType { return type == others.propertyType }
    return own.base == others.base
  }

  /// In the form of `CREATE TABLE` and `ADD COLUMN`.
  var definition: String {
    SQLText.name(name) + " " + type + (standard.map { " NOT NULL DEFAULT \($0)" } ?? "")
      + (check.map { " CHECK (\($0))" } ?? "")
  }
}
