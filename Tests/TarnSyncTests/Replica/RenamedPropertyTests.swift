import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// A property that a migration of a file has renamed.
@Suite final class RenamedPropertyTests: ReplicaPair {
  /// The file's program has `b` of things under the name `rank` from now on.
  private func migrate(_ file: FileReplica) throws {
    var classes = FileReplica.classes
    classes[0].properties[2].name = "rank"
    let token = try file.store.acquireGate()
    let migration = try SchemaMigration(
      file.store.newestSnapshot(), to: 1, classes, path: file.store.path, rowsMoved: {})
    let from = try #require(migration.plan.stored.named("Thing")?.named("b"))
    let to = try #require(migration.plan.working.named("Thing")?.named("rank"))
    try migration.takeOver(from.id, to.id, in: ClassID(0))
    let session = try migration.finish()
    let version = try file.store.commit(session).0.version
    file.store.announce(version, token)
    file.disconnect()
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
