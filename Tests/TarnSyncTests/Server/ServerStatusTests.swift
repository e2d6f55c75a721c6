import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

@Suite struct ServerStatusTests {
  @Test func `status counts classes, replicas and tombstones`() throws {
    let database = try PostgresDatabase([.todo])
    let connection = try database.connect()
    try connection.run(
      """
      INSERT INTO "Todo" (_id) VALUES ('a'), ('b'), ('c'); DELETE FROM "Todo" WHERE _id = 'c';
      ANALYZE "Todo"; CREATE TABLE members (name text);
      ALTER TABLE "Todo" ENABLE ROW LEVEL SECURITY;
      SELECT tarn.register(gen_random_uuid());
      """, for: "fill")
    _ = try ServerRepair(connection).depend("Todo", on: "members")
    let status = try ServerStatus(connection)
    #expect(status.version.hasPrefix("1"))
    #expect(status.tombstones == 1)
    #expect(status.classes.map(\.name) == ["Todo"])
    #expect(status.classes.map(\.table) == ["\"Todo\""])
    #expect(status.classes.map(\.rows) == [2])
    #expect(status.classes.map(\.hasPolicies) == [true])
    #expect(status.classes.map(\.depends) == [["members"]])
    #expect(status.classes[0].size > 8192)
    #expect(status.replicas.map(\.number) == [1])
    #expect(status.replicas.map(\.role) == [PostgresServer.administrator])
    #expect(status.replicas.map(\.version) == [0])
  }

  /// The server of the tests runs without fsync and lets transactions idle.
  private static let known = ["fsync", "idle_in_transaction_session_timeout"]

  /// The warnings that a change of the database adds.
  private func warnings(after script: String) throws -> [String] {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.run(script, for: "test")
    return try ServerStatus(connection).warnings.filter { warning in
      !Self.known.contains { warning.hasPrefix($0) } && !warning.contains("transaction open for")
        && !warning.contains("prepared transaction")
    }
  }

