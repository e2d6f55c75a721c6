import BenchFloors
import Foundation
import Tarn
import TarnStore
import ToolSupport

/// W14: a cursor catches up over many commits of one row each, a third of them inserts and a third
/// deletes, in one batch. The baseline walks over the same records in C and sums their checksums.
/// W14o: the same for SQLite's session extension and for an outbox that triggers fill, on a tenth
/// of the commits, all of them updates.
/// W14m: the memory that the batch takes, per object in it.
func measureCatchingUp(_ bench: Bench) throws {
  let feed = try FeedStore(bench, objects: max(100, bench.objects / 10))
  let commits = bench.objects
  let cursor = try feed.realm.cursor("w14", limit: LagLimit.none)
  defer { cursor.close() }
  for number in 0..<commits { try feed.commit(number) }
  var objects = 0
  var bytes: Int64 = 0
  let rates = try bench.alternate([
    {
      let before = bf_heap_bytes()
      var batch: ChangeBatch?
      let seconds = try benchTime { batch = try cursor.next() }
      bytes = bf_heap_bytes() - before
      guard let changes = batch?[Person.self] else { throw ToolError("W14 has no changes") }
      objects = changes.upserts.count + changes.removals.count
      return Double(commits) / seconds
    },
    {
      var (values, sum, seconds) = (Int64(0), UInt32(0), 0.0)
      try floor(bf_feed_walk(feed.path, 0x70, &values, &sum, &seconds), "walk")
      guard values >= commits else { throw ToolError("W14 has \(values) records") }
      return Double(commits) / seconds
    },
  ])
  let sqlite = try [BF_FEED_SESSION, BF_FEED_OUTBOX].map { kind in
    try measureSQLiteMerge(bench, kind, rows: feed.objects, commits: max(200, commits / 10))
  }
  bench.add(
    BenchFigure(
      "W14", "commits merged by a cursor that catches up over \(amount(commits))", .perSecond,
      ours: rates[0], floor: rates[1], sqlite: sqlite[0], target: .ratio(0.25)))
  bench.add(
    BenchFigure(
      "W14o", "the same; SQLite: an outbox filled by triggers", .perSecond, ours: rates[0],
      sqlite: sqlite[1]))
  bench.add(
    BenchFigure(
      "W14m", "memory of that batch, per object in it", .bytes,
      ours: Double(bytes) / Double(max(1, objects))))
}

private func measureSQLiteMerge(
  _ bench: Bench, _ kind: bf_feed, rows: Int, commits: Int
) throws -> Double {
  var handle: OpaquePointer?
  try floor(
    bf_sqlite_feed_create(bench.folder, Int64(rows), Int32(kind.rawValue), &handle), "feed")
  defer { bf_sqlite_feed_destroy(handle) }
  var (objects, seconds) = (Int64(0), 0.0)
  try floor(bf_sqlite_feed_commits(handle, Int64(commits), &seconds), "feed")
  try floor(bf_sqlite_feed_merge(handle, &objects, &seconds), "feed")
  guard objects > 0 else { throw ToolError("SQLite's feed is empty") }
  return Double(commits) / seconds
}

/// W14c: small commits of a file with one cursor; W14k: with a thousand; W14q: with one that keeps
/// old values; the baseline of each is the same file without cursors. W14a: acknowledgements, each
/// in a separate commit; the baseline is the commits in between. W14p: commits with a cursor,
/// compared with SQLite's commits with a changeset each.
func measureCursors(_ bench: Bench) throws {
  let feed = try FeedStore(bench, objects: bench.objects)
  let commits = bench.rounds(10_000, tiny: 200)
  let plain = { try feed.updates(commits) }
  let cases: [(id: String, title: String, count: Int, values: KeptValues, limit: Double)] = [
    ("W14c", "commits of one Int, no fsync, with a cursor; baseline: without", 1, .keys, 0.91),
    ("W14k", "the same with a thousand cursors", 1000, .keys, 0.95),
    ("W14q", "the same with a cursor that keeps old values", 1, .oldValues, 0.8),
  ]
  var withCursor = 0.0
  for one in cases {
    let rates = try bench.alternate([
      {
        // No process holds them.
        for number in 0..<one.count {
          try feed.realm.cursor("w14-\(number)", keeping: one.values).close()
        }
        defer { for number in 0..<one.count { try? feed.store.deleteCursor("w14-\(number)") } }
        return try plain()
      }, plain,
    ])
    if one.id == "W14c" { withCursor = rates[0] }
    bench.add(
      BenchFigure(
        one.id, one.title, .perSecond, ours: rates[0], floor: rates[1],
        target: .ratio(one.limit)))
  }
  let changesets = try measureSQLiteCommits(bench, rows: feed.objects, commits: commits)
  bench.add(
    BenchFigure(
      "W14p", "commits of one Int with a cursor; SQLite: each with a changeset", .perSecond,
      ours: withCursor, sqlite: changesets))
  try measureAcknowledging(bench, feed, bench.rounds(2_000, tiny: 50))
}

