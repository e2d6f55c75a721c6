/// The classes that a server has, and what is made with each of them.
struct ServerCatalog {
  let connection: ServerConnection
  private let operation: String

  /// - Parameter operation: the operation that errors name.
  init(_ connection: ServerConnection, _ operation: String) {
    self.connection = connection
    self.operation = operation
  }

  /// A class of the server.
  struct Entry: Equatable {
    let id: Int
    let name: String
    /// The table, with its schema and quoted.
    let table: String
    /// The column of the primary key; empty if the table is missing.
    let key: String
    let columns: [ServerColumn]

    /// All columns but the key.
    var others: [ServerColumn] { columns.filter { $0.name != key } }
  }

  /// Runs `body` in a transaction that owns the schema `tarn`, then renews what knows all classes.
  ///
  /// - Parameter asOwner: false to keep the rights of the login, which must have the owner's too.
  func changing<R>(
    asOwner: Bool = true, _ body: () throws(ServerError) -> R
  ) throws(ServerError) -> R {
    guard let format = try ServerSetup.format(connection) else {
      throw ServerSetup.notPrepared(operation)
    }
    guard format == ServerSchema.format else { throw ServerSetup.otherFormat(format, operation) }
    return try connection.transaction(for: operation) { () throws(ServerError) in
      try connection.run(
        "SET LOCAL search_path = pg_catalog, pg_temp;"
          + (asOwner ? " SET LOCAL ROLE \(ServerSchema.owner);" : "")
          + " LOCK TABLE tarn.class IN SHARE ROW EXCLUSIVE MODE", for: operation)
      let result = try body()
      try renewFunctions()
      return result
    }
  }

  /// Makes the functions that know all classes; those whose tables are missing are unknown.
  func renewFunctions() throws(ServerError) {
    let text = ClassFunctions.text(try entries().filter { !$0.key.isEmpty })
    try connection.run(
      "SET LOCAL ROLE \(ServerSchema.owner); \(text) \(ServerSetup.rights) RESET ROLE",
      for: operation)
  }

  func entry(named name: String) throws(ServerError) -> Entry? {
    try entries().first { $0.name == name }
  }

  /// - Throws: `ServerError` for a class that the server does not have.
  func existing(_ name: String) throws(ServerError) -> Entry {
    guard let entry = try entry(named: name) else {
      throw ServerError(operation, "the server does not have a class \(name)")
    }
    return entry
  }

  func entries() throws(ServerError) -> [Entry] {
    let rows = try connection.query(
      "SELECT id, name, tab, key, property, type FROM tarn.classes()", for: operation)
    var entries: [Entry] = []
    for row in rows {
      guard let id = row[0].flatMap({ Int($0) }), let name = row[1], let table = row[2] else {
        continue
      }
      let former = entries.last?.id == id ? entries.removeLast().columns : []
      var own: [ServerColumn] = []
      if let column = row[4], let type = row[5] { own = [ServerColumn(name: column, type: type)] }
      entries.append(
        Entry(id: id, name: name, table: table, key: row[3] ?? "", columns: former + own))
    }
    return entries
  }

  /// Enters a class whose table is there.
  func register(_ one: ServerClass, table: String) throws(ServerError) -> Entry {
    try connection.query(
      "INSERT INTO tarn.class (name, tab) VALUES ($1, $2::regclass)", [one.name, table],
      for: operation)
    let id = try existing(one.name).id
    try define(one, id)
    for column in [one.key] + one.columns { try note(column, id) }
    return try existing(one.name)
  }

  /// Notes how a store declares a class.
  func define(_ one: ServerClass, _ id: Int) throws(ServerError) {
    guard let definition = one.definition else { return }
    try connection.query(
      "UPDATE tarn.class SET definition = $2 WHERE id = $1", ["\(id)", definition],
      for: operation)
  }

  func note(_ column: ServerColumn, _ id: Int) throws(ServerError) {
    try connection.query(
      "INSERT INTO tarn.property (class, name, type) VALUES ($1, $2, $3)",
      ["\(id)", column.name, column.type], for: operation)
  }

  /// Makes replicas reconcile a class.
  func renew(_ id: Int) throws(ServerError) {
    try connection.query("SELECT tarn.renew($1)", ["\(id)"], for: operation)
  }

  func makeTriggers(_ entry: Entry) throws(ServerError) {
    try connection.run(
      ClassTriggers(entry).text, for: "create the triggers of \(entry.name)")
  }

  /// Makes the unique index of a rule.
  ///
  /// - Returns: false if it was there.
  @discardableResult
  func makeUnique(_ rule: [String], _ entry: Entry) throws(ServerError) -> Bool {
    let numbers = try connection.query(
      """
      SELECT string_agg(attnum::text, '_' ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = $1::regclass AND attname = ANY ($2::text[])
      """, [entry.table, SQLText.array(rule)], for: operation)
    let index = "_tarn_\(entry.id)_unique_\(numbers.first?.first.flatMap { $0 } ?? "")"
    let found = try connection.query(
      "SELECT FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid"
        + " WHERE i.indrelid = $1::regclass AND c.relname = $2", [entry.table, index],
      for: operation)
    if !found.isEmpty { return false }
    // Long text does not fit into an index: its hash does.
    let terms = rule.map { name in
      let isText = entry.columns.contains { $0.name == name && $0.isText }
      return isText ? "md5(\(SQLText.name(name)))" : SQLText.name(name)
    }
    try connection.run(
      "CREATE UNIQUE INDEX \(SQLText.name(index)) ON \(entry.table)"
        + " (\(terms.joined(separator: ", ")))",
      for: "make \(entry.name) unique by \(rule.joined(separator: ", "))")
    return true
  }
}
