import Foundation
import TarnStore
import Testing

@testable import TarnSync

@Suite struct ServerRepairTests {
  /// What a pull from `position` on is told of the only class.
  private func pull(
    _ connection: ServerConnection, since position: String
  ) throws -> (changed: Bool, renewed: Bool) {
    let parts = position.split(separator: ":", omittingEmptySubsequences: false)
    let id = try #require(try connection.value("SELECT id FROM tarn.class"))
    let row = try connection.rows(
      """
      SELECT changed IS NOT NULL, renewed IS NOT NULL
      FROM tarn.open(NULL, 1, ARRAY[\(id)], '\(parts[1])', '{\(parts[2])}')
      """)
    return (row[0][0] == "t", row[0][1] == "t")
  }

  private func position(_ connection: ServerConnection) throws -> String {
    try #require(try connection.value("SELECT pg_current_snapshot()"))
  }

  @Test func `a change in a table that policies rest on makes replicas reconcile the class`() throws
  {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.rows("CREATE TABLE members (name text, who text)")
    let repair = ServerRepair(connection)
    #expect(try repair.depend("Todo", on: "members"))
    #expect(try !repair.depend("Todo", on: "members"))
    let before = try position(connection)
    #expect(try pull(connection, since: before) == (false, false))
    try connection.rows("INSERT INTO members VALUES ('a', 'b')")
    #expect(try pull(connection, since: before) == (false, true))
    #expect(try pull(connection, since: position(connection)) == (false, false))
  }