private func measureSQLiteCommits(_ bench: Bench, rows: Int, commits: Int) throws -> Double {
  var handle: OpaquePointer?
  let kind = Int32(BF_FEED_SESSION.rawValue)
  try floor(bf_sqlite_feed_create(bench.folder, Int64(rows), kind, &handle), "feed")
  defer { bf_sqlite_feed_destroy(handle) }
  let rates = try bench.alternate([
    {
      var seconds = 0.0
      try floor(bf_sqlite_feed_commits(handle, Int64(commits), &seconds), "feed")
      return Double(commits) / seconds
    }
  ])
  return rates[0]
}

private func measureAcknowledging(_ bench: Bench, _ feed: FeedStore, _ rounds: Int) throws {
  let cursor = try feed.realm.cursor("w14")
  defer {
    cursor.close()
    try? feed.store.deleteCursor("w14")
  }
  var (acknowledging, committing) = (0.0, 0.0)
  for number in 0..<rounds {
    committing += try benchTime { try feed.update(number) }
    guard let batch = try cursor.next() else { throw ToolError("W14a has no batch") }
    acknowledging += try benchTime { try batch.acknowledge() }
  }
  bench.add(
    BenchFigure(
      "W14a", "acknowledgements, no fsync; baseline: commits of one Int", .perSecond,
      ours: Double(rounds) / acknowledging, floor: Double(rounds) / committing,
      target: .ratio(1)))
}

/// W14s: the first batch of a whole store, of which two properties of each object are read; the
/// baseline reads the same properties of all objects.
func measureFirstBatch(_ bench: Bench) throws {
  let stores = try bench.stores()
  let cursor = try stores.realm.cursor(
    "w14s", of: .objects(of: Person.self), startingAt: .snapshot)
  defer {
    cursor.close()
    try? StoreRegistry.store(at: .file(stores.realm.configuration.fileURL!.path))?
      .deleteCursor("w14s")
  }
  func sum(_ people: Results<Person>) -> Double {
    var sum = 0.0
    for person in people { sum += Double(person.age) + person.score }
    return sum
  }
  var sums = [0.0, 0.0]
  let seconds = try bench.alternate([
    {
      try benchTime {
        guard let batch = try cursor.next(), batch.fullResync == .snapshot else {
          throw ToolError("W14s has no snapshot")
        }
        sums[0] = sum(batch.objects(Person.self))
      }
    },
    { benchTime { sums[1] = sum(stores.realm.freeze().objects(Person.self)) } },
  ])
  guard sums[0] == sums[1] else { throw ToolError("W14s reads other objects") }
  bench.add(
    BenchFigure(
      "W14s", "first batch of \(amount(bench.objects)) objects; baseline: a scan", .seconds,
      ours: seconds[0], floor: seconds[1], target: .ratio(2)))
}

/// A separate file for cursors.
private final class FeedStore {
  let realm: Realm
  let store: Store
  let objects: Int
  let path: String
  private let people: [Person]
  private var ids: [Int] = []
  private var nextID: Int

  init(_ bench: Bench, objects: Int) throws {
    var configuration = bench.configuration("feed-\(UUID().uuidString)")
    configuration.durability = .relaxed
    let realm = try Realm(configuration: configuration, scheduler: bench.scheduler)
    path = configuration.fileURL!.path
    guard let store = StoreRegistry.store(at: .file(path)) else {
      throw ToolError("the store is not open")
    }
    self.realm = realm
    self.store = store
    self.objects = objects
    try realm.write { for id in 1...objects { realm.add(Person.made(id)) } }
    ids = Array(1...objects)
    nextID = objects + 1
    people = try (0..<min(10_000, objects)).map { number in
      let id = BenchStores.scattered(number, objects)
      guard let person = realm.object(ofType: Person.self, forPrimaryKey: id) else {
        throw ToolError("person \(id) is missing")
      }
      return person
    }
  }

  /// An insert, a delete or an update.
  func commit(_ number: Int) throws {
    let index = BenchStores.scattered(number, ids.count) - 1
    switch number % 3 {
    case 0:
      try realm.write { realm.add(Person.made(nextID)) }
      ids.append(nextID)
      nextID += 1
    case 1:
      let id = ids[index]
      ids.swapAt(index, ids.count - 1)
      ids.removeLast()
      try realm.write {
        if let person = realm.object(ofType: Person.self, forPrimaryKey: id) {
          realm.delete(person)
        }
      }
    default:
      let id = ids[index]
      try realm.write { realm.object(ofType: Person.self, forPrimaryKey: id)?.age += 1 }
    }
  }

  func update(_ number: Int) throws {
    let person = people[number % people.count]
    try realm.write { person.age += 1 }
  }

  /// - Returns: commits a second.
  func updates(_ commits: Int) throws -> Double {
    Double(commits) / (try benchTime { for number in 0..<commits { try update(number) } })
  }
}
