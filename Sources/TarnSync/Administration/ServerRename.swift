/// Changes the data that a server stores under the name of a property: in the rows, in the catalog,
/// and in the triggers.
struct ServerRename {
  let catalog: ServerCatalog
  private let operation: String
  private var connection: ServerConnection { catalog.connection }

  init(_ catalog: ServerCatalog, _ operation: String) {
    self.catalog = catalog
    self.operation = operation
  }

  /// Renames a property. Programs that know its former name continue to work with it.
  ///
  /// - Parameter entry: the class. SQL may have renamed the column already.
  /// - Returns: a line about it.
  func run(_ entry: ServerCatalog.Entry, from: String, to: String) throws(ServerError) -> String {
    let start = ContinuousClock.now
    try connection.run("SET LOCAL lock_timeout = '10s'", for: operation)
    let columns = try self.columns(of: entry)
    if columns[from] != nil {
      if columns[to] != nil {
        throw ServerError(
          operation, "\(entry.table) has columns \(from) and \(to)",
          hint: "Copy the values for \(to) by SQL, drop \(from), and run 'tarn server migrate'.")
      }
      try connection.run(
        "ALTER TABLE \(entry.table) RENAME COLUMN \(SQLText.name(from)) TO \(SQLText.name(to))",
        for: operation)
    }
    let rows = try changeState(of: entry, from: from, to: to)
    let parameters = ["\(entry.id)", from, to]
    for statement in [
      "UPDATE tarn.property SET name = $3 WHERE class = $1 AND name = $2",
      "UPDATE tarn.former SET now = $3 WHERE class = $1 AND now = $2",
      "INSERT INTO tarn.former (class, name, now) VALUES ($1, $2, $3)"
        + " ON CONFLICT (class, name) DO UPDATE SET now = excluded.now",
    ] { try connection.query(statement, parameters, for: operation) }
    try free(entry, to)
    try catalog.makeTriggers(catalog.present(entry.id))
    try catalog.renew(entry.id)
    let time = (ContinuousClock.now - start).formatted(.units(allowed: [.seconds, .milliseconds]))
    return "renamed \(entry.name).\(from) to \(to), in the state of \(rows) "
      + "\(rows == 1 ? "row" : "rows"); \(entry.table) was locked for \(time)"
  }

  /// Releases a former name for a new property.
  ///
  /// - Returns: whether it was a former name.
  @discardableResult
  func free(_ entry: ServerCatalog.Entry, _ name: String) throws(ServerError) -> Bool {
    try !connection.query(
      "DELETE FROM tarn.former WHERE class = $1 AND name = $2 RETURNING 1",
      ["\(entry.id)", name], for: operation
    ).isEmpty
  }

  /// Removes the properties whose columns were dropped: the triggers of the table name them, so
  /// that each write of a row fails.
  ///
  /// - Parameter kept: the names of properties that are renamed.
  /// - Returns: a line for each, and for columns whose type has changed.
  func mend(
    _ entry: ServerCatalog.Entry, except kept: Set<String>
  ) throws(ServerError) -> [String] {
    let rows = try connection.query(
      "SELECT name, type FROM tarn.property WHERE class = $1 ORDER BY name", ["\(entry.id)"],
      for: operation)
    var done: [String] = []
    for row in rows {
      guard let name = row[0], let type = row[1], !kept.contains(name) else { continue }
      let parameters = ["\(entry.id)", name]
      guard let column = entry.columns.first(where: { $0.name == name }) else {
        try connection.query(
          "DELETE FROM tarn.property WHERE class = $1 AND name = $2", parameters, for: operation)
        try connection.query(
          "DELETE FROM tarn.former WHERE class = $1 AND now = $2", parameters, for: operation)
        try connection.query(
          "INSERT INTO tarn.former (class, name, now) VALUES ($1, $2, '')"
            + " ON CONFLICT (class, name) DO UPDATE SET now = excluded.now",
          parameters, for: operation)
        _ = try changeState(of: entry, from: name, to: nil)
        done.append("\(entry.name).\(name) no longer has a column, and is not exchanged")
        continue
      }
      if type == column.type || type.beginsWithBytes(of: column.type + " COLLATE") { continue }
      try catalog.note(column, entry.id)
      done.append("\(entry.name).\(name) is \(column.type) now, and was \(type)")
    }
    if !done.isEmpty {
      try catalog.makeTriggers(entry)
      try catalog.renew(entry.id)
    }
    return done
  }

  /// All columns of the table with their types, including those that are not properties.
  func columns(of entry: ServerCatalog.Entry) throws(ServerError) -> [String: ServerColumn] {
    let rows = try connection.query(
      """
      SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
      WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
      """, [entry.table], for: operation)
    let columns = rows.map { ServerColumn(name: $0[0] ?? "", type: $0[1] ?? "") }
    return Dictionary(columns.map { ($0.name, $0) }) { $1 }
  }

  /// Moves the stamps and parts of a column to another name, or removes them, without triggers:
  /// replicas see no change of the rows.
  ///
  /// - Returns: the number of rows that had any.
  private func changeState(
    of entry: ServerCatalog.Entry, from: String, to: String?
  ) throws(ServerError) -> Int {
    let table = entry.table
    let state = try connection.query(
      """
      SELECT quote_ident(tgname), tgenabled FROM pg_trigger
      WHERE tgrelid = $1::regclass AND NOT tgisinternal AND tgenabled <> 'D'
      """, [table], for: operation)
    let isForced = try connection.query(
      "SELECT FROM pg_class WHERE oid = $1::regclass AND relforcerowsecurity", [table],
      for: operation)
    var (before, after) = ("", "")
    if !isForced.isEmpty {
      before += "ALTER TABLE \(table) NO FORCE ROW LEVEL SECURITY;\n"
      after += "ALTER TABLE \(table) FORCE ROW LEVEL SECURITY;\n"
    }
    for row in state {
      let kind = ["A": "ALWAYS ", "R": "REPLICA "][row[1] ?? ""] ?? ""
      before += "ALTER TABLE \(table) DISABLE TRIGGER \(row[0] ?? "");\n"
      after += "ALTER TABLE \(table) ENABLE \(kind)TRIGGER \(row[0] ?? "");\n"
    }
    let name = SQLText.literal(from)
    func changed(_ column: String) -> String {
      let own =
        to.map { " || jsonb_build_object(\(SQLText.literal($0)), \(column)->\(name))" } ?? ""
      return "\(column) = CASE WHEN \(column) ? \(name)"
        + " THEN nullif((\(column) - \(name))\(own), '{}') ELSE \(column) END"
    }
    try connection.run(before, for: operation)
    let counted = try connection.query(
      """
      WITH changed AS (
        UPDATE \(table) SET \(changed("_tarn_cols")), \(changed("_tarn_parts"))
        WHERE _tarn_cols ? \(name) OR _tarn_parts ? \(name) RETURNING 1)
      SELECT count(*) FROM changed
      """, for: operation)
    try connection.run(after, for: operation)
    return counted.first?.first.flatMap { $0 }.flatMap { Int($0) } ?? 0
  }
}
