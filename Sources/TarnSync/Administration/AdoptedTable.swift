import TarnStore

/// A table of an application, and the reasons why it cannot become a class.
struct AdoptedTable {
  /// The quoted name, with its schema.
  let name: String
  let schema: String
  let owner: String
  let isGiven: Bool
  /// Whether the owner of our functions has the rights of the table's owner.
  let isOfOurs: Bool
  let columns: [Column]
  /// The rights in the schema that the owner of our functions lacks: to use it, and to create
  /// indexes in it.
  let lackingRights: [String]
  /// Whether the login can grant these rights.
  private let canGrant: Bool
  /// Whether the login can grant the owner of our functions the rights of the table's owner.
  private let canJoin: Bool
  private let login: String
  /// The primary key and rules, if they are checked at the end of a transaction.
  private let deferrable: [String]
  private let rules: [String]
  private let kind: String
  private let isUnlogged: Bool
  private let hasChildren: Bool
  /// The table whose child or partition it is.
  private let parent: String?
  private let keyCount: Int

  struct Column {
    let name: String
    let type: String
    let isKey: Bool
    /// Whether an insertion without it fails.
    let isRequired: Bool
    let isGenerated: Bool
    /// Whether rows cannot be inserted with a value for it.
    let isAlwaysIdentity: Bool
    /// Whether the text is ordered by bytes.
    let isByteOrdered: Bool
    let isDeterministic: Bool

    var isProperty: Bool { !isGenerated && Self.isKnown(type) }
    var isLeft: Bool { !isProperty }
    var reason: String { isGenerated ? "a generated column" : "of type \(type)" }

    /// The line about a column that new stores do not have, or that is ignored.
    var rest: String? {
      if isLeft { return "left alone: \(name), \(reason)" }
      guard SQLTypeName(type).propertyType == nil else { return nil }
      return "not in new stores yet: \(name), of type \(type). Run 'tarn server migrate' with a "
        + "store that has it as a list, set, map, embedded object or mixed value"
    }

    /// Whether a property can have a column's type.
    static func isKnown(_ type: String) -> Bool {
      let name = SQLTypeName(type)
      return name.propertyType != nil || name.base == "jsonb"
    }
  }

  /// - Throws: `ServerError` if the table does not exist.
  init(
    _ table: TableName.Found, _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) {
    let rows = try connection.query(
      """
      SELECT n.nspname, r.rolname, g.is_given,
        -- It becomes a member of the role that has the table.
        has_schema_privilege($2, n.oid, 'USAGE')
          OR NOT g.is_given AND has_schema_privilege(r.oid, n.oid, 'USAGE'),
        has_schema_privilege($2, n.oid, 'CREATE')
          OR NOT g.is_given AND has_schema_privilege(r.oid, n.oid, 'CREATE'),
        has_schema_privilege(n.oid, 'USAGE WITH GRANT OPTION')
          AND has_schema_privilege(n.oid, 'CREATE WITH GRANT OPTION'),
        c.relkind, c.relpersistence <> 'p',
        EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid),
        coalesce((SELECT i.indnkeyatts FROM pg_index i
          WHERE i.indrelid = c.oid AND i.indisprimary), 0),
        pg_has_role($2, r.oid, 'USAGE'),
        l.rolsuper OR NOT r.rolsuper AND CASE WHEN g.is_given
          THEN pg_has_role(r.oid, 'USAGE') AND pg_has_role($2, 'MEMBER')
          ELSE pg_has_role(r.oid, 'MEMBER WITH ADMIN OPTION')
            -- Before version 16 it was a right of its own.
            OR l.rolcreaterole AND current_setting('server_version_num')::integer < 160000 END,
        l.rolname,
        (SELECT min(i.inhparent::regclass::text) FROM pg_inherits i WHERE i.inhrelid = c.oid)
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_roles r ON r.oid = c.relowner JOIN pg_roles l ON l.rolname = current_user
      CROSS JOIN LATERAL (SELECT pg_has_role(r.oid, $2, 'MEMBER')) g (is_given)
      WHERE c.oid = $1::oid
      """, [table.oid, ServerSchema.owner], for: operation)
    guard let row = rows.first else {
      throw ServerError(operation, "the database does not have a table \(table.name)")
    }
    name = table.name
    (schema, owner, isGiven) = (row[0] ?? "", row[1] ?? "", row[2] == "t")
    lackingRights = (row[3] == "t" ? [] : ["USAGE"]) + (row[4] == "t" ? [] : ["CREATE"])
    canGrant = row[5] == "t"
    (kind, isUnlogged, hasChildren) = (row[6] ?? "", row[7] == "t", row[8] == "t")
    keyCount = row[9].flatMap { Int($0) } ?? 0
    (isOfOurs, canJoin) = (row[10] == "t", row[11] == "t")
    (login, parent) = (row[12] ?? "", row[13])
    columns = try Self.columns(of: table.oid, connection, operation)
    func names(_ query: String) throws(ServerError) -> [String] {
      try connection.query(query, [table.oid], for: operation).compactMap { $0[0] }
    }
    deferrable = try names(
      """
      SELECT quote_ident(conname) FROM pg_constraint
      WHERE conrelid = $1::oid AND contype = 'p' AND condeferrable
      """)
    rules = try names(
      """
      SELECT quote_ident(rulename) FROM pg_rewrite
      WHERE ev_class = $1::oid AND ev_type <> '1' ORDER BY rulename
      """)
  }

