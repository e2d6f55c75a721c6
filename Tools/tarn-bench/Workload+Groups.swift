import BenchFloors
import Foundation
import Tarn
import ToolSupport

/// W5g: the first use of groups of all persons by age, a hundred groups. Earlier groups are
/// released, so each use is one scan. The floor computes the same in a plain loop over clusters.
func measureGrouping(_ bench: Bench) throws {
  let stores = try bench.stores()
  let people = stores.realm.objects(Person.self)
  var rows: Int64 = 0
  let floor = try seconds {
    bf_lmdb_scan(
      bench.folder, Int64(bench.objects), Int32(BF_SUM_BY_AGE.rawValue), "", &rows, $0)
  }
  var (grouped, groups) = (0, 0)
  let ours = (0..<5).map { _ in
    benchTime {
      grouped = people.grouped(by: \.age, .sum(of: \.score)).reduce(0) { $0 + $1.count }
    }
  }
  let ends = (0..<5).map { _ in
    benchTime {
      groups = people.grouped(by: \.age, .min(of: \.score), .max(of: \.score)).count
    }
  }
  guard grouped == rows, groups == 100 else {
    throw ToolError(
      "W5g: \(grouped) persons in \(groups) groups here, and \(rows) persons on the floor")
  }
  bench.add(
    BenchFigure(
      "W5g", "100 groups by age, count and sum", .seconds, ours: ours.min() ?? 0,
      floor: floor, target: .ratio(1.5)))
  bench.add(
    BenchFigure(
      "W5gm", "100 groups by age, minimum and maximum too", .seconds, ours: ends.min() ?? 0,
      floor: floor))
}

/// W7g: one change of a group among a hundred observed groups over all persons, from the commit
/// until the callback; W7gm with minimum and maximum, where each change removes the maximum. The
/// floor commits one change and notifies no observer.
func measureObservedGroups(_ bench: Bench) throws {
  let stores = try bench.stores()
  let people = stores.realm.objects(Person.self)
  let rounds = bench.rounds(400, tiny: 20)
  let commits = try seconds { bf_lmdb_commits(stores.lmdb, Int64(rounds), bf_no_sync, $0) }
  let floor = commits / Double(rounds)
  let sums = try measure(bench, rounds) { clock in
    people.grouped(by: \.age, .sum(of: \.score)).observe { _ in clock.call() }
  } change: { number in
    try stores.person(BenchStores.scattered(number, bench.objects)).score += 0.25
  }
  let ends = try measure(bench, rounds) { clock in
    people.grouped(by: \.age, .min(of: \.score), .max(of: \.score)).observe { _ in clock.call() }
  } change: { number in
    // Every second change replaces the maximum of its group by an ordinary value.
    let person = try stores.person(BenchStores.scattered(number / 2, bench.objects))
    person.score = number % 2 == 0 ? 1000 + Double(number) : 0.5
  }
  bench.add(
    BenchFigure(
      "W7g", "100 groups observed, 1 change: commit to callback", .seconds, ours: sums,
      floor: floor, target: .value(100e-6)))
  bench.add(
    BenchFigure(
      "W7gm", "W7g with minimum and maximum, which change", .seconds, ours: ends, floor: floor,
      target: .value(100e-6)))
}

private func measure(
  _ bench: Bench, _ rounds: Int, _ observe: (CallClock) -> NotificationToken,
  change: (Int) throws -> Void
) throws -> Double {
  let realm = try bench.stores().realm
  let clock = CallClock()
  let token = observe(clock)
  defer { token.invalidate() }
  bench.scheduler.pump()
  var times: [Double] = []
  for number in 0..<rounds + rounds / 4 {
    realm.beginWrite()
    try change(number)
    let (before, start) = (clock.calls, benchNow())
    try realm.commitWrite()
    bench.scheduler.pump()
    if clock.calls > before, number >= rounds / 4 { times.append(clock.last - start) }
  }
  guard times.count >= rounds / 2 else { throw ToolError("W7g: the observer was not called") }
  return Statistics.median(times)
}
