package import TarnStore

/// Adds the classes of a store, or new properties of them, to the server, and replaces functions
/// and triggers of an earlier version of Tarn: `tarn server migrate`.
package struct ServerMigration {
  private let connection: ServerConnection
  private let schema: String
  private static let operation = "migrate the server"

  /// - Parameter schema: the schema for the tables of new classes.
  package init(_ connection: ServerConnection, schema: String = "public") {
    self.connection = connection
    self.schema = schema
  }

  /// - Parameters:
  ///   - names: the classes to add; nil for all that are not embedded.
  ///   - renames: the properties that are renamed ones of the server.
  /// - Returns: a line for each change; empty if the server had everything.
  /// - Throws: `ServerError`; if the server cannot accept some classes, one error names them all.
  ///   The server is unchanged then.
  @discardableResult
  package func run(
    _ store: StoreSchema, classes names: [String]? = nil,
    renaming renames: PropertyRenames = PropertyRenames()
  ) throws(ServerError) -> [String] {
    try requirePrepared()
    return try run(classes(store, names), renames)
  }

  /// - Throws: `ServerError` for a database that is not prepared: the problem to report first.
  package func requirePrepared() throws(ServerError) {
    try ServerSetup.check(connection, Self.operation)
  }

  /// Replaces only functions and triggers.
  ///
  /// - Returns: a line for each change.
  @discardableResult
  package func run() throws(ServerError) -> [String] { try run([], PropertyRenames()) }

  private func run(
    _ wanted: [ServerClass], _ renames: PropertyRenames
  ) throws(ServerError) -> [String] {
    let catalog = ServerCatalog(connection, Self.operation)
    try ServerSetup.check(connection, Self.operation)
    let hadFunctions = try ServerRevision(connection, Self.operation).hasCurrentFunctions
    return try catalog.changing { () throws(ServerError) in
      var done = hadFunctions ? [] : ["updated the functions"]
      done += try catalog.renewTriggers().map { "updated the triggers of \($0)" }
      done += try free(renames.freed, catalog)
      let chosen = RenameChoice(renames, wanted, catalog, Self.operation)
      let pairs = try chosen.run()
      let renamed = Set(pairs.map { "\($0.entry.name).\($0.from)" })
      for entry in try catalog.entries() where !entry.key.isEmpty {
        let prefix = entry.name + "."
        let kept = renamed.compactMap { $0.rest(afterBytesOf: prefix).map(String.init) }
        done += try ServerRename(catalog, Self.operation).mend(entry, except: Set(kept))
      }
      for (entry, from, to) in pairs {
        done.append(try ServerRename(catalog, Self.operation).run(entry, from: from, to: to))
        if let one = wanted.first(where: { $0.name == entry.name }) {
          try catalog.define(one, entry.id)
        }
      }
      if !wanted.isEmpty {
        let known = Dictionary(try catalog.entries().map { ($0.name, $0) }) { first, _ in first }
        for one in wanted { done += try bring(one, known[one.name], catalog) }
      }
      done += try TableAccess(connection, Self.operation).noteAll().map {
        "the policies or rights of \($0) have changed: replicas compare its objects"
      }
      return done
    }
  }

  private func free(
    _ names: [String], _ catalog: ServerCatalog
  ) throws(ServerError) -> [String] {
    var done: [String] = []
    let entries = names.isEmpty ? [] : try catalog.entries()
    for name in names {
      for entry in entries {
        guard let rest = name.rest(afterBytesOf: entry.name + ".") else { continue }
        let property = String(rest)
        if try ServerRename(catalog, Self.operation).free(entry, property) {
          done.append("\(name) is free for a new property")
        }
      }
    }
    return done
  }

  /// Adds the classes and properties that the server lacks, if the login has the owner's rights;
  /// otherwise this is left to `tarn server migrate`. A class with a renamed property is left to an
  /// administrator: the property would be added empty.
  ///
  /// - Parameter renames: the renames recorded by the store's migrations.
  func runIfAllowed(
    _ store: StoreSchema, classes names: [String],
    _ renames: PropertyRenames = PropertyRenames()
  ) throws(ServerError) {
    // A session only checks, unless it may add something.
    let operation = ServerSetup.exchange
    let entries = try ServerCatalog(connection, operation).entries()
    let incomplete = names.filter { name in
      guard let described = store.named(name),
        let entry = entries.first(where: { $0.name == name })
      else { return true }
      let own = Set(described.columns.filter { !$0.isRemoved }.map(\.name))
      let missing = own.filter { entry.column(named: $0) == nil }
      if missing.contains(where: { renames.known($0, of: entry, besides: own) != nil }) {
        return false
      }
      return !missing.isEmpty
    }
    if incomplete.isEmpty { return }
    let rights = try connection.query(
      "SELECT pg_has_role(session_user, $1, 'MEMBER')", [ServerSchema.owner], for: operation)
    guard rights.first?[0] == "t",
      try ServerRevision(connection, operation).newerProblem == nil
    else { return }
    let dropped = try classesWithDroppedColumns(store)
    let allowed = incomplete.filter { !dropped.contains($0) }
    if !allowed.isEmpty { try run(store, classes: allowed) }
  }

  /// The classes with properties of the store whose columns were dropped. An administrator decides
  /// whether to add them again.
  private func classesWithDroppedColumns(_ store: StoreSchema) throws(ServerError) -> Set<String> {
    let rows = try connection.query(
      """
      SELECT c.name, p.name FROM tarn.class c JOIN (
        SELECT q.class, q.name FROM tarn.property q WHERE NOT EXISTS (
          SELECT FROM pg_attribute a JOIN tarn.class d ON d.tab = a.attrelid
          WHERE d.id = q.class AND a.attname = q.name AND NOT a.attisdropped)
        UNION SELECT f.class, f.name FROM tarn.former f WHERE f.now = '') p ON p.class = c.id
      """, for: Self.operation)
    return Set(
      rows.compactMap { row in
        guard let name = row[0], let property = row[1],
          store.named(name)?.named(property)?.isRemoved == false
        else { return nil }
        return name
      })
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
          problems.append(
            "class \(described.name) is embedded; it is exchanged with the classes that contain it")
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

  /// - Throws: `ServerError` if the table of a class cannot be created.
  private func requireRoom(for one: ServerClass, _ table: String) throws(ServerError) {
    let found = try connection.query(
      """
      SELECT has_schema_privilege(n.oid, 'CREATE'), to_regclass($2) IS NOT NULL
      FROM pg_namespace n WHERE n.nspname = $1
      """, [schema, table], for: Self.operation)
    guard let row = found.first else {
      throw ServerError(Self.operation, "the database does not have a schema \(schema)")
    }
    if row[0] != "t" {
      throw ServerError(
        Self.operation, "\(ServerSchema.owner) lacks the right to create the table of \(one.name)",
        hint: "GRANT CREATE ON SCHEMA \(SQLText.name(schema)) TO \(ServerSchema.owner)")
    }
    if row[1] == "t" {
      throw ServerError(
        Self.operation, "the database has a table \(table) that is not a class",
        hint: "Run 'tarn server adopt' with it to make it the class \(one.name).")
    }
  }

  /// - Parameter known: the class on the server; nil if it does not exist.
  /// - Returns: a line for each change.
  private func bring(
    _ one: ServerClass, _ known: ServerCatalog.Entry?, _ catalog: ServerCatalog
  ) throws(ServerError) -> [String] {
    guard let known else {
      let table = one.table(in: schema)
      try requireRoom(for: one, table)
      try connection.run(one.creation(table), for: "create the table of \(one.name)")
      let made = try catalog.register(one, table: table)
      try catalog.makeTriggers(made)
      for rule in one.uniqueRules { try catalog.makeUnique(rule, made) }
      return ["created \(one.name)"]
    }
    try catalog.requireWhole(known)
    let checked = try ServerChecks(connection, Self.operation).add(to: known, one)
    let added = try add(one, to: known, catalog)
    if !added.isEmpty {
      // The values of all rows were set without a trigger.
      try catalog.renew(known.id)
      try catalog.define(one, known.id)
      try catalog.makeTriggers(catalog.present(known.id))
    }
    // Without it new stores would lack the columns whose types do not describe their contents.
    let isDescribed = added.isEmpty ? try catalog.define(one, known.id, changing: false) : false
    let again = added.filter(known.dropped.contains)
    if !again.isEmpty { try takeOver(again, known, catalog) }
    var done = added.map { name in
      "added \(one.name).\(name)"
        + (again.contains(name) ? " again: stores take its values from the server" : "")
    }
    if isDescribed { done.append("described \(one.name) for new stores") }
    done += checked
    for rule in one.uniqueRules where try catalog.makeUnique(rule, known) {
      done.append("made \(one.name) unique by \(rule.joined(separator: ", "))")
    }
    return done
  }

  /// Sends all rows to all stores, which have values of columns that were dropped.
  private func takeOver(
    _ names: [String], _ known: ServerCatalog.Entry, _ catalog: ServerCatalog
  ) throws(ServerError) {
    let key = SQLText.name(known.key)
    try connection.run("UPDATE \(known.table) SET \(key) = \(key)", for: Self.operation)
    for name in names { try ServerRename(catalog, Self.operation).free(known, name) }
  }

  /// - Returns: the columns that did not exist.
  private func add(
    _ one: ServerClass, to known: ServerCatalog.Entry, _ catalog: ServerCatalog
  ) throws(ServerError) -> [String] {
    let present = try ServerRename(catalog, Self.operation).columns(of: known)
    let names = Set(([one.key] + one.columns).map(\.name))
    var added: [String] = []
    for column in [one.key] + one.columns {
      if let now = known.formerNames[column.name], names.contains(now) {
        throw ServerError(
          Self.operation,
          "\(one.name).\(column.name) is a former name of \(now), which older programs still use",
          hint: "If no program uses it any longer, run 'tarn server migrate' with --free "
            + "\(one.name).\(column.name).")
      }
      // Includes a column that SQL has added.
      let other = known.column(named: column.name) ?? present[column.name]
      guard other.map(column.fits) ?? true else {
        throw ServerError(
          Self.operation,
          "\(one.name).\(column.name) is \(other?.type ?? "") on the server and would be "
            + column.type, hint: "Give the property with the new type another name.")
      }
      if known.column(named: column.name) != nil { continue }
      if other == nil {
        try connection.run(
          "ALTER TABLE \(known.table) ADD COLUMN \(column.definition)", for: Self.operation)
      }
      try catalog.note(other ?? column, known.id)
      added.append(column.name)
    }
    return added
  }
}
