/// Finds a table by the name that a person gives: as in SQL, where `Member` means `member`, or
/// literally.
enum TableName {
  struct Found: Equatable {
    /// The quoted name, with its schema.
    let name: String
    /// PostgreSQL's number of it.
    let oid: String
  }

  /// - Throws: `ServerError` if the table does not exist, or if two have the name.
  static func find(
    _ text: String, _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) -> Found {
    var found = try plain(text, connection, operation)
    for one in try written(text, connection, operation) where !found.contains(one) {
      found.append(one)
    }
    if found.count > 1 {
      let names = found.map(\.name).joined(separator: " or ")
      throw ServerError(
        operation, "\(text) may be \(names)", hint: "Write the name with its schema and quotes.")
    }
    guard let one = found.first else {
      throw ServerError(operation, "the database does not have a table \(text)")
    }
    return one
  }

  private static let kinds = "c.relkind IN ('r', 'p', 'v', 'm', 'f')"

  private static func plain(
    _ text: String, _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) -> [Found] {
    try rows(
      """
      c.relname::text = $1 AND pg_table_is_visible(c.oid)
      OR concat(n.nspname, '.', c.relname) = $1
      """, text, connection, operation)
  }

  private static func written(
    _ text: String, _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) -> [Found] {
    do throws(ServerError) {
      return try rows("c.oid = to_regclass($1)", text, connection, operation)
    } catch {
      // The text is not a name in SQL: a syntax error, too many dots, another database. Or the
      // login has no right to use the schema, and cannot read more about the table.
      guard ["42601", "42602", "0A000", "42501"].contains(error.state) else { throw error }
      return []
    }
  }

  private static func rows(
    _ condition: String, _ text: String, _ connection: ServerConnection, _ operation: String
  ) throws(ServerError) -> [Found] {
    try connection.query(
      """
      SELECT format('%I.%I', n.nspname, c.relname), c.oid
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE \(kinds) AND (\(condition))
      """, [text], for: operation
    ).map { Found(name: $0[0] ?? "", oid: $0[1] ?? "") }
  }
}
