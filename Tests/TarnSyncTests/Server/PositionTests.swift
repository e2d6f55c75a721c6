import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Whether a reader that keeps a snapshot as its position misses nothing.
@Suite struct PositionTests {
  /// A reader that asks for what is new, as a replica does.
  private struct Reader {
    let connection: ServerConnection
    /// Titles by incarnation.
    var rows: [String: String] = [:]
    var since = "0"
    var pending: [String] = []

    init(_ connection: ServerConnection) { self.connection = connection }

    /// - Returns: the rows of the server in the snapshot of the pull.
    mutating func pull() throws -> [String: String] {
      try connection.run(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", for: "pull")
      let list = "{\(pending.joined(separator: ","))}"
      let opened = try #require(
        connection.rows(
          "SELECT snapshot, changed FROM tarn.open(NULL, 1, '{1}', $1, $2)", [since, list]
        ).first)
      let changed = Set(
        try connection.rows("SELECT tarn.changed(1, $1, $2)", [since, list]).map { $0[0] ?? "" })
      // The classes with changes are named, and no others.
      #expect((opened[1] != nil) == !changed.isEmpty)
      let truth = try connection.rows("SELECT _tarn_oid, title FROM \"Todo\"")
      let found = try connection.rows(
        """
        SELECT _tarn_oid, title FROM "Todo"
        WHERE _tarn_xid >= $1::text::xid8 OR _tarn_xid = ANY ($2::text::xid8[])
        """, [since, list])
      try connection.run("COMMIT", for: "pull")
      for oid in changed { rows[oid] = nil }
      for row in found { rows[row[0] ?? ""] = row[1] }
      #expect(Set(found.map { $0[0] ?? "" }).isSubset(of: changed))
      let parts = (opened[0] ?? "").split(separator: ":", omittingEmptySubsequences: false)
      since = String(parts[1])
      pending = parts[2].split(separator: ",").map(String.init)
      return Dictionary(uniqueKeysWithValues: truth.map { ($0[0] ?? "", $0[1] ?? "") })
    }
  }

  /// A program that writes rows of its own, so that none waits for another.
  private final class Writer {
    let connection: ServerConnection
    let name: String
    var isOpen = false
    var savepoints = 0
    var count = 0
    var prepared: [String] = []

    init(_ connection: ServerConnection, _ name: String) {
      self.connection = connection
      self.name = name
    }

    func step(_ random: inout SeededRandom) throws {
      let key = "\(name)\(random.below(6))"
      count += 1
      switch random.below(10) {
      case 0, 1: try begin()
      case 2: try end(random.below(3) == 0 ? "ROLLBACK" : "COMMIT")
      case 3 where isOpen:
        savepoints += 1
        try connection.rows("SAVEPOINT s\(savepoints)")
      case 4 where savepoints > 0:
        try connection.rows("ROLLBACK TO SAVEPOINT s\(savepoints)")
      case 5 where isOpen && prepared.isEmpty:
        prepared.append("\(name)-\(count)-\(ObjectIdentifier(self).hashValue)")
        try end("PREPARE TRANSACTION \(SQLText.literal(prepared[prepared.count - 1]))")
      case 6 where !isOpen && !prepared.isEmpty:
        let id = prepared.removeFirst()
        try connection.rows("COMMIT PREPARED \(SQLText.literal(id))")
      case 7 where prepared.isEmpty:
        try connection.rows("DELETE FROM \"Todo\" WHERE _id = $1", [key])
      default:
        // A prepared transaction holds its rows: others are written meanwhile.
        let free = prepared.isEmpty ? key : "\(name)-\(count)"
        try connection.rows(
          """
          INSERT INTO "Todo" (_id, title) VALUES ($1, $2)
          ON CONFLICT (_id) DO UPDATE SET title = excluded.title
          """, [free, "\(count)"])
      }
    }

    private func begin() throws {
      if isOpen { return }
      try connection.rows("BEGIN")
      isOpen = true
    }

    private func end(_ how: String) throws {
      if !isOpen { return }
      try connection.rows(how)
      (isOpen, savepoints) = (false, 0)
    }

    func finish() throws {
      try end("COMMIT")
      for id in prepared { try connection.rows("COMMIT PREPARED \(SQLText.literal(id))") }
      prepared = []
    }
  }

  @Test(arguments: Seeds.of(0..<6 as Range<UInt64>))
  func `a reader with a snapshot as its position equals the table at every pull`(
    _ seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    let database = try PostgresDatabase([.todo])
    // A transaction of another database that holds a number all the time.
    let idle = try PostgresDatabase().connect()
    try idle.run("BEGIN; SELECT pg_current_xact_id()", for: "test")
    let writers = try (0..<4).map { Writer(try database.connect(), "w\($0)x") }
    var reader = Reader(try database.connect())
    for _ in 0..<300 {
      try writers[random.below(writers.count)].step(&random)
      if random.below(4) == 0 {
        let truth = try reader.pull()
        #expect(reader.rows == truth)
      }
    }
    for writer in writers { try writer.finish() }
    let truth = try reader.pull()
    #expect(reader.rows == truth)
    #expect(!truth.isEmpty)
    try idle.run("ROLLBACK", for: "test")
  }
}
