/// Prepares a database: `tarn server init`.
package enum ServerSetup {
  package enum Outcome: Equatable, Sendable {
    case made
    /// It was prepared before; nothing was changed.
    case wasThere
  }

  /// Makes the roles, then the schema `tarn` with its tables and functions in one transaction.
  ///
  /// - Parameter schema: where the tables of the classes go.
  /// - Throws: `ServerError`; one error lists all requirements that the server does not meet.
  package static func run(
    _ connection: ServerConnection, schema: String = "public"
  ) throws(ServerError) -> Outcome {
    let operation = "prepare the database"
    if let format = try format(connection) {
      guard format == ServerSchema.format else { throw otherFormat(format, operation) }
      return .wasThere
    }
    let missing = try ServerProbe.missing(connection, schema: schema)
    if !missing.isEmpty {
      throw ServerError(
        operation, "the server lacks what Tarn needs",
        detail: missing.map { "- \($0)" }.joined(separator: "\n"))
    }
    // Roles belong to the cluster, and the setup of another database may create them too.
    for role in [ServerSchema.owner, ServerSchema.client] {
      try makeRole(role, connection, operation)
    }
    try connection.transaction(for: operation) { () throws(ServerError) in
      try connection.run(text(schema), for: operation)
    }
    return .made
  }

  /// The format of the schema `tarn`; nil for an unprepared database.
  static func format(_ connection: ServerConnection) throws(ServerError) -> Int? {
    let operation = "read the server's format"
    let found = try connection.query(
      "SELECT to_regclass('tarn.server') IS NOT NULL", for: operation)
    guard found.first?.first == "t" else { return nil }
    let rows = try connection.query("SELECT format FROM tarn.server", for: operation)
    return rows.first?.first.flatMap { $0 }.flatMap { Int($0) }
  }

  static func notPrepared(_ operation: String) -> ServerError {
    ServerError(
      operation, "the database is not prepared", hint: "Run 'tarn server init' first.")
  }

  static func otherFormat(_ format: Int, _ operation: String) -> ServerError {
    ServerError(
      operation,
      "the database has format \(format) of Tarn, this program knows \(ServerSchema.format)",
      hint: format > ServerSchema.format ? "Use a newer Tarn." : "Use 'tarn server migrate'.")
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
        // Another has made it meanwhile.
        guard ["42710", "23505"].contains(error.state) else { throw error }
      }
    }
    // The setup of another database may have made the role without making us a member.
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
      \(ServerSchema.functions)
      \(ClassFunctions.text([]))
      \(rights)
      RESET ROLE;
      """
  }

  /// Clients may call the functions on the list, and other roles none.
  static var rights: String {
    "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA tarn FROM PUBLIC;\n"
      + ServerSchema.clientFunctions
      .map { "GRANT EXECUTE ON FUNCTION \($0) TO \(ServerSchema.client);\n" }.joined()
  }
}
