import Foundation
import Tarn
import TarnStore
import TarnSync
import ToolSupport

/// W16w: the server's processor time for a poll that finds nothing but a change of objects that
/// other replicas have; W16z: for each further such change. A thousand files have one object each.
func measureManyReplicas(_ bench: Bench) throws {
  let server = try SyncServer(bench)
  let count = bench.rounds(1_000, tiny: 5)
  try server.fill(count)
  let files = try ManyReplicas(server, count)
  defer { files.end() }
  let many = bench.rounds(100, tiny: 3)
  var (one, all): ([Double], [Double]) = ([], [])
  for round in 1...bench.rounds(5, tiny: 1) {
    one.append(try files.poll(after: "_id = 1", age: round, skipping: many))
    all.append(try files.poll(after: "_id <= \(many)", age: round, skipping: many))
    try files.expect(age: round, in: 1...many)
  }
  let (first, last) = (Statistics.median(one), Statistics.median(all))
  let title = "processor time of a server"
  bench.add(
    BenchFigure(
      "W16w", "\(title) for a poll of one of \(count) files after a change of another's object",
      .seconds, ours: first))
  bench.add(
    BenchFigure(
      "W16z", "\(title) for each further such change", .seconds,
      ours: max(0, last - first) / Double(many - 1), target: .value(0.000_001)))
}

/// Files that have one object each, over one connection as behind a pooler.
private final class ManyReplicas {
  private let server: SyncServer
  private var realms: [Realm] = []
  private var replicas: [Replica] = []
  private var replicators: [Replicator] = []

  init(_ server: SyncServer, _ count: Int) throws {
    self.server = server
    let connection = try ServerConnection(ServerAddress(server.address))
    for id in 1...count {
      let realm = try server.file()
      let store = try SyncServer.store(realm)
      try Self.subscribe(store, to: id)
      let replica = try Replica(store, classes: ["Person"])
      let replicator = try Replicator(replica, connection)
      try replicator.synchronize()
      realms.append(realm)
      replicas.append(replica)
      replicators.append(replicator)
    }
  }

  private static func subscribe(_ store: Store, to id: Int) throws {
    let snapshot = try store.newestSnapshot()
    guard let described = snapshot.schema.schema.named("Person") else {
      throw ToolError("the class is missing")
    }
    let condition = try PredicateParser.parse("_id == \(id)", []).predicate
    let one = try Subscription(name: nil, to: described, where: condition, in: snapshot, time: 0)
    try store.editSubscriptions { set in
      set.subscriptions = [one]
      set.renew()
      return true
    }
  }

  /// Makes each file poll after a change of some objects.
  ///
  /// - Parameter concerned: the number of files with changed objects, which are not measured.
  /// - Returns: the server's processor time for a poll.
  func poll(after condition: String, age: Int, skipping concerned: Int) throws -> Double {
    for replicator in replicators { try replicator.pull(looking: true) }
    try server.run("UPDATE \"Person\" SET age = \(age) WHERE \(condition)")
    for replicator in replicators.prefix(concerned) { try replicator.pull(looking: true) }
    let start = try server.processorTime()
    for replicator in replicators.dropFirst(concerned) { try replicator.pull(looking: true) }
    return (try server.processorTime() - start) / Double(max(1, replicators.count - concerned))
  }

  func expect(age: Int, in ids: ClosedRange<Int>) throws {
    for id in ids {
      let realm = realms[id - 1]
      realm.refresh()
      let people = realm.objects(Person.self)
      guard people.count == 1, people.first?._id == id, people.first?.age == age else {
        throw ToolError("W16z: a file has not what it subscribes to")
      }
    }
  }

  func end() {
    replicators = []
    for replica in replicas { replica.close() }
  }
}
