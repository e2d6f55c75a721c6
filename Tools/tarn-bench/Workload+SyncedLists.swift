import BenchFloors
import Foundation
import Tarn
import TarnStore
import TarnSync
import ToolSupport

/// An object with a list, for the costs of exchanging it.
class Roll: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var numbers: List<Int>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// W16s, W16t, W16x, W16y: one insertion into a list of a hundred, ten thousand, a hundred thousand
/// and a million elements, until the server has it.
func measureSyncedLists(_ bench: Bench) throws {
  let server = try SyncServer(bench)
  let configuration = Realm.Configuration(
    fileURL: URL(fileURLWithPath: "\(bench.folder)/rolls.realm"), objectTypes: [Roll.self],
    durability: .relaxed)
  let realm = try Realm(configuration: configuration, scheduler: bench.scheduler)
  let store = try SyncServer.store(realm)
  try server.migrate(store, "Roll")
  let sizes = bench.isTiny ? [10, 20, 50, 70] : [100, 10_000, 100_000, 1_000_000]
  for (id, size) in zip(["W16s", "W16t", "W16x", "W16y"], sizes) {
    let roll = Roll()
    roll._id = size
    roll.numbers.append(objectsIn: 0..<size)
    try realm.write { realm.add(roll) }
    let replica = try Replica(store, classes: ["Roll"])
    defer { replica.close() }
    let replicator = try server.replicator(replica)
    try replicator.synchronize()
    let rounds = bench.rounds(size < 1_000_000 ? 5 : 3, tiny: 1)
    let seconds = try Statistics.median(of: rounds) {
      try realm.write { roll.numbers.insert(-1, at: size / 2) }
      return try benchTime { _ = try replicator.sendAll() }
    }
    try replicator.synchronize()
    bench.add(
      BenchFigure(
        id, "an insertion into a list of \(amount(size)), to the server", .seconds, ours: seconds))
  }
}
