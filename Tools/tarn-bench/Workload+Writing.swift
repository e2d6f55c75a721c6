import BenchFloors
import Foundation
import Tarn
import TarnStore
import ToolSupport

/// W1 and W1f: inserts all persons in one write; the size of the file afterwards.
func measureInsert(_ bench: Bench) throws {
  let stores = try bench.stores()
  let rates = stores.insertSeconds.map { Double(bench.objects) / $0 }
  bench.add(
    BenchFigure(
      "W1", "insert \(amount(bench.objects)) objects in one write", .perSecond, ours: rates[0],
      floor: rates[1],
      sqlite: rates[2], target: .ratio(1 / 1.5)))
  var bytes: (Int64, Int64) = (0, 0)
  try floor(bf_lmdb_file_bytes(stores.lmdb, &bytes.0))
  try floor(bf_sqlite_file_bytes(stores.sqlite, &bytes.1))
  let path = bench.configuration("main").fileURL!.path
  let attributes = try FileManager.default.attributesOfItem(atPath: path)
  let ours = Double((attributes[.size] as? Int) ?? 0)
  let limit = 75 * 1_048_576.0 * Double(bench.objects) / 1e6
  bench.add(
    BenchFigure(
      "W1f", "file size after W1", .bytes, ours: ours, floor: Double(bytes.0),
      sqlite: Double(bytes.1), target: .value(limit)))
}

/// W2m: one write with scattered updates of ages.
func measureBulkUpdate(_ bench: Bench) throws {
  let stores = try bench.stores()
  let updates = min(100_000, bench.objects / 10)
  let medians = try bench.alternate([
    { try benchTime { try updateScattered(stores, updates) } },
    { try seconds { bf_lmdb_bulk_update(stores.lmdb, Int64(updates), $0) } },
    { try seconds { bf_sqlite_bulk_update(stores.sqlite, Int64(updates), $0) } },
  ])
  bench.add(
    BenchFigure(
      "W2m", "one write, \(amount(updates)) scattered updates", .seconds, ours: medians[0],
      floor: medians[1], sqlite: medians[2], target: .ratio(0.6)))
}

/// Finds persons by key and adds 1 to their ages, in one write.
private func updateScattered(_ stores: BenchStores, _ updates: Int) throws {
  try stores.realm.write {
    for _ in 0..<updates { try stores.person(stores.scatteredID()).age += 1 }
  }
}

/// The seconds that a floor measured.
func seconds(_ run: (UnsafeMutablePointer<Double>) -> Int32) throws -> Double {
  var value = 0.0
  try floor(run(&value))
  return value
}

/// W2a, W2c and W2b: commits of one Int, with two syncs, one and none.
func measureCommits(_ bench: Bench) throws {
  let stores = try bench.stores()
  if bench.options.wants("W2a") {
    try measureSyncedCommits(bench, stores, .full, "W2a", "durable commits of one Int", bf_full)
  }
  if bench.options.wants("W2c") {
    try measureSyncedCommits(
      bench, stores, .consistent, "W2c", "commits of one Int, one sync", bf_one_sync)
  }
  if bench.options.wants("W2b") {
    try measureCommits(
      bench, stores, stores.realm, "W2b", "commits of one Int, no fsync", 0.5, bf_no_sync)
  }
}

/// On a file of its own, because the file records whether its commits are synced.
private func measureSyncedCommits(
  _ bench: Bench, _ stores: BenchStores, _ durability: Realm.Configuration.Durability,
  _ id: String, _ title: String, _ sync: bf_sync
) throws {
  let realm = try Realm(
    configuration: bench.configuration("\(durability)", durability), scheduler: bench.scheduler)
  _ = try bench.fill(realm, objects: bench.objects)
  try measureCommits(bench, stores, realm, id, title, 0.85, sync)
}

private func measureCommits(
  _ bench: Bench, _ stores: BenchStores, _ realm: Realm, _ id: String, _ title: String,
  _ target: Double, _ sync: bf_sync
) throws {
  let commits =
    sync == bf_no_sync ? bench.rounds(10_000, tiny: 200) : bench.rounds(1000, tiny: 50)
  let people = try scatteredPeople(realm, bench)
  let rates = try bench.alternate([
    { Double(commits) / (try benchTime { try commit(realm, people, commits) }) },
    {
      Double(commits) / (try seconds { bf_lmdb_commits(stores.lmdb, Int64(commits), sync, $0) })
    },
    {
      Double(commits)
        / (try seconds { bf_sqlite_commits(stores.sqlite, Int64(commits), sync, $0) })
    },
  ])
  bench.add(
    BenchFigure(
      id, title, .perSecond, ours: rates[0], floor: rates[1], sqlite: rates[2],
      target: .ratio(target)))
}

/// Scattered live objects, found before the measurement begins.
private func scatteredPeople(_ realm: Realm, _ bench: Bench) throws -> [Person] {
  try (0..<min(10_000, bench.objects)).map { number in
    let id = BenchStores.scattered(number, bench.objects)
    guard let person = realm.object(ofType: Person.self, forPrimaryKey: id) else {
      throw ToolError("person \(id) is missing")
    }
    return person
  }
}

private func commit(_ realm: Realm, _ people: [Person], _ commits: Int) throws {
  for number in 0..<commits {
    let person = people[number % people.count]
    try realm.write { person.age += 1 }
  }
}

/// W2o: the same with the old values kept in the change records; the baseline is without them.
func measureOldValues(_ bench: Bench) throws {
  let stores = try bench.stores()
  guard let store = StoreRegistry.store(at: .file(stores.realm.configuration.fileURL!.path)) else {
    throw ToolError("the store is not open")
  }
  let commits = bench.rounds(10_000, tiny: 200)
  let people = try scatteredPeople(stores.realm, bench)
  let rates = try bench.alternate([
    {
      store.keepBefore { _ in .oldValues }
      defer { store.keepBefore(nil) }
      return Double(commits) / (try benchTime { try commit(stores.realm, people, commits) })
    },
    { Double(commits) / (try benchTime { try commit(stores.realm, people, commits) }) },
  ])
  bench.add(
    BenchFigure(
      "W2o", "commits of one Int with old values, no fsync; baseline: without", .perSecond,
      ours: rates[0], floor: rates[1], target: .ratio(0.8)))
}

/// W2g: the same after large and small writes have left free pages all over the files.
func measureAgedCommits(_ bench: Bench) throws {
  let stores = try bench.stores()
  let updates = min(100_000, bench.objects / 10)
  let small = bench.rounds(20_000, tiny: 200)
  let people = try scatteredPeople(stores.realm, bench)
  for _ in 0..<3 { try updateScattered(stores, updates) }
  try commit(stores.realm, people, small)
  try floor(bf_lmdb_age(stores.lmdb, 3, Int64(updates), Int64(small)))
  try floor(bf_sqlite_age(stores.sqlite, 3, Int64(updates), Int64(small)))
  try measureCommits(
    bench, stores, stores.realm, "W2g", "commits of one Int on an aged file, no fsync", 0.8,
    bf_no_sync)
}
