import Foundation
import TarnStore
import Testing

@testable import TarnSync

@Suite struct ClassTriggerTests {
  private let connection: ServerConnection

  init() throws { connection = try PostgresDatabase([.todo]).connect() }

  private func insert(_ key: String, _ said: String? = nil) throws {
    try connection.rows(
      "INSERT INTO \"Todo\" (_id, title, count, _tarn_in) VALUES ($1, 'one', 1, $2::jsonb)",
      [key, said])
  }

  private func row(_ columns: String, _ key: String = "a") throws -> [String?] {
    try #require(
      connection.rows("SELECT \(columns) FROM \"Todo\" WHERE _id = $1", [key]).first)
  }

  private func stamp(_ column: String) throws -> Int {
    try #require(Int(row("coalesce(_tarn_cols->'\(column)'->>0, _tarn_at::text)")[0] ?? ""))
  }

  private var clock: Int { Int(Date().timeIntervalSince1970 * 1_000_000) }

  @Test func `a row inserted by SQL is an object of the server's clock`() throws {
    let before = clock
    try insert("a")
    try insert("b")
    let state = try row("_tarn_at, _tarn_by, _tarn_cols, _tarn_parts, _tarn_in")
    let at = try #require(Int(state[0] ?? ""))
    #expect(at >= before && at <= clock)
    #expect(state[1...] == ["0", nil, nil, nil])
    #expect(try row("_tarn_oid") != row("_tarn_oid", "b"))
    #expect(try row("_tarn_xid <= pg_current_xact_id()") == ["t"])
  }

  @Test func `SQL stamps the columns that it changes`() throws {
    try insert("a")
    try connection.rows("UPDATE \"Todo\" SET title = 'one', count = 2")
    #expect(try row("_tarn_cols ? 'title', _tarn_cols ? 'count'") == ["f", "t"])
    try connection.rows("UPDATE \"Todo\" SET tags = '[]'")
    #expect(try row("_tarn_cols ? 'tags'") == ["f"])
    try connection.rows("UPDATE \"Todo\" SET tags = '[1]', title = 'two'")
    #expect(try row("_tarn_cols ? 'title', _tarn_cols ? 'tags'") == ["t", "t"])
  }

  @Test func `SQL has seen the row, so it wins over stamps ahead of the clock`() throws {
    let ahead = clock + 50_000_000
    try insert("a", "{\"by\": 3, \"at\": \(ahead), \"oid\": 5}")
    try connection.rows("UPDATE \"Todo\" SET count = 2")
    #expect(try stamp("count") == ahead + 1)
  }

  @Test func `columns of ours that SQL sets by hand are overwritten`() throws {
    try insert("a")
    let (oid, at) = (try row("_tarn_oid"), try row("_tarn_at"))
    try connection.rows(
      """
      UPDATE "Todo" SET _tarn_oid = 1, _tarn_at = 9e15, _tarn_by = 9, _tarn_xid = '1',
        _tarn_cols = '{"title": [9, 9]}', _tarn_parts = '{"title": 1}'
      """)
    #expect(try row("_tarn_oid") == oid)
    #expect(try row("_tarn_at") == at)
    #expect(try row("_tarn_by, _tarn_cols, _tarn_parts") == ["0", nil, nil])
    #expect(try row("_tarn_xid > '1'") == ["t"])
  }

  @Test func `a replica's row has its incarnation and its stamps`() throws {
    let (at, later) = (clock - 500, clock - 100)
    try insert(
      "a",
      """
      {"by": 3, "at": \(at), "oid": -5, "cols": {"title": \(later)}, "parts": {"title": "AA=="}}
      """)
    #expect(try row("_tarn_oid, _tarn_at, _tarn_by") == ["-5", "\(at)", "3"])
    #expect(try row("_tarn_cols, _tarn_in") == ["{\"title\": [\(later), 3]}", nil])
    #expect(try row("_tarn_parts") == ["{\"title\": [\(later), 3, \"AA==\"]}"])
  }

  /// What replica `by` says: a title, and optionally a stamp of the tags that it has seen.
  private func update(
    _ column: String, _ value: String, by replica: Int, at stamp: Int, seen: String? = nil
  ) throws {
    let said =
      "{\"by\": \(replica), \"cols\": {\"\(column)\": \(stamp)}"
      + (seen.map { ", \"seen\": {\"\(column)\": \($0)}" } ?? "") + "}"
    try connection.query(
      "UPDATE \"Todo\" SET \(column) = $1, _tarn_in = $2::jsonb WHERE _id = 'a'", [value, said],
      for: "test")
  }

  @Test func `the later stamp wins, whatever the order of arrival, then the larger number`() throws
  {
    let at = clock - 1_000_000
    try insert("a", "{\"by\": 1, \"at\": \(at), \"oid\": 5}")
    try update("title", "late", by: 2, at: at + 20)
    try update("title", "early", by: 3, at: at + 10)
    #expect(try row("title, _tarn_cols") == ["late", "{\"title\": [\(at + 20), 2]}"])
    try update("title", "same", by: 1, at: at + 20)
    #expect(try row("title") == ["late"])
    try update("title", "larger", by: 4, at: at + 20)
    #expect(try row("title") == ["larger"])
  }

  @Test func `a stamp far ahead of the server's clock is capped`() throws {
    try insert("a", "{\"by\": 1, \"at\": \(clock + 3_600_000_000), \"oid\": 5}")
    #expect(try stamp("count") <= clock + 60_000_000)
    try connection.rows("UPDATE \"Todo\" SET title = 'sql'")
    try update("count", "7", by: 2, at: clock + 3_600_000_000)
    #expect(try stamp("count") <= clock + 60_000_000)
  }

  /// Another trigger of the table may have changed them.
  @Test func `a column that a replica does not name is written by SQL`() throws {
    try insert("a")
    let said = "{\"by\": 2, \"cols\": {\"title\": \(clock + 1000)}}"
    try connection.rows(
      "UPDATE \"Todo\" SET title = 'two', count = 99, tags = '[1]', _tarn_in = $1::jsonb", [said])
    #expect(try row("title, count, tags") == ["two", "99", "[]"])
    #expect(
      try row("_tarn_cols->'title'->>1, _tarn_cols->'count'->>1, _tarn_cols->'tags'")
        == ["2", "0", nil])
  }

  @Test func `structure is taken only from a replica that has merged the newest`() throws {
    let at = clock - 1_000_000
    try insert("a", "{\"by\": 1, \"at\": \(at), \"oid\": 5}")
    try update("tags", "[1]", by: 2, at: at - 10, seen: "[\(at), 1]")
    // Though its stamp was earlier: it has merged.
    #expect(
      try row("tags, _tarn_cols") == ["[1]", "{\"tags\": [\(at + 1), 2]}"])
    let error = #expect(throws: ServerError.self) {
      try update("tags", "[2]", by: 3, at: at + 50, seen: "[\(at), 1]")
    }
    #expect(error?.state == "TN001")
    try connection.rows("UPDATE \"Todo\" SET tags = '[7]'")
    #expect(throws: ServerError.self) {
      try update("tags", "[2]", by: 3, at: at + 50, seen: "[\(at + 1), 2]")
    }
  }

  @Test func `a deleted row leaves its incarnation, a changed key both`() throws {
    try insert("a")
    try insert("b")
    let (first, second) = (try row("_tarn_oid")[0], try row("_tarn_oid", "b")[0])
    try connection.rows("DELETE FROM \"Todo\" WHERE _id = 'a'")
    try connection.rows("UPDATE \"Todo\" SET _id = 'c' WHERE _id = 'b'")
    #expect(try connection.rows("SELECT oid FROM tarn.gone ORDER BY xid") == [[first], [second]])
    #expect(try row("_tarn_oid", "c") != [second])
    let fates = try connection.rows(
      "SELECT * FROM tarn.fate(1, ARRAY['a', 'c', 'd'], ARRAY[$1, $2, 77]::bigint[])",
      [first, row("_tarn_oid", "c")[0]])
    #expect(fates.map { $0[1] } == ["gone", "hidden", "unknown"])
  }

  @Test func `each row that a statement deletes leaves its incarnation`() throws {
    try connection.rows("CREATE TABLE users (id text PRIMARY KEY)")
    try connection.rows("INSERT INTO users VALUES ('u'), ('one')")
    try connection.rows(
      "ALTER TABLE \"Todo\" ADD FOREIGN KEY (title) REFERENCES users ON DELETE CASCADE")
    for key in ["a", "b", "c", "d", "e"] { try insert(key) }
    let all = try connection.rows("SELECT _tarn_oid FROM \"Todo\" ORDER BY 1")
    try connection.rows("UPDATE \"Todo\" SET title = 'u' WHERE _id IN ('a', 'b')")
    try connection.rows("DELETE FROM users WHERE id = 'u'")
    try connection.rows(
      """
      WITH a AS (DELETE FROM \"Todo\" WHERE _id = 'c'), b AS (DELETE FROM \"Todo\" WHERE _id = 'd')
      SELECT 1
      """)
    try connection.rows("DELETE FROM \"Todo\"")
    #expect(try connection.rows("SELECT oid FROM tarn.gone ORDER BY 1") == all)
  }

  @Test func `TRUNCATE is refused`() throws {
    #expect(connection.refusal("TRUNCATE \"Todo\"") == "0A000")
  }

  @Test func `triggers run also where replication skips them`() throws {
    try connection.rows("SET session_replication_role = replica")
    try insert("a")
    try connection.rows("UPDATE \"Todo\" SET count = 5, tags = '[1]'")
    #expect(try row("_tarn_cols ? 'count', _tarn_cols ? 'tags'") == ["t", "t"])
    try connection.rows("DELETE FROM \"Todo\"")
    #expect(try connection.value("SELECT count(*) FROM tarn.gone") == "1")
  }

  @Test func `nobody commits a synced row without waiting for the disk`() throws {
    try connection.run(
      "BEGIN; SET LOCAL synchronous_commit = off; INSERT INTO \"Todo\" (_id) VALUES ('a')",
      for: "test")
    #expect(try connection.value("SHOW synchronous_commit") == "on")
    try connection.run("COMMIT", for: "test")
  }

  @Test func `no other trigger runs after ours by its name`() {
    #expect(ClassTriggers.name > "}tarn" && ClassTriggers.name.utf8.first == UInt8(ascii: "~"))
  }
}
