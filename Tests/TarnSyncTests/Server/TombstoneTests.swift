import TarnStore
import Testing

@testable import TarnSync

/// Tombstones are kept for 30 days, and each push deletes some of the older ones.
@Suite struct TombstoneTests {
  private let replica = "11111111-1111-1111-1111-111111111111"

  private func push(_ connection: ServerConnection, _ version: Int) throws {
    let server = try connection.value("SELECT server FROM tarn.open(NULL, 1, '{}', '3', '{}')")
    try connection.rows(
      "SELECT tarn.push('\(replica)', $1, \(version), \(version + 1), \(version), \(version + 1))",
      [server])
  }

  private func make(_ connection: ServerConnection, days: Int, xid: Int) throws {
    try connection.run(
      """
      INSERT INTO tarn.gone (class, xid, oid, at)
        VALUES (1, '\(xid)', 1, statement_timestamp() - interval '\(days) days');
      INSERT INTO tarn.renewal (class, xid, at)
        VALUES (1, '\(xid)', statement_timestamp() - interval '\(days) days')
      """, for: "make a tombstone")
  }

  @Test func `old ones go, and the server says up to where`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.rows("SELECT tarn.register('\(replica)')")
    for (days, xid) in [(40, 10), (31, 20), (29, 30)] { try make(connection, days: days, xid: xid) }
    try push(connection, 0)
    #expect(try connection.rows("SELECT xid FROM tarn.gone") == [["30"]])
    #expect(try connection.rows("SELECT xid FROM tarn.renewal") == [["30"]])
    #expect(try connection.value("SELECT pruned FROM tarn.server") == "20")
  }

  @Test func `those that an open transaction may still show stay`() throws {
    let database = try PostgresDatabase([.todo])
    let (connection, other) = (try database.connect(), try database.connect())
    try connection.rows("SELECT tarn.register('\(replica)')")
    try other.rows("BEGIN")
    let open = try #require(Int(try other.value("SELECT pg_current_xact_id()") ?? ""))
    try make(connection, days: 40, xid: open)
    try push(connection, 0)
    #expect(try connection.value("SELECT count(*) FROM tarn.gone") == "1")
    try other.rows("COMMIT")
  }

  @Test func `one push deletes a thousand at most`() throws {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.rows("SELECT tarn.register('\(replica)')")
    try connection.rows(
      """
      INSERT INTO tarn.gone (class, xid, oid, at)
      SELECT 1, (10 + i / 10)::text::xid8, i, '2020-01-01' FROM generate_series(1, 1500) i
      """)
    try push(connection, 0)
    #expect(try connection.value("SELECT count(*) FROM tarn.gone") == "500")
    try push(connection, 1)
    #expect(try connection.value("SELECT count(*) FROM tarn.gone") == "0")
    #expect(try connection.value("SELECT pruned FROM tarn.server") == "160")
  }
}
