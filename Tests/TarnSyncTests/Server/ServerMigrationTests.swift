import TarnStore
import Testing

@testable import TarnSync

@Suite struct ServerMigrationTests {
  private func withRank() -> ClassSchema {
    var described = ClassSchema.todo
    described.columns.append(ColumnSchema(id: ColumnID(4), name: "rank", type: .double))
    return described
  }

  @Test func `classes become tables, once`() throws {
    let database = try PostgresDatabase()
    let connection = try database.connect()
    _ = try ServerSetup.run(connection)
    let migration = ServerMigration(connection)
    let schema = StoreSchema(classes: [.todo])
    #expect(try migration.run(schema) == ["created Todo"])
    #expect(try migration.run(schema) == [])
    try connection.rows("INSERT INTO \"Todo\" (_id, title) VALUES ('a', 'one')")
    #expect(
      try connection.rows("SELECT _id, title, count, tags FROM \"Todo\"")
        == [["a", "one", nil, "[]"]])
  }

  @Test func `a new property is added, and replicas reconcile the class`() throws {
    let database = try PostgresDatabase([.todo])
    let connection = try database.connect()
    try connection.rows("INSERT INTO \"Todo\" (_id) VALUES ('a')")
    #expect(try connection.value("SELECT count(*) FROM tarn.renewal") == "0")
    let done = try ServerMigration(connection).run(StoreSchema(classes: [withRank()]))
    #expect(done == ["added Todo.rank"])
    #expect(
      try connection.rows("SELECT class FROM tarn.renewal")
        == connection.rows("SELECT id FROM tarn.class"))
    try connection.rows("UPDATE \"Todo\" SET rank = 2.5")
    #expect(try connection.value("SELECT _tarn_cols ? 'rank' FROM \"Todo\"") == "t")
  }

  @Test func `an older program does not take away what a newer one has added`() throws {
    let database = try PostgresDatabase([withRank()])
    let connection = try database.connect()
    var other = ClassSchema.todo
    other.columns.append(ColumnSchema(id: ColumnID(4), name: "note", type: .string))
    let done = try ServerMigration(connection).run(StoreSchema(classes: [other]))
    #expect(done == ["added Todo.note"])
    try connection.rows("INSERT INTO \"Todo\" (_id, rank) VALUES ('a', 1)")
    try connection.rows("UPDATE \"Todo\" SET rank = 2, note = 'x'")
    let stamped = try connection.rows(
      "SELECT key FROM \"Todo\", jsonb_each(_tarn_cols) ORDER BY key COLLATE \"C\"")
    #expect(stamped == [["note"], ["rank"]])
  }

  @Test func `a changed type is refused and nothing is changed`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    var changed = withRank()
    changed.columns[2].type = .string
    let error = #expect(throws: ServerError.self) {
      try ServerMigration(connection).run(StoreSchema(classes: [changed]))
    }
    #expect(error?.description.contains("Todo.count is bigint on the server") == true)
    #expect(try connection.value("SELECT count(*) FROM tarn.property") == "4")
  }

  @Test func `everything that the server cannot take is named at once`() throws {
    let connection = try PostgresDatabase([]).connect()
    var bad = ClassSchema.todo
    bad.primaryKey = nil
    bad.columns[1].name = "ctid"
    let error = #expect(throws: ServerError.self) {
      try ServerMigration(connection).run(StoreSchema(classes: [bad]), classes: ["Todo", "Toad"])
    }
    let text = error?.description ?? ""
    #expect(text.contains("no primary key") && text.contains("ctid") && text.contains("Toad"))
  }

  @Test func `an unprepared database is not migrated`() throws {
    let connection = try PostgresDatabase().connect()
    let error = #expect(throws: ServerError.self) {
      try ServerMigration(connection).run(StoreSchema(classes: [.todo]))
    }
    #expect(error?.description.contains("tarn server init") == true)
  }

  @Test func `unique rules are constraints, also of long text`() throws {
    var described = ClassSchema.todo
    described.uniqueRules = [[ColumnID(1), ColumnID(2)]]
    let connection = try PostgresDatabase([described]).connect()
    try connection.rows("INSERT INTO \"Todo\" (_id, title, count) VALUES ('a', 'x', 1)")
    #expect(
      connection.refusal("INSERT INTO \"Todo\" (_id, title, count) VALUES ('b', 'x', 1)")
        == "23P01")
    let long = String(repeating: "long ", count: 10_000)
    try connection.rows("INSERT INTO \"Todo\" (_id, title, count) VALUES ('c', $1, 1)", [long])
  }

  @Test func `a unique rule that a class gets later is made once`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    var described = ClassSchema.todo
    described.uniqueRules = [[ColumnID(1)]]
    let schema = StoreSchema(classes: [described])
    #expect(try ServerMigration(connection).run(schema) == ["made Todo unique by title"])
    #expect(try ServerMigration(connection).run(schema) == [])
    try connection.rows("INSERT INTO \"Todo\" (_id, title) VALUES ('a', 'x')")
    #expect(
      connection.refusal("INSERT INTO \"Todo\" (_id, title) VALUES ('b', 'x')") == "23P01")
  }

  @Test func `a unique index of former versions is made anew`() throws {
    var described = ClassSchema.todo
    described.uniqueRules = [[ColumnID(1)], [ColumnID(2)]]
    let schema = StoreSchema(classes: [described])
    let connection = try PostgresDatabase([described]).connect()
    for (number, term) in [(2, "md5(title)"), (3, "count")] {
      let name = "_tarn_1_unique_\(number)"
      try connection.run(
        """
        ALTER TABLE "Todo" DROP CONSTRAINT \(name);
        CREATE UNIQUE INDEX \(name) ON "Todo" (\(term))
        """, for: "make an index")
    }
    let lines = ["made Todo unique by title", "made Todo unique by count"]
    #expect(try ServerMigration(connection).run(schema) == lines)
    #expect(try ServerMigration(connection).run(schema) == [])
    try connection.rows(
      "INSERT INTO \"Todo\" (_id, title, count) VALUES ('a', 'x', 1), ('b', 'y', 2)")
    try connection.rows("UPDATE \"Todo\" SET count = 3 - count, title = chr(241 - ascii(title))")
    let rows = try connection.rows("SELECT title, count FROM \"Todo\" ORDER BY _id")
    #expect(rows == [["y", "2"], ["x", "1"]])
  }

  @Test func `a table that is there, and a schema without rights, are named`() throws {
    let connection = try PostgresDatabase([]).connect()
    try connection.rows("REVOKE CREATE ON SCHEMA public FROM tarn_owner")
    let migration = ServerMigration(connection)
    let schema = StoreSchema(classes: [.todo])
    let poor = #expect(throws: ServerError.self) { try migration.run(schema) }
    #expect(poor?.hint == "GRANT CREATE ON SCHEMA \"public\" TO tarn_owner")
    try connection.rows("GRANT CREATE ON SCHEMA public TO tarn_owner")
    try connection.rows("CREATE TABLE \"Todo\" (id int)")
    let taken = #expect(throws: ServerError.self) { try migration.run(schema) }
    #expect(taken?.hint.contains("tarn server adopt") == true)
  }
}
