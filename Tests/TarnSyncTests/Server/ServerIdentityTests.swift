import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Maintenance leaves a server the same to its replicas, and a restore or copy does not.
@Suite struct ServerIdentityTests {
  private let database: PostgresDatabase
  private let connection: ServerConnection

  init() throws {
    database = try PostgresDatabase([.todo])
    connection = try database.connect()
    // As a server that an earlier version has named otherwise.
    try connection.rows("UPDATE tarn.origin SET name = 'known'")
  }

  private func identity() throws -> String {
    let found = try connection.value("SELECT tarn.identity()")
    let identity = try #require(found)
    let opened = try connection.value("SELECT server FROM tarn.open(NULL, 1, '{}', '0', '{}')")
    #expect(opened == identity)
    return identity
  }

  /// Pushes nothing but the version of a replica.
  private func push(_ server: String) throws {
    let replica = "11111111-1111-1111-1111-111111111111"
    try connection.rows("SELECT tarn.register($1)", [replica])
    try connection.rows(
      """
      SELECT tarn.push(id, $1, version, version + 1, commit, commit + 1) FROM tarn.replica
      """, [server])
  }

  @Test(arguments: [
    "VACUUM FULL tarn.server", "VACUUM FULL", "VACUUM FREEZE", "REINDEX SCHEMA tarn",
    "CLUSTER tarn.server USING server_pkey", "ANALYZE",
    "ALTER TABLE tarn.server SET (fillfactor = 50)",
    "ALTER TABLE tarn.server ALTER COLUMN format TYPE bigint",
  ])
  func `maintenance does not make another server`(_ command: String) throws {
    let before = try identity()
    try connection.rows(command)
    #expect(try identity() == before)
  }

  @Test func `another tablespace does not make another server`() throws {
    let space = SQLText.name(database.name)
    let before = try identity()
    try connection.rows("SET allow_in_place_tablespaces = on")
    try connection.rows("CREATE TABLESPACE \(space) LOCATION ''")
    for table in ["server", "origin", "era"] {
      try connection.rows("ALTER TABLE tarn.\(table) SET TABLESPACE \(space)")
    }
    #expect(try identity() == before)
    for table in ["server", "origin", "era"] {
      try connection.rows("ALTER TABLE tarn.\(table) SET TABLESPACE pg_default")
    }
    try connection.rows("DROP TABLESPACE \(space)")
  }

  /// As tools do that rewrite a table beside the one in use: its rows are of other transactions.
  @Test func `a table whose rows are written anew is the same server`() throws {
    let before = try identity()
    try connection.rows("UPDATE tarn.server SET pruned = pruned")
    try connection.rows("UPDATE tarn.origin SET name = name")
    try connection.rows("VACUUM FULL tarn.origin")
    #expect(try identity() == before)
  }

  /// It keeps the tables' numbers and transaction ids, and makes another cluster on timeline 1.
  @Test func `a cluster that pg_upgrade has made is the same server, and then a known one`() throws
  {
    let before = try identity()
    try connection.rows("UPDATE tarn.origin SET system = '1', timeline = '00000007', release = 14")
    #expect(try identity() == before)
    try push(before)
    #expect(
      try connection.value(
        """
        SELECT o.system = c.system_identifier::text AND o.timeline = '00000001' AND o.release > 14
        FROM tarn.origin o, pg_control_system() c
        """) == "t")
    #expect(try identity() == before)
  }

  @Test(arguments: [
    // A standby that took over, another machine, a copy of the database, and ids that went back.
    "timeline = '00000007'", "system = '1'", "place = '1/2/3'",
    "system = '1', release = 14, xid = '18446744073709551000'",
  ])
  func `another place is another server, which is noted by the next push`(_ place: String) throws {
    let before = try identity()
    try connection.rows("UPDATE tarn.origin SET \(place)")
    let after = try identity()
    #expect(after != before)
    #expect(throws: ServerError.self) { try push(before) }
    try push(after)
    #expect(try identity() == after)
    #expect(try connection.value("SELECT name FROM tarn.origin") == after)
    // What was noted before the failover does not count after an upgrade.
    try connection.rows("UPDATE tarn.origin SET system = '2', release = 14")
    #expect(try identity() == after)
  }

  @Test func `a copy of the database is another server`() throws {
    // No one may be connected to what is copied.
    let source = try PostgresDatabase([.todo])
    let copy = source.name + "_copy"
    try connection.rows(
      "CREATE DATABASE \(SQLText.name(copy)) TEMPLATE \(SQLText.name(source.name))")
    let shared = try PostgresServer.shared.get()
    let copied = try ServerConnection(ServerAddress(shared.address(copy)))
    let original = try source.connect()
    let identities = try [original, copied].map { try $0.value("SELECT tarn.identity()") }
    #expect(identities[0] != nil && identities[0] != identities[1])
    let names = try [original, copied].map { try $0.value("SELECT name FROM tarn.origin") }
    #expect(names[0] != nil && names[0] == names[1])
  }

  @Test(arguments: [
    // As a restore of the data into the same tables does.
    """
    CREATE TEMP TABLE kept AS SELECT * FROM tarn.server; TRUNCATE tarn.server;
    INSERT INTO tarn.server SELECT * FROM kept
    """,
    """
    CREATE TEMP TABLE kept AS SELECT * FROM tarn.server; DELETE FROM tarn.server;
    INSERT INTO tarn.server SELECT * FROM kept
    """,
    // And as one that turns triggers off.
    """
    CREATE TEMP TABLE kept AS SELECT * FROM tarn.server; TRUNCATE tarn.server;
    ALTER TABLE tarn.server DISABLE TRIGGER ALL; INSERT INTO tarn.server SELECT * FROM kept;
    ALTER TABLE tarn.server ENABLE TRIGGER ALL
    """,
    "DROP TABLE tarn.era; CREATE TABLE tarn.era ()",
    "UPDATE tarn.server SET history = gen_random_uuid()",
  ])
  func `a restore makes another server`(_ script: String) throws {
    let before = try identity()
    try connection.run("BEGIN; \(script); COMMIT", for: "restore")
    #expect(try identity() != before)
  }
}
