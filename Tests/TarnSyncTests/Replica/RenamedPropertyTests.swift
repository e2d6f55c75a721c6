import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// A property that a migration of a file has renamed.
@Suite final class RenamedPropertyTests: ReplicaPair {
  /// The file's program has `b` of things under the name `rank` from now on.
  private func migrate(_ file: FileReplica) throws {
    try file.migrate(renaming: [("Thing", "b", "rank")])
  }

  private func ranks(_ file: FileReplica) throws -> [Int64: Int64?] {
    let reader = try SnapshotReader(file.store.newestSnapshot())
    let column = try #require(reader.schema.schema.named("Thing")?.named("rank"))
    var ranks: [Int64: Int64?] = [:]
    for key in try reader.allKeys(in: ClassID(0)) {
      let value = try reader.value(of: column.id, at: key, in: ClassID(0))
      if case .int(let rank)? = value {
        ranks[key.rawValue] = rank
      } else {
        ranks[key.rawValue] = nil as Int64?
      }
    }
    return ranks
  }

  private func setRank(_ file: FileReplica, _ rank: Int64) throws {
    let column = try #require(
      file.store.newestSnapshot().schema.schema.named("Thing")?.named("rank"))
    try file.set("Thing", .int(1), Int(column.id.rawValue), .int(rank))
  }

  private func migrateServer(_ file: FileReplica, _ renames: [String]) throws -> [String] {
    let snapshot = try file.store.newestSnapshot()
    return try ServerMigration(server).run(
      snapshot.schema.schema, renaming: PropertyRenames(renames, in: snapshot))
  }

  private func begin() throws {
    try a.create("Thing", .int(1), a: 1)
    try a.set("Thing", .int(1), 2, .int(7))
    try synchronize()
  }

  @Test func `values stay, and older programs go on with the former name`() throws {
    try begin()
    try migrate(a)
    let waiting = #expect(throws: ServerError.self) { try a.synchronize() }
    #expect(waiting?.message.hasPrefix("the server does not have Thing.rank yet") == true)
    #expect(waiting?.hint == "Run 'tarn server migrate' with --rename Thing.b=rank.")
    #expect(try ranks(a) == [1: 7])
    let refused = #expect(throws: ServerError.self) { try migrateServer(a, []) }
    #expect(refused?.message == "this store has renamed Thing.b to rank")
    #expect(try migrateServer(a, ["b=rank"]).count == 1)
    a.disconnect()
    try a.synchronize()
    #expect(try ranks(a) == [1: 7])
    b.disconnect()
    try b.set("Thing", .int(1), 2, .int(8))
    try b.synchronize()
    try a.synchronize()
    #expect(try ranks(a) == [1: 8])
    try setRank(a, 9)
    try a.synchronize()
    try b.synchronize()
    #expect(try b.objects()["Thing 1"]?.rest == "\(Value.int(9))")
    #expect(try server.value("SELECT rank FROM \"Thing\"") == "9")
  }

  /// A session with the owner's rights adds what the server lacks by itself.
  @Test func `the session of an owner does not add the new name`() throws {
    try begin()
    try migrate(a)
    let snapshot = try a.store.newestSnapshot()
    try ServerMigration(server).runIfAllowed(
      snapshot.schema.schema, classes: FileReplica.names, PropertyRenames(in: snapshot))
    #expect(connectionLacksRank())
  }

  private func connectionLacksRank() -> Bool {
    server.refusal("SELECT rank FROM \"Thing\"") == "42703"
  }

  @Test func `a column that was dropped and added again is the server's in all stores`() throws {
    try begin()
    try server.run("ALTER TABLE \"Thing\" DROP COLUMN b", for: "test")
    for file in [a, b] {
      file.disconnect()
      let waiting = #expect(throws: ServerError.self) { try file.synchronize() }
      #expect(waiting?.hint == "Run 'tarn server migrate URL FILE'.")
    }
    let schema = try a.store.newestSnapshot().schema.schema
    // Nor after it has been noticed.
    for _ in 0..<2 {
      try ServerMigration(server).runIfAllowed(schema, classes: FileReplica.names)
      #expect(server.refusal("SELECT b FROM \"Thing\"") == "42703")
      try ServerMigration(server).run()
    }
    try a.set("Thing", .int(1), 1, .int(5))
    #expect(try ServerMigration(server).run(schema).first?.hasPrefix("added Thing.b again") == true)
    for file in [a, b] { file.disconnect() }
    try synchronize()
    for file in [a, b] {
      #expect(try file.objects()["Thing 1"] == FileReplica.Object(a: 5, rest: nil, note: nil))
    }
    try b.set("Thing", .int(1), 2, .int(8))
    for file in [b, a] { try file.synchronize() }
    #expect(try a.objects()["Thing 1"]?.rest == "\(Value.int(8))")
  }

  @Test func `nothing is fetched over the values where the server has both`() throws {
    try begin()
    // Another administrator has added it without its values.
    try server.rows("ALTER TABLE \"Thing\" ADD COLUMN rank bigint")
    try migrate(a)
    let snapshot = try a.store.newestSnapshot()
    try ServerMigration(server).run(snapshot.schema.schema)
    let waiting = #expect(throws: ServerError.self) { try a.synchronize() }
    #expect(waiting?.message.hasPrefix("Thing.rank was b in this store") == true)
    #expect(try ranks(a) == [1: 7])
    try server.run(
      "UPDATE \"Thing\" SET rank = b; ALTER TABLE \"Thing\" DROP COLUMN b", for: "test")
    _ = try migrateServer(a, [])
    a.disconnect()
    try a.synchronize()
    #expect(try ranks(a) == [1: 7])
    try setRank(a, 9)
    try a.synchronize()
    #expect(try server.value("SELECT rank FROM \"Thing\"") == "9")
  }
}
