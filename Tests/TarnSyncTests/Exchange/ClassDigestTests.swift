import TarnStore
import Testing

@testable import TarnSync

@Suite struct ClassDigestTests {
  private let database: PostgresDatabase
  private let connection: ServerConnection
  private let described: ExchangeClass

  init() throws {
    database = try PostgresDatabase([ServerPeer.thing])
    connection = try database.connect()
    described = try ExchangeClass(
      ServerCatalog(connection, "test").existing("Thing"), ServerPeer.thing)
    try connection.rows("INSERT INTO \"Thing\" (_id, a) SELECT i, i FROM generate_series(1, 50) i")
  }

  /// The digest of what a replica has after it has read everything.
  private func replica() throws -> ClassDigest {
    var digest = ClassDigest()
    for row in try ClassPages(connection: connection, one: described).rows(after: nil).rows {
      digest.add(incarnation: row.incarnation, version: row.version)
    }
    return digest
  }

  @Test func `an equal copy has the same digest`() throws {
    let copy = try replica()
    #expect(copy.count == 50)
    #expect(try ClassDigest(described, connection) == copy)
    try connection.rows("DELETE FROM \"Thing\"")
    #expect(try ClassDigest(described, connection) == ClassDigest())
  }

  @Test(arguments: [
    "UPDATE \"Thing\" SET a = 99 WHERE _id = 7", "DELETE FROM \"Thing\" WHERE _id = 7",
    "INSERT INTO \"Thing\" (_id) VALUES (99)", "UPDATE \"Thing\" SET _id = 99 WHERE _id = 7",
    """
    ALTER TABLE "Thing" DISABLE TRIGGER ALL; DELETE FROM "Thing" WHERE _id = 7;
    ALTER TABLE "Thing" ENABLE TRIGGER ALL
    """,
  ])
  func `another copy has another digest`(_ change: String) throws {
    let copy = try replica()
    try connection.run(change, for: "test")
    #expect(try ClassDigest(described, connection) != copy)
  }

  /// Nothing but the digest tells of it.
  @Test func `a policy that hides a row without a write is noticed`() throws {
    let client = try database.connect(as: database.makeClient())
    try connection.run(
      """
      CREATE TABLE clock (hour int); INSERT INTO clock VALUES (0); GRANT SELECT ON clock TO PUBLIC;
      ALTER TABLE "Thing" ENABLE ROW LEVEL SECURITY;
      CREATE POLICY late ON "Thing" USING (a > (SELECT hour FROM clock))
      """, for: "make a policy")
    let before = try ClassDigest(described, client)
    try connection.rows("UPDATE clock SET hour = 3")
    #expect(try ClassDigest(described, client) != before)
    #expect(try ClassDigest(described, client).count == 47)
  }
}
