/// Prepares a database: `tarn server init`.
package enum ServerSetup {
  package enum Outcome: Equatable, Sendable {
    case made
    /// It was prepared before; nothing was changed.
    case wasThere
    /// The same, but its functions or triggers belong to an earlier version of Tarn.
    case wasEarlier
  }

  /// Creates the roles, then the schema `tarn` with its tables and functions in one transaction.
  ///
  /// - Parameter schema: the schema for the tables of the classes.
  /// - Throws: `ServerError`; one error lists all requirements that the server does not meet.
  package static func run(
    _ connection: ServerConnection, schema: String = "public"
  ) throws(ServerError) -> Outcome {
    let operation = "prepare the database"
    if try isPrepared(connection, operation) {
      try check(connection, operation)
      return try ServerRevision(connection, operation).isCurrent ? .wasThere : .wasEarlier
    }
    let missing = try ServerProbe.missing(connection, schema: schema)
    if !missing.isEmpty {
      throw ServerError(
        operation, "the server lacks what Tarn needs",
        detail: missing.map { "- \($0)" }.joined(separator: "\n"))
    }
    // Roles belong to the cluster, so the setup of another database may create them, too.
    for role in [ServerSchema.owner, ServerSchema.client] {
      try makeRole(role, connection, operation)
    }
    try connection.transaction(for: operation) { () throws(ServerError) in
      try connection.run(text(schema), for: operation)
    }
    return .made
  }

  private static func isPrepared(
    _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) -> Bool {
    let found = try connection.query(
      "SELECT to_regclass('tarn.server') IS NOT NULL", for: operation)
    return found.first?.first == "t"
  }

  /// Checks that the database is prepared in a format that this program knows, and that the login
  /// has the owner's rights.
  static func check(
    _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) {
    guard try isPrepared(connection, operation) else { throw notPrepared(operation) }
    try checkRights(connection, operation)
    let rows = try connection.query("SELECT format FROM tarn.server", for: operation)
    let format = rows.first?.first.flatMap { $0 }.flatMap { Int($0) } ?? 0
    guard ServerSchema.formats.contains(format) else {
      throw ServerError(
        operation, "the database has format \(format) of Tarn, this program knows \(known)",
        hint: format > ServerSchema.format ? "Use a newer Tarn." : "Use an earlier Tarn.")
    }
  }

  private static var known: String {
    let (first, last) = (ServerSchema.formats.lowerBound, ServerSchema.format)
    return first == last ? "\(first)" : "\(first) to \(last)"
  }

  private static func checkRights(
    _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) {
    let rows = try connection.query(
      """
      SELECT session_user, pg_has_role(session_user, $1, 'MEMBER'),
        (SELECT string_agg(r.rolname, ', ' ORDER BY r.rolname) FROM pg_roles r
          WHERE r.rolcanlogin AND pg_has_role(r.oid, $1, 'MEMBER'))
      """, [ServerSchema.owner], for: operation)
    guard let row = rows.first, row[1] != "t" else { return }
    throw ServerError(
      state: "42501", operation,
      "the login \(row[0] ?? "") is not a member of \(ServerSchema.owner)",
      hint: "Use a login that is one, such as: \(row[2] ?? "a superuser").")
  }

  /// The operation that errors of a session name.
  static let exchange = "exchange with the server"

  static func notPrepared(_ operation: String) -> ServerError {
    ServerError(
      state: "3F000", operation, "the database is not prepared",
      hint: "Run 'tarn server init' first.")
  }

  /// Why the first request of a client failed, with the remedy.
  ///
  /// - Parameter error: PostgreSQL's original error.
  static func explained(_ error: ServerError, _ connection: ServerConnection) -> ServerError {
    // The schema, or its function, does not exist.
    if ["3F000", "42883"].contains(error.state) { return notPrepared(error.operation) }
    guard error.state == ServerError.lacksRight,
      let row = try? connection.query(
        "SELECT session_user, pg_has_role(session_user, $1, 'MEMBER')", [ServerSchema.client],
        for: error.operation
      ).first, let login = row[0], row[1] != "t"
    else { return error }
    return ServerError(
      state: ServerError.lacksRight, error.operation,
      "the login \(login) is not a member of \(ServerSchema.client)",
      hint: "GRANT \(ServerSchema.client) TO \(SQLText.name(login))")
  }

  private static func makeRole(
    _ role: String, _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) {
    let found = try connection.query(
      "SELECT FROM pg_roles WHERE rolname = $1", [role], for: operation)
    if found.isEmpty {
      do throws(ServerError) {
        try connection.run("CREATE ROLE \(role) NOLOGIN", for: operation)
      } catch {
        // Another setup has created it meanwhile.
        guard ["42710", "23505"].contains(error.state) else { throw error }
      }
    }
    // The setup of another database may have created the role without making us a member.
    if role == ServerSchema.owner {
      let isMember = try connection.query(
        "SELECT pg_has_role($1, 'MEMBER')", [role], for: operation)
      if isMember.first?.first != "t" {
        try connection.run("GRANT \(role) TO CURRENT_USER", for: operation)
      }
    }
  }

  private static func text(_ schema: String) -> String {
    let (owner, client) = (ServerSchema.owner, ServerSchema.client)
    let name = SQLText.name(schema)
    return """
      CREATE SCHEMA tarn AUTHORIZATION \(owner);
      GRANT USAGE ON SCHEMA tarn TO \(client);
      GRANT USAGE, CREATE ON SCHEMA \(name) TO \(owner);
      GRANT USAGE ON SCHEMA \(name) TO \(client);
      SET LOCAL ROLE \(owner);
      \(ServerSchema.tables)
      \(ServerSchema.additions)
      \(ServerSchema.functions)
      \(ServerIdentity.firstNote)
      \(ClassFunctions.text([]))
      \(rights)
      RESET ROLE;
      """
  }

  /// Clients may call the functions on the list, and other roles may call none.
  static var rights: String {
    "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA tarn FROM PUBLIC;\n"
      + ServerSchema.clientFunctions
      .map { "GRANT EXECUTE ON FUNCTION \($0) TO \(ServerSchema.client);\n" }.joined()
  }
}
