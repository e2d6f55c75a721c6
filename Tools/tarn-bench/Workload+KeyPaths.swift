import BenchFloors
import Foundation
import Tarn
import ToolSupport

/// W7p: an observer of many objects along a key path of four links, where the object at the end of
/// one path changes; from the commit until the callback. The floor commits one change and looks up
/// four objects.
func measureLongKeyPath(_ bench: Bench) throws {
  let stores = try bench.stores()
  let realm = try bench.kinRealm("chains")
  let count = min(100_000, bench.objects)
  try realm.write {
    for number in 0..<count {
      var end = ChainLink()
      end.value = number
      for _ in 0..<3 {
        let link = ChainLink()
        link.next = end
        end = link
      }
      let root = ChainRoot()
      root.next = end
      realm.add(root)
    }
  }
  let roots = realm.objects(ChainRoot.self)
  let clock = CallClock()
  let token = roots.observe(keyPaths: [\.next?.next?.next?.next?.value]) { _ in clock.call() }
  defer { token.invalidate() }
  bench.scheduler.pump()
  let rounds = bench.rounds(400, tiny: 10)
  var times: [Double] = []
  for number in 0..<rounds + rounds / 4 {
    let leaf = roots[BenchStores.scattered(number, count) - 1].next?.next?.next?.next
    realm.beginWrite()
    leaf?.value += 1
    let (before, start) = (clock.calls, benchNow())
    try realm.commitWrite()
    bench.scheduler.pump()
    guard clock.calls == before + 1 else { throw ToolError("the observer was not called") }
    if number >= rounds / 4 { times.append(clock.last - start) }
  }
  bench.add(
    BenchFigure(
      "W7p", "\(amount(count)) observed along 4 links, 1 change at the end", .seconds,
      ours: Statistics.median(times), floor: try keyPathFloor(stores, lookups: 4, bench),
      target: .value(100e-6)))
}

/// The duration of a commit on raw LMDB and some look-ups after it.
private func keyPathFloor(_ stores: BenchStores, lookups: Int, _ bench: Bench) throws -> Double {
  let rounds = Int64(bench.rounds(2000, tiny: 10))
  let commits = try seconds { bf_lmdb_commits(stores.lmdb, rounds, bf_no_sync, $0) }
  let nanoseconds = try seconds { bf_lmdb_lookup(stores.lmdb, rounds, $0) }
  return commits / Double(rounds) + Double(lookups) * nanoseconds * 1e-9
}

/// W7t: a thousand tokens on one collection, each with its own key path of three links; the change
/// is on one of these paths. From the commit until the last callback.
func measureManyKeyPaths(_ bench: Bench) throws {
  let stores = try bench.stores()
  let realm = try bench.kinRealm("hubs")
  let count = min(10_000, bench.objects)
  try realm.write {
    for id in 0..<count { realm.create(Hub.self, value: ["id": id]) }
    // Each in the middle of a chain of three links with different names.
    for id in stride(from: 0, to: count - 3, by: 4) {
      for step in 0..<3 {
        let hub = realm.object(ofType: Hub.self, forPrimaryKey: id + step)!
        hub[Hub.links[BenchStores.scattered(id + step, 10) - 1]] =
          realm.object(ofType: Hub.self, forPrimaryKey: id + step + 1)!
      }
    }
  }
  let hubs = realm.objects(Hub.self)
  let clock = CallClock()
  let tokens = Hub.links.flatMap { first in
    Hub.links.flatMap { second in
      Hub.links.map { third in
        hubs.observe(keyPaths: ["\(first).\(second).\(third).value"]) { _ in clock.call() }
      }
    }
  }
  defer { for token in tokens { token.invalidate() } }
  bench.scheduler.pump()
  let rounds = bench.rounds(100, tiny: 5)
  var times: [Double] = []
  for number in 0..<rounds + rounds / 4 {
    let id = 3 + 4 * (BenchStores.scattered(number, count / 4) - 1)
    guard let end = realm.object(ofType: Hub.self, forPrimaryKey: id) else { continue }
    realm.beginWrite()
    end.value += 1
    let (before, start) = (clock.calls, benchNow())
    try realm.commitWrite()
    bench.scheduler.pump()
    guard clock.calls == before + 1 else {
      throw ToolError("\(clock.calls - before) observers were called, not 1")
    }
    if number >= rounds / 4 { times.append(clock.last - start) }
  }
  bench.add(
    BenchFigure(
      "W7t", "\(amount(tokens.count)) tokens with key paths, 1 matches the change", .seconds,
      ours: Statistics.median(times), floor: try keyPathFloor(stores, lookups: 3, bench),
      target: .value(1e-3)))
}
