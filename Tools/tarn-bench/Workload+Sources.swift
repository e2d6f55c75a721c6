import BenchFloors
import Foundation
import Tarn
import ToolSupport

/// Counts the calls of observers and records the time of the last one.
final class CallClock {
  private(set) var calls = 0
  private(set) var last = 0.0

  func call() {
    last = benchNow()
    calls += 1
  }
}

/// An observed collection of W7x and its change.
private struct SourceKind {
  let id: String
  let name: String
  let observe: (Realm, CallClock) -> NotificationToken
  /// Changes a visible property of one element, a different one for each number.
  let change: (Realm, Int, Int) -> Void

  static func kin(_ realm: Realm, _ number: Int, of count: Int) -> Kin {
    realm.object(ofType: Kin.self, forPrimaryKey: BenchStores.scattered(number, count))!
  }

  private static func members(_ realm: Realm) -> List<Kin> {
    realm.objects(KinTribe.self)[0].members
  }

  private static func rename(_ realm: Realm, _ number: Int, _ count: Int) {
    kin(realm, number, of: count).name = "name \(BenchStores.scattered(number + 7, count))"
  }

  private static func age(_ realm: Realm, _ number: Int, _ count: Int) {
    kin(realm, number, of: count).age += 2
  }

  static var all: [SourceKind] {
    [
      SourceKind(
        id: "W7xc", name: "a class",
        observe: { realm, clock in
          realm.objects(Kin.self).observe { _ in clock.call() }
        }, change: age),
      SourceKind(
        id: "W7xl", name: "a list",
        observe: { realm, clock in
          members(realm).observe { _ in clock.call() }
        }, change: age),
      SourceKind(
        id: "W7xf", name: "a list, filtered and sorted",
        observe: { realm, clock in
          members(realm).where { $0.age > 0 }.sorted(by: \.name).observe { _ in clock.call() }
        }, change: rename),
      SourceKind(
        id: "W7xs", name: "a class, sorted over a link",
        observe: { realm, clock in
          realm.objects(Kin.self).sorted(by: \.home?.street).observe { _ in clock.call() }
        },
        change: { realm, number, count in
          kin(realm, number, of: count).home?.street = "\(BenchStores.scattered(number + 7, count))"
        }),
      SourceKind(
        id: "W7xd", name: "a class, distinct",
        observe: { realm, clock in
          realm.objects(Kin.self).distinct(by: [\.group]).observe { _ in clock.call() }
        },
        // The first of each group is shown.
        change: { realm, number, count in
          kin(realm, number, of: count / 10).age += 2
        }),
      SourceKind(
        id: "W7xv", name: "a class, distinct by what changes",
        observe: { realm, clock in
          realm.objects(Kin.self).distinct(by: [\.group]).observe { _ in clock.call() }
        },
        // An element that is shown, so that another one of its group replaces it.
        change: { realm, number, count in
          let groups = max(1, count / 10)
          kin(realm, number, of: groups).group = BenchStores.scattered(number + 7, groups) - 1
        }),
      SourceKind(
        id: "W7xg", name: "a class, in sections",
        observe: { realm, clock in
          realm.objects(Kin.self).sectioned(by: \.group).observe { _ in clock.call() }
        }, change: age),
      SourceKind(
        id: "W7xe", name: "a list, filtered and sorted, one replaced",
        observe: { realm, clock in
          members(realm).where { $0.age > 0 }.sorted(by: \.name).observe { _ in clock.call() }
        },
        change: { realm, number, count in
          let members = members(realm)
          members.remove(at: BenchStores.scattered(number + 5, count) - 1)
          members.insert(
            kin(realm, number, of: count), at: BenchStores.scattered(number, count) - 1)
        }),
    ]
  }
}

/// W7x: for each kind of source, one change, from its commit until the callback; with 2,000 and
/// with 100,000 elements. The floor commits one change and notifies no observer.
func measureSources(_ bench: Bench) throws {
  let stores = try bench.stores()
  let commits = Int64(bench.rounds(2000, tiny: 10))
  let time = try seconds { bf_lmdb_commits(stores.lmdb, commits, bf_no_sync, $0) }
  let floor = time / Double(commits)
  let counts = [min(2000, bench.objects), min(100_000, bench.objects)]
  var times: [String: [Double]] = [:]
  for (number, count) in counts.enumerated() {
    let realm = try bench.kinRealm("kin\(number)")
    try fillKin(realm, count)
    for kind in SourceKind.all
    where bench.options.wants(kind.id) || bench.options.wants(kind.id + "r") {
      times[kind.id, default: []].append(try measure(kind, realm, count, bench))
    }
  }
  for kind in SourceKind.all {
    guard let measured = times[kind.id] else { continue }
    bench.add(
      BenchFigure(
        kind.id, "\(amount(counts[1])) observed as \(kind.name), 1 change", .seconds,
        ours: measured[1],
        floor: floor, target: .value(100e-6)))
    bench.add(
      BenchFigure(
        kind.id + "r", "\(kind.id) again; baseline: with \(amount(counts[0]))", .seconds,
        ours: measured[1],
        floor: measured[0], target: .ratio(2)))
  }
}

private func fillKin(_ realm: Realm, _ count: Int) throws {
  try realm.write {
    let tribe = KinTribe()
    realm.add(tribe)
    for id in 1...count {
      let home = KinHome()
      (home.id, home.street) = (id, "street \(BenchStores.scattered(id, count))")
      let kin = Kin()
      (kin.id, kin.name, kin.home) = (id, "name \(BenchStores.scattered(id + 3, count))", home)
      (kin.age, kin.group) = (id % 2 * 2 - 1, id % max(1, count / 10))
      tribe.members.append(kin)
    }
  }
}

private func measure(
  _ kind: SourceKind, _ realm: Realm, _ count: Int, _ bench: Bench
) throws -> Double {
  let clock = CallClock()
  let token = kind.observe(realm, clock)
  defer { token.invalidate() }
  bench.scheduler.pump()
  let rounds = bench.rounds(200, tiny: 10)
  var times: [Double] = []
  for number in 0..<rounds + rounds / 4 {
    realm.beginWrite()
    kind.change(realm, 2 * number + 1, count)
    let (before, start) = (clock.calls, benchNow())
    try realm.commitWrite()
    bench.scheduler.pump()
    // Some changes do not affect the elements.
    if clock.calls > before, number >= rounds / 4 { times.append(clock.last - start) }
  }
  guard times.count >= rounds / 4 else {
    throw ToolError("\(kind.id): the observer was not called")
  }
  return Statistics.median(times)
}
