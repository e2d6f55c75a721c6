import TestSupport
import Testing

@testable import TarnSync

@Suite struct ServerSetupTests {
  @Test func `preparing a database twice changes nothing`() throws {
    let connection = try PostgresDatabase().connect()
    #expect(try ServerSetup.run(connection) == .made)
    let history = try connection.value("SELECT history FROM tarn.server")
    #expect(history != nil)
    #expect(try ServerSetup.run(connection) == .wasThere)
    #expect(try connection.value("SELECT history FROM tarn.server") == history)
  }

  @Test func `everything belongs to a role that cannot log in`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    let owners = try connection.rows(
      """
      SELECT DISTINCT r.rolname, r.rolcanlogin FROM pg_roles r JOIN (
        SELECT relowner AS o FROM pg_class
          WHERE relnamespace IN ('tarn'::regnamespace, 'public'::regnamespace)
        UNION ALL SELECT proowner FROM pg_proc WHERE pronamespace = 'tarn'::regnamespace
        UNION ALL SELECT nspowner FROM pg_namespace WHERE nspname = 'tarn') x ON x.o = r.oid
      """)
    #expect(owners == [["tarn_owner", "f"]])
  }

  @Test func `all that the server lacks is named at once, and nothing is made`() throws {
    let database = try PostgresDatabase()
    let role = try "poor_" + #require(database.name.split(separator: "_").last).lowercased()
    let administrator = try database.connect()
    try administrator.rows("CREATE ROLE \(SQLText.name(role)) LOGIN")
    let connection = try database.connect(as: role)
    let error = #expect(throws: ServerError.self) {
      try ServerSetup.run(connection, schema: "nowhere")
    }
    let text = error?.description ?? ""
    #expect(text.contains("the right to create schemas"))
    #expect(text.contains("the schema nowhere"))
    let owned = #expect(throws: ServerError.self) { try ServerSetup.run(connection) }
    #expect(owned?.description.contains("ownership of the schema public") == true)
    #expect(try administrator.value("SELECT to_regnamespace('tarn')") == nil)
  }

  @Test func `a login that is no member of the owner is named what it lacks`() throws {
    let database = try PostgresDatabase()
    let role = try "keen_" + #require(database.name.split(separator: "_").last).lowercased()
    _ = try PostgresDatabase([])
    try database.connect().run(
      """
      CREATE ROLE \(SQLText.name(role)) LOGIN;
      ALTER DATABASE \(SQLText.name(database.name)) OWNER TO \(SQLText.name(role))
      """, for: "test")
    let error = #expect(throws: ServerError.self) {
      try ServerSetup.run(database.connect(as: role))
    }
    #expect(
      error?.detail == "- membership in the role tarn_owner: GRANT tarn_owner TO \"\(role)\"")
    try database.connect().rows("GRANT tarn_owner TO \(SQLText.name(role))")
    #expect(try ServerSetup.run(database.connect(as: role)) == .made)
  }

  @Test func `a database of another encoding is refused`() throws {
    let database = try PostgresDatabase()
    let other = database.name + "_latin"
    try database.connect().rows(
      "CREATE DATABASE \(SQLText.name(other)) ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    let server = try PostgresServer.shared.get()
    let connection = try ServerConnection(ServerAddress(server.address(other)))
    let error = #expect(throws: ServerError.self) { try ServerSetup.run(connection) }
    #expect(error?.description.contains("encoding UTF8; this one has LATIN1") == true)
  }

  @Test func `another format is refused by name`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.rows("UPDATE tarn.server SET format = 99")
    let error = #expect(throws: ServerError.self) { try ServerSetup.run(connection) }
    #expect(error?.description.contains("format 99") == true)
    #expect(throws: ServerError.self) { try ServerMigration(connection).run() }
    #expect(throws: ServerError.self) { try ServerStatus(connection) }
  }

  /// A program of an earlier format goes on after a newer one has brought the server up to date.
  @Test func `a server serves the programs of a range of formats`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.rows("UPDATE tarn.server SET format = 3")
    func refusal(_ spoken: String) -> String? {
      connection.refusal("SELECT * FROM tarn.open(NULL, \(spoken), '{}', '0', '{}')")
    }
    #expect(["1", "2", "3"].map(refusal) == [nil, nil, nil])
    #expect(["0", "4", "NULL"].map(refusal) == ["0A000", "0A000", "0A000"])
  }
}
