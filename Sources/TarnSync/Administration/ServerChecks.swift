import TarnStore

/// Constraints that keep values out of columns which a property cannot hold.
///
/// Tables of earlier versions get them as `NOT VALID`: rows that violate one stay until they are
/// written the next time. They call only built-in functions, so that any role can write.
struct ServerChecks {
  private let connection: ServerConnection
  private let operation: String

  init(_ connection: ServerConnection, _ operation: String) {
    (self.connection, self.operation) = (connection, operation)
  }

  /// Adds those that a table lacks. A table that belonged to an application keeps its own rules.
  ///
  /// - Returns: a line for each.
  func add(
    to known: ServerCatalog.Entry, _ one: ServerClass
  ) throws(ServerError) -> [String] {
    let names = Set(known.columns.map { StoredText($0.name) })
    let checked = ([one.key] + one.columns).filter {
      $0.check != nil && names.contains(StoredText($0.name))
    }
    if checked.isEmpty { return [] }
    let isOurs = try connection.query(
      "SELECT NOT adopted FROM tarn.class WHERE id = $1", ["\(known.id)"],
      for: operation)
    guard isOurs.first?.first == "t" else { return [] }
    let rows = try connection.query(
      """
      SELECT a.attname FROM pg_constraint c
      JOIN pg_attribute a ON a.attrelid = c.conrelid AND c.conkey = ARRAY[a.attnum]
      WHERE c.conrelid = $1::regclass AND c.contype = 'c'
        AND pg_get_expr(c.conbin, c.conrelid) ~ '(octet_length|jsonb_typeof)'
      """, [known.table], for: operation)
    let present = Set(rows.compactMap { $0[0].map { StoredText($0) } })
    var done: [String] = []
    for column in checked where !present.contains(StoredText(column.name)) {
      guard let check = column.check else { continue }
      try connection.run(
        "ALTER TABLE \(known.table) ADD CHECK (\(check)) NOT VALID",
        for: "check \(one.name).\(column.name)")
      done.append("checked \(one.name).\(column.name)")
    }
    return done
  }
}
