import Foundation
import TarnStore
import Testing

@testable import TarnSync

/// What a login may do that belongs to `tarn_client`.
@Suite struct StrangerTests {
  private let database: PostgresDatabase
  private let role: String
  private let stranger: ServerConnection

  init() throws {
    database = try PostgresDatabase([.todo])
    role = try database.makeClient()
    stranger = try database.connect(as: role)
  }

  /// Insufficient privilege.
  private let forbidden = "42501"

  @Test func `rows are read and written, under the policies of the one who does it`() throws {
    let administrator = try database.connect()
    try administrator.run(
      """
      ALTER TABLE "Todo" ENABLE ROW LEVEL SECURITY;
      CREATE POLICY own ON "Todo" USING (title = current_user);
      INSERT INTO "Todo" (_id, title) VALUES ('a', 'somebody')
      """, for: "test")
    try stranger.rows("INSERT INTO \"Todo\" (_id, title) VALUES ('b', $1)", [role])
    #expect(try stranger.rows("SELECT _id FROM \"Todo\"") == [["b"]])
    #expect(stranger.refusal("INSERT INTO \"Todo\" (_id, title) VALUES ('c', 'x')") == forbidden)
    #expect(try administrator.value("SELECT count(*) FROM \"Todo\"") == "2")
  }

  @Test func `our tables are closed to it`() throws {
    for table in ["server", "class", "property", "replica", "gone", "origin", "era"] {
      for statement in ["SELECT * FROM", "DELETE FROM", "TRUNCATE", "LOCK TABLE"] {
        let isLock = statement == "LOCK TABLE"
        if isLock { try stranger.rows("BEGIN") }
        #expect(stranger.refusal("\(statement) tarn.\(table)") == forbidden, "\(table)")
        if isLock { try stranger.rows("ROLLBACK") }
      }
    }
    #expect(stranger.refusal("CREATE TABLE tarn.mine (a int)") == forbidden)
    #expect(stranger.refusal("SET ROLE tarn_owner") == forbidden)
  }

  /// Each function is a door: one that is not on the list must not open.
  @Test func `only the functions on the list may be called`() throws {
    let open = try database.connect().rows(
      """
      SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'tarn'::regnamespace
        AND has_function_privilege($1, p.oid, 'EXECUTE') ORDER BY p.proname COLLATE "C"
      """, [role])
    #expect(
      open.map { $0[0] } == [
        "changed", "classes", "definition", "fate", "former_names", "open", "push", "register",
      ])
    let unsafe = try database.connect().rows(
      """
      SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'tarn'::regnamespace
        AND (p.proconfig IS NULL OR NOT 'search_path=pg_catalog, pg_temp' = ANY (p.proconfig))
      """)
    #expect(unsafe == [])
  }

  @Test func `a table of a class is not to be altered, emptied or watched by triggers`() throws {
    for statement in [
      "TRUNCATE \"Todo\"", "ALTER TABLE \"Todo\" DISABLE TRIGGER ALL", "DROP TABLE \"Todo\"",
      "CREATE TRIGGER mine BEFORE INSERT ON \"Todo\" FOR EACH ROW EXECUTE FUNCTION tarn.bury()",
      "CREATE TABLE mine (a text REFERENCES \"Todo\")",
    ] {
      #expect(stranger.refusal(statement) == forbidden, "\(statement)")
    }
  }

  @Test func `our trigger functions are not to be put on a table of its own`() throws {
    try stranger.rows("CREATE TEMP TABLE mine (_tarn_oid bigint)")
    for function in ["bury", "depend", "merge_1", "structure_1"] {
      let trigger = "CREATE TRIGGER mine AFTER DELETE ON mine FOR EACH ROW"
      let refusal = stranger.refusal("\(trigger) EXECUTE FUNCTION tarn.\(function)(1)")
      #expect(refusal == forbidden, "\(function)")
    }
  }

  /// The server's identity, as a pull learns it.
  private var here: String {
    get throws {
      try #require(
        try stranger.value("SELECT server FROM tarn.open(NULL, 1, '{}', '3', '{}')"))
    }
  }

  private func push(
    _ id: String, _ server: String, _ first: Int, _ last: Int, _ previous: Int, _ latest: Int
  ) -> String {
    "SELECT tarn.push('\(id)', '\(server)', \(first), \(last), \(previous), \(latest))"
  }

  @Test func `a replica belongs to the login that registered it`() throws {
    let id = UUID().uuidString
    let number = try stranger.value("SELECT tarn.register($1)", [id])
    #expect(try stranger.value("SELECT tarn.register($1)", [id]) == number)
    let other = try database.connect(as: database.makeClient())
    #expect(other.refusal("SELECT tarn.register('\(id)')") == forbidden)
    #expect(other.refusal(push(id, try here, 0, 1, 0, 5)) == "TN002")
    #expect(
      try other.rows("SELECT version FROM tarn.open($1, 1, '{}', '0', '{}')", [id]) == [[nil]])
  }

  @Test func `versions move by one exact step`() throws {
    let id = UUID().uuidString
    try stranger.rows("SELECT tarn.register($1)", [id])
    let server = try here
    func push(_ first: Int, _ last: Int, _ previous: Int, _ latest: Int) -> String? {
      stranger.refusal(self.push(id, server, first, last, previous, latest))
    }
    #expect(stranger.refusal(self.push(id, "another", 0, 4, 0, 77)) == "TN002")
    #expect(push(0, 4, 0, 77) == nil)
    #expect(push(0, 4, 0, 77) == "TN002")
    #expect(push(4, 5, 78, 79) == "TN002")
    #expect(push(3, 5, 77, 79) == "TN002")
    #expect(push(4, 4, 77, 79) == "TN002")
    #expect(push(4, 9, 77, 79) == nil)
    #expect(
      try stranger.rows("SELECT version, commit FROM tarn.open($1, 1, '{}', '0', '{}')", [id])
        == [["9", "79"]])
  }
}
