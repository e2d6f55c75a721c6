import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Rules of the server that are `DEFERRABLE`, which `ON CONFLICT` does not take.
@Suite struct DeferrableKeyTests {
  private let folder = TemporaryFolder()

  /// The primary key becomes so after the first exchange: `tarn server adopt` refuses it.
  @Test(arguments: ["DEFERRABLE", "DEFERRABLE INITIALLY DEFERRED"])
  func `objects are exchanged as ever when a primary key becomes deferrable`(_ kind: String) throws
  {
    let (database, role) = try FileReplica.server()
    let server = try database.connect()
    let (a, b) = (
      try FileReplica(folder.file("a")) { try database.connect(as: role) },
      try FileReplica(folder.file("b")) { try database.connect(as: role) }
    )
    defer {
      a.end()
      b.end()
    }
    for one in [a, b] { try one.synchronize() }
    try server.run(
      "ALTER TABLE \"Thing\" DROP CONSTRAINT \"Thing_pkey\", ADD PRIMARY KEY (_id) \(kind)",
      for: "test")
    // Both have connected before.
    try a.create("Thing", .int(1), a: 1)
    try a.synchronize()
    try b.create("Thing", .int(1), a: 2)
    try b.set("Thing", .int(1), 2, .int(7))
    try b.create("Thing", .int(2), a: 2)
    try b.synchronize()
    try a.synchronize()
    #expect(try a.objects() == b.objects())
    #expect(try a.objects().mapValues(\.a) == ["Thing 1": 2, "Thing 2": 2])
    #expect(
      try server.rows("SELECT _id, a, b FROM \"Thing\" ORDER BY 1") == [
        ["1", "2", "7"], ["2", "2", nil],
      ])
    // One commit that makes a key again, and an answer that is lost.
    try a.commit { session in
      let found = try session.find(primaryKey: .int(1), in: ClassID(0))
      try session.delete(#require(found), in: ClassID(0))
      try session.create([ColumnID(0): .int(1), ColumnID(1): .int(5)], in: ClassID(0))
      try session.create([ColumnID(0): .int(3), ColumnID(1): .int(3)], in: ClassID(0))
    }
    a.losesAnswer = true
    #expect(throws: FileReplica.LostAnswer.self) { try a.synchronize() }
    a.disconnect()
    try a.synchronize()
    try b.synchronize()
    #expect(try b.objects().mapValues(\.a) == ["Thing 1": 5, "Thing 2": 2, "Thing 3": 3])
    #expect(try a.objects() == b.objects())
    #expect(a.refused.isEmpty)
    #expect(b.refused.isEmpty)
    #expect(try ReplicaReport.of(a.store)?.stuck == [])
    #expect(try ReplicaReport.of(b.store)?.stuck == [])
    let warnings = try ServerStatus(server).warnings
    #expect(warnings.contains { $0.hasPrefix("the primary key \"Thing_pkey\" of \"Thing\" is") })
  }

  @Test(arguments: ["", " INITIALLY DEFERRED"])
  func `an adopted table may have other unique rules that are deferrable`(_ mode: String) throws {
    let database = try PostgresDatabase([])
    let server = try database.connect()
    let role = try database.makeClient()
    try server.run(
      """
      CREATE TABLE "Note" (_id text COLLATE "C" PRIMARY KEY, text text,
        a bigint NOT NULL UNIQUE DEFERRABLE\(mode));
      INSERT INTO "Note" VALUES ('n1', 'one', 1), ('n2', 'two', 2);
      GRANT SELECT, INSERT, UPDATE, DELETE ON "Note" TO tarn_client
      """, for: "make a table")
    _ = try ServerAdoption(server).run(table: "\"Note\"", as: "Note")
    let (a, b) = (
      try FileReplica(folder.file("a"), classes: ["Note"]) { try database.connect(as: role) },
      try FileReplica(folder.file("b"), classes: ["Note"]) { try database.connect(as: role) }
    )
    defer {
      a.end()
      b.end()
    }
    for one in [a, b] { try one.synchronize() }
    // Two rows exchange their values.
    try a.commit { session in
      for (key, value) in [("n1", 2), ("n2", 1)] {
        let found = try session.find(primaryKey: .string(key), in: ClassID(1))
        try session.set(
          ColumnID(1), at: #require(found), in: ClassID(1), to: .int(Int64(value)))
      }
    }
    // Both make one key, and one takes a value that is there.
    for (one, number) in [(a, 3), (b, 3)] { try one.create("Note", .string("n3"), a: number) }
    try b.create("Note", .string("n4"), a: 3)
    for one in [a, b, a] { try one.synchronize() }
    let expected = ["n1": 2, "n2": 1, "n3": 3]
    let rows = try server.rows("SELECT _id, a FROM \"Note\" ORDER BY 1")
    #expect(rows == [["n1", "2"], ["n2", "1"], ["n3", "3"]])
    for one in [a, b] {
      #expect(
        try one.objects().mapValues(\.a)
          == Dictionary(
            uniqueKeysWithValues: expected.map { ("Note \(Value.string($0))", Int64($1)) }))
    }
    #expect(a.refused.isEmpty)
    #expect(b.refused.map(\.error.state) == ["23505"])
    #expect(b.refused.flatMap(\.objects).map(\.primaryKey) == [.string("n4")])
  }
}
