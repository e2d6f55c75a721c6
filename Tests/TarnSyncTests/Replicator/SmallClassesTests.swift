import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// First downloads of many classes.
@Suite struct SmallClassesTests {
  private let folder = TemporaryFolder()
  private let database: PostgresDatabase
  private let server: ServerConnection
  private let store: Store
  private static let names = (0..<40).map { "Class\($0)" }

  init() throws {
    database = try PostgresDatabase()
    server = try database.connect()
    _ = try ServerSetup.run(server)
    var options = Store.Options()
    options.isDurable = false
    options.classes = Self.names.map { name in
      ClassDefinition(
        name: name,
        properties: [
          .init(name: "_id", type: .int, isPrimaryKey: true), .init(name: "a", type: .int),
        ])
    }
    store = try StoreRegistry.open(folder.file("a"), options)
    try ServerMigration(server).run(store.newestSnapshot().schema.schema)
  }

  private func insert(_ count: Int, _ name: String) throws {
    try server.rows(
      "INSERT INTO \"\(name)\" (_id, a) SELECT n, n % 3 FROM generate_series(1, \(count)) n")
  }

  private func count(_ name: String) throws -> Int {
    let reader = try SnapshotReader(store.newestSnapshot())
    let id = try #require(reader.schema.schema.named(name)?.id)
    return Int(try reader.record(of: id).rowCount)
  }

  private static let sizes = ["Class3": 2, "Class7": 700, "Class8": 300, "Class9": 499]

  @Test func `those with few rows come in few commits`() throws {
    for (name, count) in Self.sizes { try insert(count, name) }
    let replica = try Replica(store, classes: Self.names)
    defer { replica.close() }
    let before = try store.newestSnapshot().version.rawValue
    let replicator = try Replicator(replica, database.connect(as: database.makeClient()))
    try replicator.synchronize()
    for name in Self.names { #expect(try count(name) == Self.sizes[name] ?? 0) }
    #expect(try ReplicaReport.isComplete(store))
    // Not one for each class.
    #expect(try store.newestSnapshot().version.rawValue - before < 12)
    // Changes of all of them arrive.
    for name in ["Class3", "Class5", "Class7"] {
      try server.rows("INSERT INTO \"\(name)\" (_id, a) VALUES (9999, 1)")
    }
    try replicator.synchronize()
    #expect(try ["Class3", "Class5", "Class7"].map(count) == [3, 1, 701])
  }

  @Test func `those that are subscribed to come by their conditions`() throws {
    for (name, count) in Self.sizes { try insert(count, name) }
    let snapshot = try store.newestSnapshot()
    let subscriptions = try Self.names.dropFirst(3).map { name in
      try Subscription(
        name: nil, to: #require(snapshot.schema.schema.named(name)),
        where: PredicateParser.parse("a == 1", []).predicate, in: snapshot, time: 0)
    }
    try store.editSubscriptions { set in
      set.subscriptions = subscriptions
      set.renew()
      return true
    }
    let replica = try Replica(store, classes: Self.names)
    defer { replica.close() }
    let replicator = try Replicator(replica, database.connect(as: database.makeClient()))
    try replicator.synchronize()
    #expect(try ["Class3", "Class7", "Class8", "Class9"].map(count) == [1, 234, 100, 167])
    #expect(try SubscriptionSet.read(in: store.newestSnapshot())?.state == .complete)
  }
}
