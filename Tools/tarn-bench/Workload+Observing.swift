import BenchFloors
import Foundation
import Tarn
import ToolSupport

/// An observed `age > 50`, sorted by name, in a store; measures from the start of a commit until
/// the callback, on one instance whose turns the benchmark takes.
private final class ObservedPeople {
  let realm: Realm
  private let scheduler: ManualScheduler
  private let results: Results<Person>
  private var token: NotificationToken?
  private(set) var calls = 0
  private(set) var lastCall = 0.0
  private var serial = 0

  /// - Parameter window: the positions of those observed.
  init(
    _ realm: Realm, _ scheduler: ManualScheduler, window: Range<Int> = 0..<Int.max
  ) throws {
    self.realm = realm
    self.scheduler = scheduler
    let people = realm.objects(Person.self).where { $0.age > 50 }.sorted(by: \.name)
    results = window.upperBound == .max ? people : people.window(window)
    token = results.observe { [unowned self] _ in
      lastCall = benchNow()
      calls += 1
    }
    scheduler.pump()
    guard calls == 1 else { throw ToolError("the observer's first call is missing") }
  }

  var count: Int { results.count }

  /// A new unique name, somewhere in the order.
  func freshName() -> String {
    serial += 1
    var values = bf_person()
    bf_person_make(Int64(1_000_000_007 + serial), &values)
    return benchText(&values.name)
  }

  /// A person of the result, a different one for each number.
  func someone(_ number: Int) -> Person {
    results[BenchStores.scattered(number, results.count) - 1]
  }

  /// Renames a person of the result.
  func renameOne(_ number: Int) { someone(number).name = freshName() }

  /// From the start of a commit of `change` until the callback.
  func measure(_ change: () throws -> Void) throws -> Double {
    realm.beginWrite()
    try change()
    let before = calls
    let start = benchNow()
    try realm.commitWrite()
    scheduler.pump()
    guard calls == before + 1 else { throw ToolError("the observer was not called") }
    return lastCall - start
  }

  deinit { token?.invalidate() }
}

/// W7: renames one person of an observed result; with all persons and with 10,000.
func measureOneChange(_ bench: Bench) throws {
  let stores = try bench.stores()
  let small = try Realm(
    configuration: bench.configuration("small"), scheduler: bench.scheduler)
  _ = try bench.fill(small, objects: min(10_000, bench.objects))
  let rounds = bench.rounds(400, tiny: 20)
  func ours(_ realm: Realm) throws -> Double {
    let observed = try ObservedPeople(realm, bench.scheduler)
    for number in 0..<rounds / 4 { _ = try observed.measure { observed.renameOne(number) } }
    return Statistics.median(
      try (0..<rounds).map { number in
        try observed.measure { observed.renameOne(7 * number + 1) }
      })
  }
  let few = try ours(small)
  let many = try ours(stores.realm)
  var inOrder: Int32 = 0
  let floor = try seconds { bf_lmdb_reinsert(stores.lmdb, Int64(rounds), &inOrder, $0) }
  var matches: Int64 = 0
  let sqlite = try seconds { bf_sqlite_requery(stores.sqlite, &matches, $0) }
  bench.add(
    BenchFigure(
      "W7", "observed age > 50 by name, 1 change: commit to callback", .seconds, ours: many,
      floor: floor, sqlite: sqlite, target: .value(100e-6)))
  bench.add(
    BenchFigure(
      "W7n", "W7 with 10,000 objects", .seconds, ours: few, target: .value(100e-6)))
  bench.add(
    BenchFigure(
      "W7r", "W7 again; baseline: W7n", .seconds, ours: many, floor: few,
      target: .ratio(2)))
}

/// W7w: the same with an observed window of fifty; one of them is renamed, so that another one
/// replaces it.
func measureWindow(_ bench: Bench) throws {
  let stores = try bench.stores()
  let rounds = bench.rounds(400, tiny: 20)
  let first = bench.objects / 5
  let observed = try ObservedPeople(
    stores.realm, bench.scheduler, window: first..<first + min(50, bench.objects / 20))
  let ours = Statistics.median(
    try (0..<rounds).map { number in try observed.measure { observed.renameOne(number) } })
  var inOrder: Int32 = 0
  let floor = try seconds { bf_lmdb_reinsert(stores.lmdb, Int64(rounds), &inOrder, $0) }
  bench.add(
    BenchFigure(
      "W7w", "W7 with a window of 50 observed", .seconds, ours: ours,
      floor: floor, target: .value(100e-6)))
}

/// W7kc: the commit in W7k: scattered renames without observers, from the call of the commit to its
/// return. The floor is a whole transaction of as many updates.
func measureScatteredCommit(_ bench: Bench) throws {
  let stores = try bench.stores()
  let changes = min(1000, bench.objects / 10)
  let medians = try bench.alternate(
    rounds: 9,
    [
      {
        stores.realm.beginWrite()
        for number in 0..<changes {
          var values = bf_person()
          let id = stores.scatteredID()
          bf_person_make(Int64(2_000_000_007 + number + id), &values)
          try stores.person(id).name = benchText(&values.name)
        }
        return try benchTime { try stores.realm.commitWrite() }
      },
      { try seconds { bf_lmdb_bulk_update(stores.lmdb, Int64(changes), $0) } },
      { try seconds { bf_sqlite_bulk_update(stores.sqlite, Int64(changes), $0) } },
    ])
  bench.add(
    BenchFigure(
      "W7kc", "the commit of W7k alone, without observers", .seconds, ours: medians[0],
      floor: medians[1], sqlite: medians[2]))
}

