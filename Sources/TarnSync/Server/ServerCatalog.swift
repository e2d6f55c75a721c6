import TarnStore
import TarnText

/// The classes of a server, and the objects created for each of them in its database.
struct ServerCatalog {
  let connection: ServerConnection
  let operation: String

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
    /// The current names of properties by their former names.
    var formerNames: [String: String] = [:]
    /// The names of properties whose columns were dropped.
    var dropped: Set<String> = []

    /// The column of a property, by its current or a former name; nil if the class does not have
    /// it.
    func column(named name: String) -> ServerColumn? {
      func own(_ name: String) -> ServerColumn? {
        columns.first { StoredText($0.name) == StoredText(name) }
      }
      return own(name) ?? formerNames[name].flatMap(own)
    }

    /// The form in statements: rows in child tables have no synchronization state.
    var rows: String { "ONLY \(table)" }

    /// All columns except the key.
    var others: [ServerColumn] { columns.filter { $0.name != key } }

    /// Whether the table was dropped: PostgreSQL then has its number in place of its name.
    var isWithoutTable: Bool { table.utf8.allSatisfy { 48...57 ~= $0 } }
  }

  /// Runs `body` in a transaction with the rights of the schema's owner, then renews the functions
  /// that know all classes. Functions of an earlier revision are replaced first; the triggers of
  /// tables, which writers use, only by `renewTriggers`.
  ///
  /// - Parameter asOwner: false to keep the rights of the login, which must include the owner's.
  func changing<R>(
    asOwner: Bool = true, _ body: () throws(ServerError) -> R
  ) throws(ServerError) -> R {
    try ServerSetup.check(connection, operation)
    return try connection.transaction(for: operation) { () throws(ServerError) in
      try connection.run(
        "SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL ROLE \(ServerSchema.owner);"
          + " LOCK TABLE tarn.class IN SHARE ROW EXCLUSIVE MODE", for: operation)
      let revision = try ServerRevision(connection, operation)
      if let problem = revision.newerProblem { throw problem }
      if !revision.hasCurrentFunctions {
        // The former functions determine the server's identity once more.
        try connection.run(
          ServerSchema.additions + ServerIdentity.firstNote + ServerSchema.functions,
          for: operation)
      }
      if !asOwner { try connection.run("RESET ROLE", for: operation) }
      let result = try body()
      try renewFunctions()
      return result
    }
  }

  /// Creates the functions that know all classes; classes without a table are unknown to them.
  func renewFunctions() throws(ServerError) {
    let text = ClassFunctions.text(try entries().filter { !$0.key.isEmpty })
    try connection.run(
      "SET LOCAL ROLE \(ServerSchema.owner); \(text) \(ServerSetup.rights) RESET ROLE",
      for: operation)
  }

  /// - Throws: `ServerError` for a class that the server does not have.
  func existing(_ name: String) throws(ServerError) -> Entry {
    guard let entry = try entries().first(where: { $0.name == name }) else {
      throw ServerError(operation, "the server does not have a class \(name)")
    }
    return entry
  }

  /// The classes with these names, in the same order.
  /// - Throws: `ServerError` for a class that the server does not have.
  func entries(named names: [String]) throws(ServerError) -> [Entry] {
    let known = Dictionary(try entries().map { ($0.name, $0) }) { first, _ in first }
    var entries: [Entry] = []
    for name in names {
      guard let entry = known[name] else {
        throw ServerError(
          state: "42P01", operation, "the server does not have a class \(name)",
          hint: "Run 'tarn server migrate' with a file that has it.")
      }
      entries.append(entry)
    }
    return entries
  }

  /// - Throws: `ServerError` for a class that the server does not have, or whose table or primary
  ///   key was dropped.
  func whole(_ name: String) throws(ServerError) -> Entry {
    let entry = try existing(name)
    try requireWhole(entry)
    return entry
  }

  func requireWhole(_ entry: Entry) throws(ServerError) {
    guard entry.key.isEmpty else { return }
    if entry.isWithoutTable {
      throw ServerError(
        operation, "the server no longer has the table of the class \(entry.name)",
        hint: "Run 'tarn server restored' if the database was restored; if the table was dropped, "
          + "'tarn server forget' with the class, then 'tarn server migrate' to create it again.")
    }
    throw ServerError(
      operation,
      "\(entry.table), the table of the class \(entry.name), no longer has a primary key",
      hint: "Add it again.")
  }

  /// - Throws: `ServerError` if the server has a class with that name, or with that table.
  func requireFree(_ name: String, _ table: TableName.Found) throws(ServerError) {
    try ServerSetup.check(connection, operation)
    let taken = try connection.query(
      """
      SELECT c.name, t.oid IS NULL, c.tab = $2::oid FROM tarn.class c
      LEFT JOIN pg_class t ON t.oid = c.tab WHERE c.name = $1 OR c.tab = $2::oid
      ORDER BY c.tab = $2::oid DESC
      """, [name, table.oid], for: operation)
    guard let row = taken.first, let other = row[0] else { return }
    if row[2] == "t" {
      throw ServerError(operation, "\(table.name) is the class \(other) already")
    }
    if row[1] == "t" { try requireWhole(existing(other)) }
    let entry = try existing(other)
    throw ServerError(operation, "\(entry.table) is the class \(other) already")
  }

  func entries() throws(ServerError) -> [Entry] {
    let rows: [[String?]]
    do throws(ServerError) {
      rows = try connection.query(
        """
        SELECT id, name, tab, key, property, type, to_regproc('tarn.former_names') IS NOT NULL
        FROM tarn.classes()
        """, for: operation)
    } catch {
      throw ServerSetup.explained(error, connection)
    }
    var entries = Self.entries(rows)
    // Servers of an earlier revision have none.
    guard rows.first?[6] == "t" else { return entries }
    let names = try connection.query(
      "SELECT class, name, now FROM tarn.former_names()", for: operation)
    for row in names {
      guard let id = row[0].flatMap({ Int($0) }), let name = row[1],
        let place = entries.firstIndex(where: { $0.id == id })
      else { continue }
      if let now = row[2], !now.isEmpty {
        entries[place].formerNames[name] = now
      } else {
        entries[place].dropped.insert(name)
      }
    }
    return entries
  }

  /// The present definition of a class, without the former names of its properties. For use in
  /// `changing`, where reading all classes for each of many would take quadratic time.
  func present(_ id: Int) throws(ServerError) -> Entry {
    let rows = try connection.query(
      "\(ServerSchema.classes) WHERE c.id = $1 ORDER BY p.name", ["\(id)"], for: operation)
    guard let entry = Self.entries(rows).first else {
      throw ServerError(operation, "the server does not have a class with the number \(id)")
    }
    return entry
  }

  /// - Parameter rows: rows of one class are adjacent.
  private static func entries(_ rows: [[String?]]) -> [Entry] {
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

  /// The names of a class's properties, including those whose columns were dropped.
  func properties(of entry: Entry) throws(ServerError) -> Set<String> {
    let rows = try connection.query(
      "SELECT name FROM tarn.property WHERE class = $1", ["\(entry.id)"], for: operation)
    return Set(rows.compactMap { $0[0] })
  }

  /// Registers a class whose table exists.
  func register(_ one: ServerClass, table: String) throws(ServerError) -> Entry {
    let made = try connection.query(
      "INSERT INTO tarn.class (name, tab, adopted) VALUES ($1, $2::regclass, $3) RETURNING id",
      [one.name, table, "\(one.definition == nil)"], for: operation)
    let id = made.first?[0].flatMap { Int($0) } ?? 0
    try define(one, id)
    for column in [one.key] + one.columns { try note(column, id) }
    try TableAccess(connection, operation).note(id)
    return try present(id)
  }

  /// Records how a store declares a class. Properties that only other stores have declared stay.
  ///
  /// - Parameter changes: whether to change an existing record.
  /// - Returns: whether something was recorded.
  @discardableResult
  func define(
    _ one: ServerClass, _ id: Int, changing changes: Bool = true
  ) throws(ServerError) -> Bool {
    guard let definition = one.definition else { return false }
    let former = try connection.query(
      "SELECT definition FROM tarn.class WHERE id = $1", ["\(id)"], for: operation)
    if !changes, former.first?[0] != nil { return false }
    try connection.query(
      "UPDATE tarn.class SET definition = $2 WHERE id = $1",
      ["\(id)", Self.merged(definition, with: former.first?[0])], for: operation)
    return true
  }

  /// A declaration of a class and its embedded classes, with the properties and embedded classes
  /// that only a former one has.
  private static func merged(_ text: String, with former: String?) -> String {
    guard let former, case .array(let others)? = try? JSONScanner.value(in: former),
      case .array(let classes)? = try? JSONScanner.value(in: text)
    else { return text }
    let merged = classes.map { one in
      guard let other = others.first(where: { $0["class"] == one["class"] }),
        case .object(let members) = one, case .array(let own)? = one["columns"],
        case .array(let known)? = other["columns"]
      else { return one }
      let rest = known.filter { column in !own.contains { $0["name"] == column["name"] } }
      return JSONValue.object(
        members.map { $0.name == "columns" ? JSONMember("columns", .array(own + rest)) : $0 })
    }
    let rest = others.filter { other in !classes.contains { $0["class"] == other["class"] } }
    return JSONText.text(.array(merged + rest))
  }

  func note(_ column: ServerColumn, _ id: Int) throws(ServerError) {
    try connection.query(
      "INSERT INTO tarn.property (class, name, type) VALUES ($1, $2, $3)"
        + " ON CONFLICT (class, name) DO UPDATE SET type = excluded.type",
      ["\(id)", column.name, column.type], for: operation)
  }

  /// Makes replicas reconcile a class.
  func renew(_ id: Int) throws(ServerError) {
    try connection.query("SELECT tarn.renew($1)", ["\(id)"], for: operation)
  }

  /// Creates the triggers of classes that lack some, or have those of an earlier revision.
  ///
  /// - Returns: the names of the classes.
  /// - Throws: `ServerError` that names the tables which the owner of our functions cannot alter.
  func renewTriggers() throws(ServerError) -> [String] {
    let revision = try ServerRevision(connection, operation)
    let entries = try entries().filter { !$0.key.isEmpty && !revision.hasCurrentTriggers($0.id) }
    var problems: [String] = []
    for entry in entries { problems += try ownerProblem(entry).map { [$0] } ?? [] }
    guard problems.isEmpty else {
      throw ServerError(
        state: "42501", operation, "\(ServerSchema.owner) lacks the right to update some triggers",
        detail: problems.map { "- \($0)" }.joined(separator: "\n"))
    }
    if !entries.isEmpty {
      try connection.run("SET LOCAL lock_timeout = '10s'", for: operation)
    }
    for entry in entries { try makeTriggers(entry) }
    return entries.map(\.name)
  }

  /// Why the owner of our functions cannot alter a table, and the remedy: the table's owner has
  /// changed since it became a class.
  private func ownerProblem(_ entry: Entry) throws(ServerError) -> String? {
    let rows = try connection.query(
      """
      SELECT pg_has_role($2, t.relowner, 'USAGE'), r.rolsuper, t.relowner::regrole
      FROM pg_class t JOIN pg_roles r ON r.oid = t.relowner WHERE t.oid = $1::regclass
      """, [entry.table, ServerSchema.owner], for: operation)
    guard let row = rows.first, row[0] != "t", let owner = row[2] else { return nil }
    let way =
      row[1] == "t"
      ? "ALTER TABLE \(entry.table) OWNER TO \(ServerSchema.owner)"
      : "GRANT \(owner) TO \(ServerSchema.owner)"
    return "\(entry.table) of \(entry.name) belongs to \(owner): let a superuser run '\(way)'"
  }

  func makeTriggers(_ entry: Entry) throws(ServerError) {
    try connection.run(
      ClassTriggers(entry).text, for: "create the triggers of \(entry.name)")
  }

  /// Creates a unique rule, or replaces it if it is an index of former versions. It is a constraint
  /// that the server checks at the end of each statement: one write may exchange the values of
  /// objects.
  ///
  /// - Returns: false if it existed.
  @discardableResult
  func makeUnique(_ rule: [String], _ entry: Entry) throws(ServerError) -> Bool {
    let numbers = try connection.query(
      """
      SELECT string_agg(attnum::text, '_' ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = $1::regclass AND attname = ANY ($2::text[])
      """, [entry.table, SQLText.array(rule)], for: operation)
    let name = "_tarn_\(entry.id)_unique_\(numbers.first?.first.flatMap { $0 } ?? "")"
    let found = try connection.query(
      "SELECT i.indimmediate, c.oid::regclass FROM pg_class c"
        + " JOIN pg_index i ON i.indexrelid = c.oid"
        + " WHERE i.indrelid = $1::regclass AND c.relname = $2", [entry.table, name],
      for: operation)
    if found.first?[0] == "f" { return false }
    let former = found.first?[1].map { "DROP INDEX \($0);\n" } ?? ""
    try connection.run(
      "\(former)ALTER TABLE \(entry.table) ADD CONSTRAINT \(SQLText.name(name))"
        + " \(constraint(rule, entry)) DEFERRABLE",
      for: "make \(entry.name) unique by \(rule.joined(separator: ", "))")
    return true
  }

  /// Long text does not fit into an index, but its hash does; and only an exclusion constraint can
  /// use an expression.
  private func constraint(_ rule: [String], _ entry: Entry) -> String {
    let texts = Set(entry.columns.filter(\.isText).map(\.name))
    if texts.isDisjoint(with: rule) {
      return "UNIQUE (\(rule.map(SQLText.name).joined(separator: ", ")))"
    }
    let terms = rule.map { name in
      texts.contains(name) ? "md5(\(SQLText.name(name)))" : SQLText.name(name)
    }
    return "EXCLUDE USING btree (\(terms.map { "\($0) WITH =" }.joined(separator: ", ")))"
  }
}