  private static func columns(
    of table: String, _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) -> [Column] {
    let rows = try connection.query(
      """
      SELECT a.attname, format_type(a.atttypid, a.atttypmod),
        -- The index may INCLUDE other columns behind those of the key.
        coalesce(array_position(i.indkey::int2[], a.attnum) < i.indnkeyatts, false),
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
        name: row[0] ?? "", type: SQLTypeName(row[1] ?? "").text, isKey: row[2] == "t",
        isRequired: row[3] == "t",
        isGenerated: row[4] == "t", isAlwaysIdentity: row[5] == "t", isByteOrdered: row[6] == "t",
        isDeterministic: row[7] == "t")
    }
  }

  /// The columns with synchronization state that a former adoption has left.
  var formerState: [String] { columns.map(\.name).filter(Self.isState) }

  /// The application's columns.
  var ownColumns: [Column] { columns.filter { !Self.isState($0.name) } }

  private static func isState(_ name: String) -> Bool {
    ServerClass.stateColumnNames.contains { $0 == name }
  }

  /// The column of the primary key; empty without one.
  var key: String { columns.first { $0.isKey }?.name ?? "" }

  /// Whether the key's own index is not ordered by bytes, as the pages of replicas are.
  var needsByteOrder: Bool { columns.contains { $0.isKey && !$0.isByteOrdered } }

  /// - Parameter name: the name of the class.
  private func definition(_ name: String) -> ClassDefinition {
    let properties = columns.filter(\.isProperty).map { column in
      ClassDefinition.Property(
        name: column.name, type: SQLTypeName(column.type).propertyType ?? .any, isOptional: true)
    }
    return ClassDefinition(name: name, properties: properties)
  }

  /// All reasons why it cannot become a class.
  ///
  /// - Parameter className: the name of the class.
  func problems(asClass className: String) -> [String] {
    var problems: [String] = []
    if let excess = definition(className).excess { problems.append(excess) }
    if kind != "r" { problems.append("it is not an ordinary table") }
    if isUnlogged { problems.append("it is temporary or unlogged, so a crash empties it") }
    if hasChildren { problems.append("it has child tables, whose rows its triggers do not see") }
    if let parent {
      problems.append(
        "it is a child or a partition of \(parent), through which rows are deleted without its "
          + "triggers")
    }
    if keyCount != 1 {
      problems.append("it needs a primary key of one column, which identifies its objects")
    }
    for column in ownColumns { problems += self.problems(of: column) }
    for name in deferrable {
      problems.append(
        "its primary key \(name) is DEFERRABLE, so an insertion could not be sent again (ON "
          + "CONFLICT does not accept it); drop it and add it again NOT DEFERRABLE")
    }
    for name in rules {
      problems.append(
        "its rule \(name) writes in place of the statements that replicas send; "
          + "make it a trigger")
    }
    if !isOfOurs, !canJoin { problems.append(foreignness) }
    if !lackingRights.isEmpty, !canGrant {
      let rights = lackingRights.joined(separator: ", ")
      problems.append(
        "\(ServerSchema.owner), which creates its index, lacks rights in the schema \(schema); "
          + "GRANT \(rights) ON SCHEMA \(SQLText.name(schema)) TO \(ServerSchema.owner)")
    }
    return problems
  }

  /// The logins that can give the owner of our functions access to the table.
  private var foreignness: String {
    let (role, ours) = (SQLText.name(owner), ServerSchema.owner)
    return isGiven
      ? "it belongs to \(owner), which is a superuser or a member of \(ours), and \(login) cannot "
        + "give it to \(ours): let a superuser or \(owner) adopt it, or run "
        + "'ALTER TABLE \(name) OWNER TO \(ours)' before"
      : "it belongs to \(owner), and \(login) cannot make \(ours) a member of that role: let a "
        + "superuser, or a role with the admin option for \(owner), adopt it, or run "
        + "'GRANT \(role) TO \(ours)' before"
  }

  /// The reasons why a column can neither be a property nor be ignored.
  func problems(of column: Column) -> [String] {
    var problems: [String] = []
    if column.isKey, keyCount == 1 {
      switch SQLTypeName(column.type).propertyType {
      case .int, .string, .uuid, .data: break
      default:
        problems.append(
          "its primary key \(column.name) is of type \(column.type); it must be an integer, text, "
            + "uuid, or bytea of an object id")
      }
      if column.isGenerated {
        problems.append(
          "its primary key \(column.name) is a generated column, so replicas could not insert")
      }
      if !column.isDeterministic {
        problems.append("the collation of its primary key treats different strings as one key")
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