  @Test func `a table of others is refused with the grant that is missing`() throws {
    let database = try PostgresDatabase([.todo])
    let server = try database.connect()
    let name = "depend_" + UUID().uuidString.prefix(8).lowercased()
    try server.run(
      """
      CREATE ROLE \(name)_owner; CREATE ROLE \(name) LOGIN;
      GRANT tarn_owner TO \(name);
      CREATE TABLE share (who text); ALTER TABLE share OWNER TO \(name)_owner
      """, for: "test")
    let repair = ServerRepair(try database.connect(as: name))
    let error = #expect(throws: ServerError.self) { try repair.depend("Todo", on: "share") }
    #expect(
      error?.message == "the login \(name) lacks the rights of \(name)_owner, who owns public.share"
    )
    #expect(error?.hint.contains("GRANT \(name)_owner TO \(name)") == true)
    try server.rows("GRANT \(name)_owner TO \(name)")
    #expect(try repair.depend("Todo", on: "share"))
  }

  @Test func `a database that is not prepared is the first problem`() throws {
    let connection = try PostgresDatabase().connect()
    let keyless = StoreSchema(classes: [
      ClassSchema(
        id: ClassID(0), name: "Keyless",
        columns: [ColumnSchema(id: ColumnID(0), name: "a", type: .int)])
    ])
    let attempts: [() throws -> Void] = [
      { try ServerMigration(connection).run(keyless) },
      { _ = try ServerRepair(connection).depend("Todo", on: "nothing") },
      { _ = try ServerAdoption(connection).run(table: "nothing", as: "Nothing") },
      { _ = try ServerRepair(connection).touch("Todo") },
      { try ServerRepair(connection).forget(class: "Todo") },
    ]
    for attempt in attempts {
      let error = #expect(throws: ServerError.self) { try attempt() }
      #expect(error?.message == "the database is not prepared")
    }
  }

  /// An older transaction that commits after a newer one must not be missed, and nobody waits.
  @Test func `two writers of such a table do not wait, and none is missed`() throws {
    let database = try PostgresDatabase([.todo])
    let (connection, slow) = (try database.connect(), try database.connect())
    try connection.rows("CREATE TABLE members (name text)")
    _ = try ServerRepair(connection).depend("Todo", on: "members")
    try slow.rows("BEGIN")
    try slow.rows("INSERT INTO members VALUES ('slow')")
    try connection.rows("SET statement_timeout = '5s'")
    try connection.rows("INSERT INTO members VALUES ('quick')")
    let between = try position(connection)
    #expect(try pull(connection, since: between) == (false, false))
    try slow.rows("COMMIT")
    #expect(try pull(connection, since: between) == (false, true))
  }

  @Test func `touched rows come again`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.rows("INSERT INTO \"Todo\" (_id, title) VALUES ('a', 'x'), ('b', 'y')")
    let state = "SELECT _tarn_at, _tarn_cols, _tarn_oid FROM \"Todo\" ORDER BY _id"
    let (before, rows) = (try position(connection), try connection.rows(state))
    #expect(try ServerRepair(connection).touch("Todo", where: "title = 'y'") == 1)
    #expect(try pull(connection, since: before) == (true, true))
    let end = before.split(separator: ":")[1]
    #expect(
      try connection.rows("SELECT _id FROM \"Todo\" WHERE _tarn_xid >= '\(end)'") == [["b"]])
    #expect(try connection.rows(state) == rows)
    #expect(try ServerRepair(connection).touch("Todo") == 2)
  }

  @Test func `a restored database is another server, and finds its tables again`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    let before = try connection.value("SELECT tarn.identity()")
    // A dump has the numbers of tables as they were.
    try connection.rows("UPDATE tarn.class SET tab = 1")
    #expect(try ServerRepair(connection).restore() == [])
    #expect(try connection.value("SELECT tarn.identity()") != before)
    #expect(
      try connection.value("SELECT tab::regclass FROM tarn.class") == "\"Todo\"")
    try connection.rows("DROP TABLE \"Todo\"")
    #expect(try ServerRepair(connection).restore() == ["Todo"])
  }

  /// A new cluster begins to count at some 730; the rows have the ids of the old one.
  @Test func `rows with ids that the cluster has not reached are not new at every pull`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.run(
      """
      INSERT INTO "Todo" (_id) VALUES ('a');
      INSERT INTO tarn.gone (class, xid, oid) SELECT id, '900000000000', 1 FROM tarn.class;
      INSERT INTO tarn.renewal (class, xid) SELECT id, '900000000000' FROM tarn.class;
      ALTER TABLE "Todo" DISABLE TRIGGER "~tarn";
      UPDATE "Todo" SET _tarn_xid = '900000000000';
      ALTER TABLE "Todo" ENABLE ALWAYS TRIGGER "~tarn"
      """, for: "restore")
    let now = try position(connection)
    #expect(try pull(connection, since: now) == (false, false))
    let id = try #require(try connection.value("SELECT id FROM tarn.class"))
    #expect(try connection.value("SELECT count(*) FROM tarn.changed(\(id), '3', '{}')") == "0")
    try connection.rows("UPDATE \"Todo\" SET title = 'new'")
    #expect(try pull(connection, since: now) == (true, false))
  }

  @Test func `a forgotten class keeps its table, without anything of ours`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.rows("CREATE TABLE members (name text)")
    _ = try ServerRepair(connection).depend("Todo", on: "members")
    try connection.rows("INSERT INTO \"Todo\" (_id, title) VALUES ('a', 'x')")
    try ServerRepair(connection).forget(class: "Todo")
    #expect(try connection.rows("SELECT * FROM \"Todo\"") == [["a", "x", nil, "[]"]])
    try connection.rows("UPDATE \"Todo\" SET title = 'y'")
    try connection.rows("INSERT INTO members VALUES ('m')")
    #expect(
      try connection.value(
        "SELECT count(*) FROM pg_proc WHERE proname IN ('merge_1', 'structure_1')") == "0")
    // Nothing of the former class is in the way of a new one.
    _ = try ServerAdoption(connection).run(table: "\"Todo\"", as: "Todo")
    let open = "SELECT missing FROM tarn.open(NULL, 1, '{1,2}', '3', '{}')"
    #expect(try connection.value(open) == "{1}")
  }

  @Test func `replicas that have not been seen for long are forgotten`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    for _ in 0..<3 { try connection.rows("SELECT tarn.register(gen_random_uuid())") }
    try connection.rows(
      "UPDATE tarn.replica SET seen = statement_timestamp() - interval '91 days' WHERE n <= 2")
    #expect(try ServerRepair(connection).forgetReplicas(unseenFor: 90) == 2)
    #expect(try connection.value("SELECT array_agg(n) FROM tarn.replica") == "{3}")
  }

  @Test func `a class that is not there is named`() throws {
    let repair = ServerRepair(try PostgresDatabase([.todo]).connect())
    let error = #expect(throws: ServerError.self) { try repair.touch("Toad") }
    #expect(error?.description == "cannot touch Toad: the server does not have a class Toad")
  }

  @Test func `a class whose table was dropped is forgotten, and made anew`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.rows("CREATE TABLE \"Members\" (name text)")
    let repair = ServerRepair(connection)
    #expect(try repair.depend("Todo", on: "Members"))
    try connection.rows("DROP TABLE \"Todo\"")
    let migration = ServerMigration(connection)
    let schema = StoreSchema(classes: [.todo])
    let error = #expect(throws: ServerError.self) { try migration.run(schema) }
    #expect(error?.message == "the server no longer has the table of the class Todo")
    #expect(error?.hint.contains("tarn server forget") == true)
    let touching = #expect(throws: ServerError.self) { try repair.touch("Todo") }
    #expect(touching?.message == error?.message)
    try repair.forget(class: "Todo")
    #expect(try connection.value("SELECT count(*) FROM tarn.class") == "0")
    try connection.rows("INSERT INTO \"Members\" VALUES ('m')")
    #expect(try migration.run(schema) == ["created Todo"])
    #expect(try repair.touch("Todo") == 0)
  }

  @Test func `a class without a primary key says so`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.rows("ALTER TABLE \"Todo\" DROP CONSTRAINT \"Todo_pkey\"")
    let error = #expect(throws: ServerError.self) {
      try ServerMigration(connection).run(StoreSchema(classes: [.todo]))
    }
    #expect(
      error?.message
        == "public.\"Todo\", the table of the class Todo, no longer has a primary key")
  }
}
