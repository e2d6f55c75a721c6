import TarnStore

/// Rows that a push has not written although no error was reported: a trigger of the application
/// that returns NULL, a rewrite rule or a policy silently skips a row, and without our triggers a
/// row is written that other replicas do not receive.
extension ClassPush {
  /// Whether our trigger that records deletions is enabled, in SQL: the result of a deletion does
  /// not show that.
  var hasDeletionTrigger: String {
    let name = SQLText.literal("\(ClassTriggers.name)_gone")
    return "EXISTS (SELECT FROM pg_trigger WHERE tgrelid = \(SQLText.literal(one.table))::regclass"
      + " AND tgname = \(name) AND tgenabled <> 'D')"
  }

  /// - Throws: `ServerError` if our triggers are disabled or missing, which is not a problem of the
  ///   commits.
  func requireTriggers() throws(ServerError) {
    let names = [ClassTriggers.name, "\(ClassTriggers.name)_gone"].map(SQLText.literal)
    let rows = try connection.query(
      """
      SELECT count(*) FROM pg_trigger WHERE tgrelid = \(SQLText.literal(one.table))::regclass
        AND tgname IN (\(names.joined(separator: ", "))) AND tgenabled <> 'D'
      """, for: operation)
    if rows.first?[0] != "\(names.count)" { throw Self.lackOfTriggers(one.table, operation) }
  }

  private static func lackOfTriggers(_ table: String, _ operation: String) -> ServerError {
    ServerError(
      state: "55000", operation, "Tarn's triggers of \(table) are disabled or missing",
      hint: "Run 'tarn server migrate', then 'tarn server touch' with the class.")
  }

  /// The error for an insertion that our triggers have not processed: they set columns that are
  /// never NULL.
  static func lackOfTriggers(behind error: ServerError) -> ServerError? {
    guard error.state == "23502", let place = error.place,
      place.column.beginsWithBytes(of: "_tarn_")
    else { return nil }
    let table = "\(SQLText.name(place.schema)).\(SQLText.name(place.table))"
    return lackOfTriggers(table, error.operation)
  }

  /// The refusal of a deletion whose row still exists. A row that the server has changed instead is
  /// in the next download.
  func skippedDeletion() throws(ServerError) -> ServerError? {
    let rows = try connection.binary(
      """
      SELECT row_security_active(\(SQLText.literal(one.table))::regclass)::integer::bigint
      FROM \(one.rows) t JOIN unnest($1, $2) d (k, o)
        ON t.\(one.key.column) = d.k AND t._tarn_oid = d.o
      WHERE t._tarn_xid <> pg_current_xact_id() LIMIT 1
      """, [keys(deletions.map(\.key)), numbers(deletions.map(\.incarnation))], for: operation)
    if rows.count == 0 { return nil }
    return skipped("delete", orPolicy: rows.integer(0, 0) == 1)
  }

  /// The refusal of updates whose rows exist unchanged.
  func unchanged(
    _ missing: [(key: Value, incarnation: Int64)]
  ) throws(ServerError) -> ServerError {
    // This counts the rows that the policies for updates allow.
    let allowed = try connection.binary(
      "SELECT 1::bigint FROM \(one.rows) WHERE \(one.key.column) = ANY ($1) FOR UPDATE",
      [keys(missing.map(\.key))], for: operation)
    if allowed.count == missing.count { return skipped("change") }
    return ServerError(
      state: "42501", operation, "the login has no right to change an object of \(one.table)")
  }

  func skipped(_ verb: String, orPolicy isPolicy: Bool = false) -> ServerError {
    ServerError(
      state: "09000", operation,
      "\(isPolicy ? "a policy, trigger" : "a trigger") or rule of \(one.table) skipped the row of"
        + " an object that a store wants to \(verb)",
      hint: "A trigger skips a row when it returns NULL.")
  }
}