  @Test func `a database as it should be has no warnings but the server's`() throws {
    #expect(try warnings(after: "SELECT") == [])
    let all = try ServerStatus(PostgresDatabase([.todo]).connect()).warnings
    for name in Self.known { #expect(all.contains { $0.hasPrefix(name) }) }
  }

  @Test(arguments: [
    ("DROP TABLE \"Todo\"", "class Todo has no table"),
    (
      "CREATE SCHEMA app; ALTER TABLE \"Todo\" SET SCHEMA app",
      "tarn_owner may not use the schema of app.\"Todo\""
    ),
    ("CREATE TABLE sub () INHERITS (\"Todo\")", "\"Todo\" has child tables"),
    (
      "CREATE TABLE top (_id text COLLATE \"C\"); ALTER TABLE \"Todo\" INHERIT top",
      "\"Todo\" is a child of top, so that"
    ),
    (
      """
      CREATE TABLE whole (LIKE "Todo") PARTITION BY LIST (_id);
      ALTER TABLE whole ATTACH PARTITION "Todo" DEFAULT
      """, "\"Todo\" is a partition of whole, so that"
    ),
    (
      """
      CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
      CREATE TRIGGER " z" BEFORE INSERT ON "Todo" FOR EACH ROW EXECUTE FUNCTION f()
      """, "the trigger \" z\" of \"Todo\" runs before Tarn's"
    ),
    (
      "CREATE RULE r AS ON INSERT TO \"Todo\" DO INSTEAD NOTHING",
      "\"Todo\" has the rule r"
    ),
    (
      "DROP TRIGGER \"~tarn_gone\" ON \"Todo\"", "the trigger \"~tarn_gone\" of \"Todo\" is missing"
    ),
    ("ALTER TABLE \"Todo\" DISABLE TRIGGER \"~tarn\"", "the trigger \"~tarn\" of \"Todo\" is not"),
    (
      """
      CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
      CREATE TRIGGER "~z" BEFORE UPDATE ON "Todo" FOR EACH ROW EXECUTE FUNCTION f()
      """, "the trigger \"~z\" of \"Todo\" runs after Tarn's"
    ),
    ("GRANT ALL ON \"Todo\" TO PUBLIC", "everybody may REFERENCES, TRIGGER, TRUNCATE on \"Todo\""),
    ("ALTER TABLE \"Todo\" DROP COLUMN title", "\"Todo\".title was dropped or renamed"),
    (
      "ALTER TABLE \"Todo\" ALTER COLUMN title TYPE varchar(10)",
      "\"Todo\".title is character varying(10) now, and was text"
    ),
    (
      """
      ALTER TABLE "Todo" DROP CONSTRAINT "Todo_pkey", ADD PRIMARY KEY (_id) DEFERRABLE
      """, "the primary key \"Todo_pkey\" of \"Todo\" is DEFERRABLE"
    ),
    (
      "ALTER TABLE \"Todo\" DROP CONSTRAINT \"Todo_pkey\"", "\"Todo\" no longer has a primary key"
    ),
    ("ALTER TABLE \"Todo\" SET UNLOGGED", "\"Todo\" is unlogged"),
    (
      "ALTER TABLE \"Todo\" ALTER count SET NOT NULL, ALTER count ADD GENERATED ALWAYS AS IDENTITY",
      "\"Todo\".count is GENERATED ALWAYS AS IDENTITY"
    ),
    (
      """
      ALTER TABLE "Todo" DROP title,
        ADD title text COLLATE "C" GENERATED ALWAYS AS (lower(_id)) STORED
      """, "\"Todo\".title is a generated column"
    ),
    (
      """
      CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      ALTER TABLE "Todo" ALTER _id TYPE text COLLATE loose
      """, "the collation of the primary key \"Todo\"._id treats"
    ),
    (
      """
      ALTER TABLE "Todo" DROP CONSTRAINT "Todo_pkey", ADD PRIMARY KEY (title)
      """, "the primary key of \"Todo\" is title, and was \"_id\", so that Todo is not exchanged"
    ),
    (
      """
      ALTER TABLE "Todo" DROP CONSTRAINT "Todo_pkey", ADD PRIMARY KEY (_id, title)
      """, "the primary key of \"Todo\" has several columns"
    ),
    (
      "ALTER TABLE \"Todo\" DROP _tarn_cols, DROP _tarn_parts",
      "\"Todo\" lacks _tarn_cols, _tarn_parts, so that"
    ),
    (
      "REVOKE ALL ON \"Todo\" FROM tarn_client", "only its owner has rights on public.\"Todo\""
    ),
  ])
  func `what goes past Tarn is named`(_ script: String, _ start: String) throws {
    // A script that changes rights has a second warning, that they changed.
    let change = "the policies or rights of public.\"Todo\" have changed"
    let found = try warnings(after: script)
    let changesRights = ["GRANT", "REVOKE"].contains { script.hasPrefix($0) }
    #expect(found.contains { $0.hasPrefix(change) } == changesRights)
    let others = found.filter { !$0.hasPrefix(change) }
    #expect(others.count == 1)
    #expect(others.allSatisfy { $0.hasPrefix(start) }, "\(found)")
  }

  @Test func `a table that got another owner is named with the remedy`() throws {
    let role = "owner_" + UUID().uuidString.prefix(8).lowercased()
    let found = try warnings(
      after: "CREATE ROLE \(role); ALTER TABLE \"Todo\" OWNER TO \(role)")
    let warning = try #require(found.first { $0.contains("belongs to") })
    #expect(warning.hasPrefix("\"Todo\" belongs to \(role)"))
    #expect(warning.hasSuffix("run 'GRANT \(role) TO tarn_owner'"))
  }

  @Test func `rights of one role on a column are enough`() throws {
    let found = try warnings(
      after: """
        REVOKE ALL ON "Todo" FROM tarn_client; GRANT SELECT (_id, title) ON "Todo" TO tarn_client
        """)
    #expect(found.count == 1)
    #expect(found.allSatisfy { $0.hasPrefix("the policies or rights of") }, "\(found)")
  }

  @Test func `triggers before ours and after a change do not matter`() throws {
    let found = try warnings(
      after: """
        CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
        CREATE TRIGGER a BEFORE UPDATE ON "Todo" FOR EACH ROW EXECUTE FUNCTION f();
        CREATE TRIGGER "~z" AFTER UPDATE ON "Todo" FOR EACH ROW EXECUTE FUNCTION f();
        CREATE TRIGGER "~y" BEFORE DELETE ON "Todo" FOR EACH ROW EXECUTE FUNCTION f()
        """)
    #expect(found == [])
  }

  @Test func `a database that is not prepared says so`() throws {
    let connection = try PostgresDatabase().connect()
    let error = #expect(throws: ServerError.self) { try ServerStatus(connection) }
    #expect(error?.description.contains("tarn server init") == true)
  }
}
