package import TarnStore

/// Brings the classes of a store to the server, or new ones of their properties: `tarn server
/// migrate`.
package struct ServerMigration {
  private let connection: ServerConnection
  private let schema: String
  private static let operation = "migrate the server"

  /// - Parameter schema: where the tables of new classes go.
  package init(_ connection: ServerConnection, schema: String = "public") {
    self.connection = connection
    self.schema = schema
  }

  /// A class that the server has.
  private struct Known {
    let id: Int
    /// Types of the columns by name.
    let types: [String: String]
  }

  /// - Parameter names: the classes to bring; nil for all that are not embedded.
  /// - Returns: a line for each change; empty if the server had everything.
  /// - Throws: `ServerError`; if the server cannot take some classes, one error names them all. The
  ///   server is unchanged then.
  @discardableResult
  package func run(
    _ store: StoreSchema, classes names: [String]? = nil
  ) throws(ServerError) -> [String] {
    let wanted = try classes(store, names)
    guard let format = try ServerSetup.format(connection) else {
      throw ServerError(
        Self.operation, "the database is not prepared", hint: "Run 'tarn server init' first.")
    }
    guard format == ServerSchema.format else {
      throw ServerSetup.otherFormat(format, Self.operation)
    }
    return try connection.transaction(for: Self.operation) { () throws(ServerError) in
      try connection.run(
        "SET LOCAL ROLE \(ServerSchema.owner); SET LOCAL search_path = pg_catalog, pg_temp;"
          + " LOCK TABLE tarn.class IN SHARE ROW EXCLUSIVE MODE", for: Self.operation)
      var done: [String] = []
      for one in wanted { done += try bring(one) }
      if done.isEmpty { return [] }
      try connection.run(ClassFunctions.text(try tables()), for: Self.operation)
      try connection.run(ServerSetup.rights, for: Self.operation)
      return done
    }
  }

  private func classes(
    _ store: StoreSchema, _ names: [String]?
  ) throws(ServerError) -> [ServerClass] {
    var (result, problems): ([ServerClass], [String]) = ([], [])
    for name in names ?? [] where store.named(name) == nil {
      problems.append("the store does not have a class \(name)")
    }
    for described in store.classes where !described.isVacant {
      if let names, !names.contains(described.name) { continue }
      if described.isEmbedded {
        if names != nil {
          problems.append("class \(described.name) is embedded; it comes with those that have it")
        }
        continue
      }
      let (one, found) = ServerClass.made(described, store)
      problems += found
      if let one { result.append(one) }
    }
    guard problems.isEmpty else {
      throw ServerError(
        Self.operation, "the server cannot take these classes",
        detail: problems.map { "- \($0)" }.joined(separator: "\n"))
    }
    return result
  }

  /// - Returns: a line for each change.
  private func bring(_ one: ServerClass) throws(ServerError) -> [String] {
    guard let known = try known(one.name) else {
      try connection.run(one.creation(in: schema), for: "create the table of \(one.name)")
      let id = try register(one)
      for column in [one.key] + one.columns { try note(column, id) }
      try makeTriggers(one, id)
      return ["created \(one.name)"]
    }
    var done: [String] = []
    let table = one.table(in: schema)
    for column in [one.key] + one.columns {
      if let type = known.types[column.name] {
        guard type == column.type else {
          throw ServerError(
            Self.operation,
            "\(one.name).\(column.name) is \(type) on the server and would be \(column.type)",
            hint: "A changed type is a new property: give it another name.")
        }
        continue
      }
      try connection.run(
        "ALTER TABLE \(table) ADD COLUMN \(column.definition)", for: Self.operation)
      try note(column, known.id)
      done.append("added \(one.name).\(column.name)")
    }
    if done.isEmpty { return [] }
    // The values of all rows came without a trigger.
    try connection.query(
      "UPDATE tarn.class SET epoch = pg_current_xact_id() WHERE id = $1", ["\(known.id)"],
      for: Self.operation)
    try makeTriggers(one, known.id)
    return done
  }

  private func known(_ name: String) throws(ServerError) -> Known? {
    let rows = try connection.query(
      """
      SELECT c.id, p.name, p.type FROM tarn.class c LEFT JOIN tarn.property p ON p.class = c.id
      WHERE c.name = $1
      """, [name], for: Self.operation)
    guard let id = rows.first?[0].flatMap({ Int($0) }) else { return nil }
    var types: [String: String] = [:]
    for row in rows { if let name = row[1] { types[name] = row[2] } }
    return Known(id: id, types: types)
  }

  private func register(_ one: ServerClass) throws(ServerError) -> Int {
    let rows = try connection.query(
      "INSERT INTO tarn.class (name, tab) VALUES ($1, $2::regclass) RETURNING id",
      [one.name, one.table(in: schema)], for: Self.operation)
    guard let id = rows.first?[0].flatMap({ Int($0) }) else {
      throw ServerError(Self.operation, "the server gave no number for \(one.name)")
    }
    return id
  }

  private func note(_ column: ServerColumn, _ id: Int) throws(ServerError) {
    try connection.query(
      "INSERT INTO tarn.property (class, name, type) VALUES ($1, $2, $3)",
      ["\(id)", column.name, column.type], for: Self.operation)
  }

  /// The triggers also cover columns that only the server has.
  private func makeTriggers(_ one: ServerClass, _ id: Int) throws(ServerError) {
    guard let known = try known(one.name) else { return }
    let here = Set(([one.key] + one.columns).map(\.name))
    let others = known.types.filter { !here.contains($0.key) }.sorted { $0.key < $1.key }
    let whole = one.adding(others.map { ServerColumn(name: $0.key, type: $0.value) })
    try connection.run(
      ClassTriggers(id: id, described: whole, schema: schema).text,
      for: "create the triggers of \(one.name)")
  }

  /// All classes of the server.
  private func tables() throws(ServerError) -> [(id: Int, table: String, key: String)] {
    let rows = try connection.query(
      """
      SELECT c.id, c.tab::regclass::text, quote_ident(a.attname)
      FROM tarn.class c JOIN pg_index i ON i.indrelid = c.tab AND i.indisprimary
      JOIN pg_attribute a ON a.attrelid = c.tab AND a.attnum = i.indkey[0] ORDER BY c.id
      """, for: Self.operation)
    return rows.compactMap { row in
      guard let id = row[0].flatMap({ Int($0) }), let table = row[1], let key = row[2] else {
        return nil
      }
      return (id, table, key)
    }
  }
}
