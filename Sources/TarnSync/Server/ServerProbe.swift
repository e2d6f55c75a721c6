/// The requirements of Tarn for a server, checked before anything is created.
enum ServerProbe {
  /// The oldest version that is tested.
  static let versionMin = 150_000

  /// Describes each requirement that the server does not meet.
  ///
  /// - Parameter schema: the schema for the tables of the classes.
  static func missing(
    _ connection: ServerConnection, schema: String
  ) throws(ServerError) -> [String] {
    let operation = "probe the server"
    guard connection.serverVersion >= versionMin else {
      return ["PostgreSQL 15 or newer; this is \(versionText(connection.serverVersion))"]
    }
    let row = try connection.query(
      """
      SELECT pg_is_in_recovery(), current_setting('server_encoding'),
        has_database_privilege(current_database(), 'CREATE'),
        (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user),
        (SELECT count(*) FROM pg_roles WHERE rolname IN ($1, $2)),
        EXISTS (SELECT FROM pg_language WHERE lanname = 'plpgsql'),
        has_function_privilege('pg_control_system()', 'EXECUTE'),
        to_regnamespace($3) IS NOT NULL,
        coalesce(pg_has_role((SELECT nspowner FROM pg_namespace
          WHERE oid = to_regnamespace($3)), 'USAGE'), false),
        -- Since 16 the right to create roles is not one to join those of others.
        coalesce((SELECT pg_has_role(o.oid, 'MEMBER') 
          OR pg_has_role(o.oid, 'MEMBER WITH ADMIN OPTION')
            OR l.rolcreaterole AND current_setting('server_version_num')::int < 160000
          FROM pg_roles o, pg_roles l WHERE o.rolname = $1 AND l.rolname = current_user), true),
        current_user
      """, [ServerSchema.owner, ServerSchema.client, SQLText.name(schema)], for: operation)
    guard let row = row.first, row.count == 11 else { return ["an answer to the probe"] }
    func holds(_ index: Int) -> Bool { row[index] == "t" }
    var missing: [String] = []
    if holds(0) { missing.append("a primary; this is a standby, which only reads") }
    if row[1] != "UTF8" {
      missing.append("a database with the encoding UTF8; this one has \(row[1] ?? "none")")
    }
    if !holds(2) { missing.append("the right to create schemas in the database") }
    if !holds(3), row[4] != "2" {
      missing.append(
        "the right to create roles, or the roles \(ServerSchema.owner) and \(ServerSchema.client)")
    }
    if !holds(9) {
      missing.append(
        "membership in the role \(ServerSchema.owner): "
          + "GRANT \(ServerSchema.owner) TO \(SQLText.name(row[10] ?? ""))")
    }
    if !holds(5) { missing.append("the language plpgsql") }
    if !holds(6) { missing.append("the right to call pg_control_system()") }
    if !holds(7) {
      missing.append("the schema \(schema)")
    } else if !holds(8) {
      missing.append("ownership of the schema \(schema), in which the tables are created")
    }
    return missing
  }

  static func versionText(_ number: Int) -> String {
    "\(number / 10_000).\(number % 10_000)"
  }
}
