/// A table of an application, and what stands against making it a class.
struct AdoptedTable {
  /// With its schema, quoted.
  let name: String
  let schema: String
  let owner: String
  let isOfSuperuser: Bool
  /// Whether the owner of our functions may use the schema.
  let isInReach: Bool
  let columns: [Column]
  private let kind: String
  private let isUnlogged: Bool
  private let hasChildren: Bool
  private let keyCount: Int

  struct Column {
    let name: String
    let type: String
    let isKey: Bool
    /// Whether an insert without it fails.
    let isRequired: Bool
    let isGenerated: Bool
    /// Whether rows can be inserted with a value for it.
    let isAlwaysIdentity: Bool
    /// The text is ordered by bytes.
    let isByteOrdered: Bool
    let isDeterministic: Bool

    var isProperty: Bool { !isGenerated && isKnownType }
    var isLeft: Bool { !isProperty }
    var reason: String { isGenerated ? "a generated column" : "of type \(type)" }

    private var isKnownType: Bool {
      switch type {
      case "bigint", "integer", "smallint", "boolean", "text", "bytea", "real", "double precision",
        "uuid", "jsonb":
        true
      default:
        type.hasPrefix("character varying") || type.hasPrefix("numeric")
          || type.hasPrefix("timestamp") && type.hasSuffix("with time zone")
      }
    }
  }

  /// - Throws: `ServerError` if the table does not exist.
  init(
    _ table: String, _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) {
    let rows = try connection.query(
      """
      SELECT format('%I.%I', n.nspname, c.relname), n.nspname, r.rolname, r.rolsuper,
        has_schema_privilege($2, n.oid, 'USAGE'), c.relkind, c.relpersistence <> 'p',
        EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid),
        coalesce((SELECT i.indnkeyatts FROM pg_index i
          WHERE i.indrelid = c.oid AND i.indisprimary), 0), c.oid
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_roles r ON r.oid = c.relowner WHERE c.oid = to_regclass($1)
      """, [table, ServerSchema.owner], for: operation)
    guard let row = rows.first, let oid = row[9] else {
      throw ServerError(operation, "the database does not have a table \(table)")
    }
    (name, schema, owner) = (row[0] ?? "", row[1] ?? "", row[2] ?? "")
    (isOfSuperuser, isInReach) = (row[3] == "t", row[4] == "t")
    (kind, isUnlogged, hasChildren) = (row[5] ?? "", row[6] == "t", row[7] == "t")
    keyCount = row[8].flatMap { Int($0) } ?? 0
    columns = try Self.columns(of: oid, connection, operation)
  }

  private static func columns(
    of table: String, _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) -> [Column] {
    let rows = try connection.query(
      """
      SELECT a.attname, format_type(a.atttypid, a.atttypmod),
        coalesce(a.attnum = ANY (i.indkey), false),
        a.attnotnull AND NOT a.atthasdef AND a.attidentity = '', a.attgenerated <> '',
        a.attidentity = 'a', coalesce(l.collname IN ('C', 'POSIX'), true),
        coalesce(l.collisdeterministic, true)
      FROM pg_attribute a
      LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
      LEFT JOIN pg_collation l ON l.oid = a.attcollation
      WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
      """, [table], for: operation)
    return rows.map { row in
      Column(
        name: row[0] ?? "", type: row[1] ?? "", isKey: row[2] == "t", isRequired: row[3] == "t",
        isGenerated: row[4] == "t", isAlwaysIdentity: row[5] == "t", isByteOrdered: row[6] == "t",
        isDeterministic: row[7] == "t")
    }
  }

  /// The column of the primary key; empty without one.
  var key: String { columns.first { $0.isKey }?.name ?? "" }

  /// Whether the order of the key's own index is not that of bytes, in which replicas read pages.
  var needsByteOrder: Bool { columns.contains { $0.isKey && !$0.isByteOrdered } }

  /// Everything that stands against making it a class.
  var problems: [String] {
    var problems: [String] = []
    if kind != "r" { problems.append("it is not an ordinary table") }
    if isUnlogged { problems.append("it is temporary or unlogged, so that a crash empties it") }
    if hasChildren { problems.append("it has child tables, whose rows its triggers do not see") }
    if keyCount != 1 {
      problems.append("it needs a primary key of one column, by which replicas know its objects")
    }
    for column in columns { problems += self.problems(of: column) }
    return problems
  }

  private func problems(of column: Column) -> [String] {
    var problems: [String] = []
    if column.isKey, keyCount == 1 {
      let types = ["bigint", "integer", "smallint", "text", "uuid", "bytea"]
      if !types.contains(column.type), !column.type.hasPrefix("character varying") {
        problems.append(
          "its primary key \(column.name) is of type \(column.type); it must be an integer, text, "
            + "uuid, or bytea of an object id")
      }
      if !column.isDeterministic {
        problems.append("the collation of its primary key takes different texts for one key")
      }
    }
    if column.isProperty, column.isAlwaysIdentity {
      problems.append(
        "\(column.name) is GENERATED ALWAYS AS IDENTITY, so replicas could not insert; "
          + "ALTER COLUMN \(column.name) SET GENERATED BY DEFAULT")
    }
    if column.isLeft, column.isRequired, !column.isGenerated {
      problems.append(
        "\(column.name) of type \(column.type) must have a value, which replicas do not have; "
          + "give it a default")
    }
    return problems
  }
}