/// W7k: the same with many changes in one commit; the floor runs the query again.
func measureManyChanges(_ bench: Bench) throws {
  let stores = try bench.stores()
  if bench.options.wants("W7kc") { try measureScatteredCommit(bench) }
  let observed = try ObservedPeople(stores.realm, bench.scheduler)
  var matches: Int64 = 0
  let requery = try Statistics.median(of: bench.rounds(3, tiny: 1)) {
    try seconds { bf_lmdb_requery(stores.lmdb, &matches, $0) }
  }
  let sqlite = try seconds { bf_sqlite_requery(stores.sqlite, &matches, $0) }
  let cases = [("W7k", 1000, 3e-3, 9), ("W7l", 100_000, 150e-3, 3)]
  for (id, changes, limit, rounds) in cases {
    let changes = min(changes, bench.objects / 10)
    let ours = try Statistics.median(of: bench.rounds(rounds, tiny: 1)) {
      try observed.measure {
        for _ in 0..<changes {
          try stores.person(stores.scatteredID()).name = observed.freshName()
        }
      }
    }
    bench.add(
      BenchFigure(
        id, "W7 with \(amount(changes)) changes; baseline: query again", .seconds, ours: ours,
        floor: requery, sqlite: sqlite,
        target: .value(limit)))
  }
}

/// W7b: begins a write on the observing instance after another instance of the file has committed a
/// change. Includes catching up and calling the observer.
func measureForeignCommit(_ bench: Bench) throws {
  let stores = try bench.stores()
  let observed = try ObservedPeople(stores.realm, bench.scheduler)
  let other = try Realm(configuration: bench.configuration("main"), scheduler: ManualScheduler())
  var times: [Double] = []
  for _ in 0..<bench.rounds(200, tiny: 10) {
    let shown = observed.someone(stores.scatteredID())
    let person = other.object(ofType: Person.self, forPrimaryKey: shown._id)
    try other.write { person?.name = observed.freshName() }
    let calls = observed.calls
    times.append(benchTime { stores.realm.beginWrite() })
    stores.realm.cancelWrite()
    guard observed.calls == calls + 1 else { throw ToolError("the observer was not called") }
  }
  bench.add(
    BenchFigure(
      "W7b", "begin a write after another instance's commit", .seconds,
      ours: Statistics.median(times), target: .value(200e-6)))
}

/// W7m: a hundred different observed results; from a commit that changes all of them until the last
/// callback.
func measureManyResults(_ bench: Bench) throws {
  let realm = try Realm(
    configuration: bench.configuration("hundred"), scheduler: bench.scheduler)
  let objects = min(100_000, bench.objects)
  _ = try bench.fill(realm, objects: objects)
  var calls = 0
  var lastCall = 0.0
  let tokens = (0..<100).map { number in
    realm.objects(Person.self).where { $0.age < 100 + number }.sorted(by: \.name).observe { _ in
      lastCall = benchNow()
      calls += 1
    }
  }
  bench.scheduler.pump()
  var times: [Double] = []
  for number in 0..<bench.rounds(60, tiny: 5) {
    let id = BenchStores.scattered(number, objects)
    guard let person = realm.object(ofType: Person.self, forPrimaryKey: id) else { continue }
    calls = 0
    realm.beginWrite()
    person.name = String(person.name.reversed())
    let start = benchNow()
    try realm.commitWrite()
    bench.scheduler.pump()
    guard calls == 100 else { throw ToolError("\(calls) of 100 observers were called") }
    times.append(lastCall - start)
  }
  for token in tokens { token.invalidate() }
  bench.add(
    BenchFigure(
      "W7m", "100 observed results of \(amount(objects)) objects, 1 change: last callback",
      .seconds,
      ours: Statistics.median(times), target: .value(3e-3)))
}

/// W9: many objects with one observer each; one of them changes. Also the memory of an observer
/// with its token and closure, without the objects.
func measureObjectObservers(_ bench: Bench) throws {
  let stores = try bench.stores()
  let count = min(10_000, bench.objects)
  let people = try (1...count).map { try stores.person($0) }
  var calls = 0
  var lastCall = 0.0
  var tokens: [NotificationToken] = []
  tokens.reserveCapacity(count)
  let before = bf_heap_bytes()
  for person in people {
    tokens.append(
      person.observe { _ in
        lastCall = benchNow()
        calls += 1
      })
  }
  let bytes = Double(bf_heap_bytes() - before)
  bench.scheduler.pump()
  var times: [Double] = []
  for number in 0..<bench.rounds(200, tiny: 10) {
    let person = people[BenchStores.scattered(number, count) - 1]
    calls = 0
    stores.realm.beginWrite()
    person.age += 1
    let start = benchNow()
    try stores.realm.commitWrite()
    bench.scheduler.pump()
    guard calls == 1 else { throw ToolError("\(calls) object observers were called, not 1") }
    times.append(lastCall - start)
  }
  for token in tokens { token.invalidate() }
  bench.add(
    BenchFigure(
      "W9", "\(amount(count)) object observers, one object changes", .seconds,
      ours: Statistics.median(times),
      target: .value(50e-6)))
  bench.add(
    BenchFigure(
      "W9b", "memory per object observer", .bytes, ours: bytes / Double(count),
      target: .value(500)))
}
