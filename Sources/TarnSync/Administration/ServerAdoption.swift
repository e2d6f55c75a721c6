/// Makes a table of an application a class: `tarn server adopt`.
///
/// The rows stay unchanged and get the columns with synchronization state; the table is rewritten
/// and locked meanwhile. Columns of types that a property cannot have are ignored.
package struct ServerAdoption {
  let connection: ServerConnection
  static let operation = "adopt the table"

  package init(_ connection: ServerConnection) { self.connection = connection }

  /// If the table is that class already, adds the columns that were added to the table since.
  ///
  /// - Parameters:
  ///   - table: the table's name, with its schema unless the login finds it.
  ///   - name: the name of the class.
  /// - Returns: lines about the changes made and the parts ignored.
  /// - Throws: `ServerError`; one error lists all obstacles. The table is unchanged then.
  package func run(table: String, as name: String) throws(ServerError) -> [String] {
    try ServerSetup.check(connection, Self.operation)
    let place = try TableName.find(table, connection, Self.operation)
    if let lines = try addColumns(name, place) { return lines }
    let catalog = ServerCatalog(connection, Self.operation)
    try catalog.requireFree(name, place)
    let found = try AdoptedTable(place, connection, Self.operation)
    var problems = found.problems(asClass: name)
    let columns = found.ownColumns.filter(\.isProperty)
    problems += ServerClass.nameProblems(name, "class \(name)")
    for column in columns {
      problems += ServerClass.nameProblems(column.name, "column \(column.name)")
    }
    if !problems.isEmpty {
      throw ServerError(
        Self.operation, "\(found.name) cannot be a class",
        detail: problems.map { "- \($0)" }.joined(separator: "\n"))
    }
    try catalog.changing(asOwner: false) { () throws(ServerError) in
      try catalog.requireFree(name, place)
      try connection.run(preparation(of: found), for: Self.operation)
      let key = ServerColumn(name: found.key, type: columns.first { $0.isKey }?.type ?? "")
      let others = columns.filter { !$0.isKey }.map { ServerColumn(name: $0.name, type: $0.type) }
      let made = ServerClass(name: name, key: key, columns: others, uniqueRules: [])
      try catalog.makeTriggers(catalog.register(made, table: found.name))
    }
    let former = found.formerState
    return ["adopted \(found.name) as \(name)"]
      + (former.isEmpty
        ? [] : ["made anew: \(former.joined(separator: ", ")), which an adoption had left there"])
      + found.ownColumns.compactMap(\.rest)
      + (try TableRights(place, connection, Self.operation).lines)
  }

  /// The statements before those that create triggers. The owner of the functions must see all
  /// rows, so it becomes a member of the role that owns the table. It becomes the table's owner
  /// instead if that role is a member of it, or a superuser.
  private func preparation(of found: AdoptedTable) -> String {
    let (table, owner) = (found.name, ServerSchema.owner)
    var text = "SET LOCAL lock_timeout = '10s';\n"
    if !found.lackingRights.isEmpty {
      let rights = found.lackingRights.joined(separator: ", ")
      text += "GRANT \(rights) ON SCHEMA \(SQLText.name(found.schema)) TO \(owner);\n"
    }
    if !found.isOfOurs {
      text +=
        found.isGiven
        ? "ALTER TABLE \(table) OWNER TO \(owner);\n"
        : "GRANT \(SQLText.name(found.owner)) TO \(owner);\n"
    }
    text += "SET LOCAL ROLE \(owner);\n"
    // They were created by a schema `tarn` that was dropped, or that a restored backup lacked.
    for column in found.formerState { text += "ALTER TABLE \(table) DROP COLUMN \(column);\n" }
    text += """
      ALTER TABLE \(table)
        ADD COLUMN _tarn_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
        ADD COLUMN _tarn_oid bigint NOT NULL DEFAULT uuid_hash_extended(gen_random_uuid(), 0),
        -- The time of the values is unknown. This is earlier than the stamps of all unsent changes,
        -- so these are not lost, and later than the stamps of an earlier adoption.
        ADD COLUMN _tarn_at bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint,
        ADD COLUMN _tarn_by integer NOT NULL DEFAULT 0,
        ADD COLUMN _tarn_cols jsonb, ADD COLUMN _tarn_parts jsonb, ADD COLUMN _tarn_in jsonb;
      ALTER TABLE \(table)
        ALTER COLUMN _tarn_xid DROP DEFAULT, ALTER COLUMN _tarn_oid DROP DEFAULT,
        ALTER COLUMN _tarn_at DROP DEFAULT, ALTER COLUMN _tarn_by DROP DEFAULT;
      CREATE INDEX ON \(table) (_tarn_xid);

      """
    if found.needsByteOrder {
      text += "CREATE UNIQUE INDEX ON \(table) (\(SQLText.name(found.key)) COLLATE \"C\");\n"
    }
    return text
  }
}
