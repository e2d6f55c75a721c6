import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Servers that an earlier version prepared.
@Suite struct ServerUpgradeTests {
  /// A database as the first version prepared it, with the class Todo.
  private func earlier() throws -> PostgresDatabase {
    let url = try #require(
      Bundle.module.url(forResource: "server-1", withExtension: "sql", subdirectory: "Resources"))
    let database = try PostgresDatabase()
    try database.connect().run(String(contentsOf: url, encoding: .utf8), for: "prepare")
    return database
  }

  private let todo = StoreSchema(classes: [.todo])

  private func functions(_ connection: ServerConnection) throws -> [[String?]] {
    try connection.rows(
      """
      SELECT p.oid, p.oid::regprocedure, p.proacl, r.rolname FROM pg_proc p
      JOIN pg_roles r ON r.oid = p.proowner
      WHERE p.pronamespace = 'tarn'::regnamespace ORDER BY p.oid
      """)
  }

  @Test func `functions and triggers are renewed in place, with their rights`() throws {
    let connection = try earlier().connect()
    let before = try functions(connection)
    #expect(
      try ServerMigration(connection).run() == [
        "updated the functions", "updated the triggers of Todo",
      ])
    let after = try functions(connection)
    #expect(before.allSatisfy { after.contains($0) })
    let others = try connection.rows(
      """
      SELECT proname FROM pg_proc WHERE pronamespace = 'tarn'::regnamespace
        AND position($1 IN prosrc) = 0
      """, ["\(ServerSchema.mark)\n"])
    #expect(others == [])
    #expect(try ServerMigration(connection).run() == [])
  }

  /// What is made anew and what is renewed must not differ.
  @Test func `a renewed server is like a new one`() throws {
    let (renewed, new) = (try earlier().connect(), try PostgresDatabase([.todo]).connect())
    _ = try ServerMigration(renewed).run(todo)
    for query in [
      """
      SELECT p.oid::regprocedure::text, p.prosrc, p.prosecdef, p.proconfig, p.provolatile, p.proacl
      FROM pg_proc p WHERE p.pronamespace = 'tarn'::regnamespace ORDER BY 1
      """,
      """
      SELECT t.tgname, pg_get_triggerdef(t.oid), t.tgenabled FROM pg_trigger t
      WHERE NOT t.tgisinternal ORDER BY 1, 2
      """,
      """
      SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, c.relacl
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE c.relnamespace = 'tarn'::regnamespace AND a.attnum > 0 ORDER BY 1, 2
      """,
    ] {
      #expect(try renewed.rows(query) == new.rows(query))
    }
  }

  @Test func `init and status name an earlier server`() throws {
    let connection = try earlier().connect()
    #expect(try ServerSetup.run(connection) == .wasEarlier)
    let found = try ServerStatus(connection).warnings.filter { $0.contains("revision") }
    #expect(found.count == 2)
    #expect(found.allSatisfy { $0.contains("revision 1") && $0.contains("tarn server migrate") })
    #expect(found.last?.hasPrefix("the triggers of \"Todo\"") == true)
    _ = try ServerMigration(connection).run()
    #expect(try ServerSetup.run(connection) == .wasThere)
    #expect(try !ServerStatus(connection).warnings.contains { $0.contains("revision") })
  }

  @Test func `a store goes on with an earlier server, and after it was renewed`() throws {
    let database = try earlier()
    let administrator = try database.connect()
    let client = try database.connect(as: database.makeClient())
    let folder = TemporaryFolder()
    var options = Store.Options()
    options.classes = [
      ClassDefinition(
        name: "Todo",
        properties: [
          .init(name: "_id", type: .string, isPrimaryKey: true),
          .init(name: "title", type: .string), .init(name: "count", type: .int, isOptional: true),
          .init(name: "tags", type: .string, collection: .list),
        ])
    ]
    let store = try StoreRegistry.open(folder.file("a"), options)
    let replica = try Replica(store, classes: ["Todo"])
    defer { replica.close() }
    let replicator = try Replicator(replica, client) { Issue.record("refused: \($0)") }
    func create(_ key: String) throws {
      try store.writeInTurn { session in
        try session.create(
          [ColumnID(0): .string(key), ColumnID(1): .string("from the store")], in: ClassID(0))
      }
    }
    try create("a")
    try replicator.synchronize()
    let server = replica.state.server
    let number = replica.state.number
    _ = try ServerMigration(administrator).run()
    try administrator.rows("UPDATE \"Todo\" SET title = 'from SQL'")
    try create("b")
    try replicator.synchronize()
    #expect(replica.state.server == server)
    #expect(replica.state.number == number)
    #expect(
      try administrator.rows("SELECT _id, title FROM \"Todo\" ORDER BY _id")
        == [["a", "from SQL"], ["b", "from the store"]])
    let reader = try SnapshotReader(store.newestSnapshot())
    let found = try #require(try reader.find(primaryKey: .string("a"), in: ClassID(0)))
    #expect(try reader.value(of: ColumnID(1), at: found, in: ClassID(0)) == .string("from SQL"))
  }

  @Test func `a command that makes classes renews the functions, and no other table`() throws {
    let connection = try earlier().connect()
    try connection.rows("CREATE TABLE notes (id text PRIMARY KEY)")
    _ = try ServerAdoption(connection).run(table: "notes", as: "Note")
    let found = try ServerStatus(connection).warnings.filter { $0.contains("revision") }
    #expect(found.map { $0.prefix(22) } == ["the triggers of \"Todo\""])
  }

  @Test func `a trigger that is missing is made again`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.rows("DROP TRIGGER \"~tarn_gone\" ON \"Todo\"")
    #expect(try ServerMigration(connection).run() == ["updated the triggers of Todo"])
    try connection.rows("ALTER TABLE \"Todo\" DISABLE TRIGGER ALL")
    #expect(try ServerMigration(connection).run(todo) == ["updated the triggers of Todo"])
    #expect(try ServerMigration(connection).run() == [])
  }

  @Test func `a table with another owner names who has to act, and nothing is changed`() throws {
    let database = try earlier()
    let connection = try database.connect()
    let role = "owner_" + database.name.suffix(8).lowercased()
    try connection.run(
      "CREATE ROLE \(role) LOGIN; ALTER TABLE \"Todo\" OWNER TO \(role)", for: "test")
    let error = #expect(throws: ServerError.self) { try ServerMigration(connection).run() }
    #expect(
      error?.detail == "- public.\"Todo\" of Todo belongs to \(role): let a superuser run "
        + "'GRANT \(role) TO tarn_owner'")
    #expect(try ServerSetup.run(connection) == .wasEarlier)
    try connection.rows("GRANT \(role) TO tarn_owner")
    #expect(try ServerMigration(connection).run().count == 2)
  }

  @Test func `a login without the owner's rights is told who has them`() throws {
    let database = try earlier()
    let client = try database.connect(as: database.makeClient())
    for body: () throws -> Void in [
      { _ = try ServerMigration(client).run() }, { _ = try ServerSetup.run(client) },
      { _ = try ServerStatus(client) },
    ] {
      let error = #expect(throws: ServerError.self) { try body() }
      #expect(error?.message.hasSuffix("is not a member of tarn_owner") == true)
      #expect(error?.hint.contains(PostgresServer.administrator) == true)
    }
  }

  @Test func `functions of a newer version stay`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.rows(
      """
      CREATE OR REPLACE FUNCTION tarn.later() RETURNS void LANGUAGE sql AS $$ -- Tarn, revision 99
      SELECT $$
      """)
    let error = #expect(throws: ServerError.self) { try ServerMigration(connection).run() }
    #expect(error?.description.contains("revision 99") == true)
    #expect(error?.hint == "Use a newer Tarn.")
    #expect(try ServerStatus(connection).warnings.contains { $0.contains("a newer Tarn") })
    // A session leaves a new property to the newer version.
    var later = ClassSchema.todo
    later.columns.append(ColumnSchema(id: ColumnID(4), name: "rank", type: .double))
    let schema = StoreSchema(classes: [later])
    try ServerMigration(connection).runIfAllowed(schema, classes: ["Todo"])
    #expect(try connection.value("SELECT count(*) FROM tarn.property") == "4")
  }
}
