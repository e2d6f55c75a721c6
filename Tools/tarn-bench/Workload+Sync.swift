import BenchFloors
import Foundation
import Tarn
import TarnStore
import TarnSync
import ToolSupport

/// W16: from a commit in one file to a callback in another, over sessions and a server. The
/// baseline commits one value, notifies in a separate transaction, and reads it where the
/// notification arrives. W16b: the same with eight other writers on the server.
func measureSyncLatency(_ bench: Bench) throws {
  let server = try SyncServer(bench)
  try server.fill(10)
  let (a, b) = (try server.file(), try server.file())
  let sessions = [try server.session(a), try server.session(b)]
  defer { for session in sessions { session.stop() } }
  try untilTrue(bench, b) { $0.objects(Person.self).count == 10 }
  try untilTrue(bench, a) { $0.objects(Person.self).count == 10 }
  try server.run("CREATE TABLE load (id int PRIMARY KEY, n int)")
  try server.run("INSERT INTO load SELECT n, 0 FROM generate_series(0, 999) n")
  let rounds = bench.rounds(60, tiny: 3)
  let channel = "tarn_\(try server.number("SELECT id FROM tarn.class WHERE name = 'Person'"))"
  for (id, title, writers) in [("W16", "alone", 0), ("W16b", "beside 8 writers", 8)] {
    var load: OpaquePointer?
    if writers > 0 {
      try floor(bf_pg_load_start(server.ownerAddress, Int32(writers), &load), "load")
    }
    defer { if let load { bf_pg_load_end(load) } }
    let ours = try measureWay(bench, a, b, rounds)
    var plain = [Double](repeating: 0, count: rounds)
    try floor(bf_pg_wake(server.ownerAddress, channel, Int64(rounds), 0.12, &plain), "a wake")
    bench.add(
      BenchFigure(
        id, "commit to callback through a server, p50, \(title)", .seconds,
        ours: Statistics.median(ours), floor: Statistics.median(plain), target: .ratio(2)))
  }
}

private func untilTrue(_ bench: Bench, _ realm: Realm, _ condition: (Realm) -> Bool) throws {
  let deadline = benchNow() + 60
  while true {
    realm.refresh()
    if condition(realm) { return }
    guard benchNow() < deadline else { throw ToolError("the files do not become equal") }
    usleep(2_000)
  }
}

/// One latency for each commit. The pauses are longer than the least distance of hints.
private func measureWay(
  _ bench: Bench, _ a: Realm, _ b: Realm, _ rounds: Int
) throws -> [Double] {
  guard let person = a.object(ofType: Person.self, forPrimaryKey: 1) else {
    throw ToolError("person 1 is missing")
  }
  var received = 0.0
  let token = b.objects(Person.self).observe { _ in received = benchNow() }
  bench.scheduler.pump()
  var latencies: [Double] = []
  for number in 0..<rounds {
    usleep(120_000)
    bench.scheduler.pump()
    received = 0
    let start = benchNow()
    try a.write { person.age = number + 1_000 }
    while received == 0 || b.object(ofType: Person.self, forPrimaryKey: 1)?.age != number + 1_000 {
      guard bench.scheduler.wait(timeout: 10) else { throw ToolError("W16: no callback") }
      bench.scheduler.pump()
    }
    latencies.append(received - start)
  }
  withExtendedLifetime(token) {}
  return latencies
}

/// W16u: small commits on their way up; W16d: down to another file; W16j: joined. The baseline
/// sends the same arrays through the same trigger, and reads by the same query.
func measureSyncRates(_ bench: Bench) throws {
  let server = try SyncServer(bench)
  let objects = max(100, bench.objects / 100)
  let commits = bench.rounds(100_000, tiny: 500)
  try server.fill(objects)
  let (a, b) = (try server.file(), try server.file())
  for realm in [a, b] { try server.synchronize(realm) }
  a.refresh()
  let people = Array(a.objects(Person.self))
  for number in 0..<commits {
    try a.write { people[BenchStores.scattered(number, people.count) - 1].age += 1 }
  }
  let before = try server.number("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
  let up = try benchTime { try server.synchronize(a) }
  let down = try benchTime { try server.synchronize(b) }
  b.refresh()
  guard people[0].age == b.object(ofType: Person.self, forPrimaryKey: people[0]._id)?.age else {
    throw ToolError("W16d: the files differ")
  }
  var (pushed, read, rows) = (0.0, 0.0, Int64(0))
  let query = """
    SELECT _tarn_xid::text::bigint, _tarn_oid, _tarn_at, _tarn_by::bigint, _tarn_cols, _tarn_parts,
      _id, name, age, score, dob, "isActive", city
    FROM "Person" WHERE _tarn_xid >= '\(before)'
    """
  try floor(bf_pg_read(server.ownerAddress, query, &rows, &read), "the changes")
  try floor(
    bf_pg_push(server.ownerAddress, Int64(commits), Int64(objects), 1_000, &pushed), "a push")
  let title = "commits of one Int in \(amount(objects)) objects"
  bench.add(
    BenchFigure(
      "W16u", "\(title), up", .perSecond, ours: Double(commits) / up,
      floor: Double(commits) / pushed, target: .ratio(0.5)))
  bench.add(
    BenchFigure(
      "W16d", "the same, down to another file", .perSecond, ours: Double(commits) / down,
      floor: Double(commits) / read, target: .ratio(0.5)))
  try measureJoin(bench, server, a, people, commits)
}

/// W16j: the same commits joined, because no server takes them; W16n: the memory that takes.
private func measureJoin(
  _ bench: Bench, _ server: SyncServer, _ realm: Realm, _ people: [Person], _ commits: Int
) throws {
  for number in 0..<commits {
    try realm.write { people[BenchStores.scattered(number, people.count) - 1].age += 1 }
  }
  let replica = try Replica(SyncServer.store(realm), classes: ["Person"])
  var seconds = 0.0
  let grown = try MemoryPeak.grown {
    seconds = try benchTime {
      guard try UnsentJoin.run(replica, above: 0) else { throw ToolError("W16j: nothing joined") }
    }
  }
  replica.close()
  try server.synchronize(realm)
  bench.add(
    BenchFigure(
      "W16j", "one of \(amount(commits)) unsent commits joined, because no server takes them",
      .seconds, ours: seconds / Double(commits)))
  bench.add(BenchFigure("W16n", "memory of joining them all", .bytes, ours: grown))
}

/// W16f: a new file with all of a server's objects; the baseline reads them by COPY, and adds the
/// time in which W1 inserts as many. W16p: the memory of one more file.
func measureFreshReplica(_ bench: Bench) throws {
  let server = try SyncServer(bench)
  try server.fill(bench.objects)
  let realm = try server.file()
  let ours = try benchTime { try server.synchronize(realm) }
  realm.refresh()
  guard realm.objects(Person.self).count == bench.objects else {
    throw ToolError("W16f: objects are missing")
  }
  let other = try server.file()
  let grown = try MemoryPeak.grown { try server.synchronize(other) }
  var (bytes, copied) = (Int64(0), 0.0)
  let columns = "_id, name, age, score, dob, \"isActive\", city"
  let copy = "COPY (SELECT \(columns) FROM \"Person\") TO STDOUT (FORMAT binary)"
  try floor(bf_pg_copy(server.ownerAddress, copy, &bytes, &copied), "a copy")
  let inserted = try bench.stores().insertSeconds[0]
  bench.add(
    BenchFigure(
      "W16f", "a fresh file of \(amount(bench.objects)) objects; baseline: COPY and W1", .seconds,
      ours: ours, floor: copied + inserted, target: .ratio(2)))
  bench.add(
    BenchFigure(
      "W16p", "memory of its session above that before it", .bytes, ours: grown,
      target: .value(64 * 1024 * 1024)))
}

/// W16i: the server's processor time for a poll without changes; W16o: for one that skips another
/// replica's change, per change. W16r: the cost of a row inserted by SQL, and W16v of one updated
/// by it; the baseline is a table without sync.
func measureServerCosts(_ bench: Bench) throws {
  let server = try SyncServer(bench)
  try server.fill(1_000)
  let realm = try server.file()
  let replica = try Replica(SyncServer.store(realm), classes: ["Person"])
  defer { replica.close() }
  let replicator = try server.replicator(replica)
  try replicator.synchronize()
  let polls = bench.rounds(2_000, tiny: 20)
  let start = try server.processorTime()
  for _ in 0..<polls { try replicator.pull() }
  let cost = (try server.processorTime() - start) / Double(polls)
  bench.add(
    BenchFigure(
      "W16i", "processor time of a server for a poll without news", .seconds, ours: cost,
      target: .value(0.0005)))
  try measurePassing(bench, server, replicator, idle: cost)
  let rows = bench.rounds(200_000, tiny: 1_000)
  try server.run(
    """
    CREATE TABLE plain (
      _id bigint PRIMARY KEY, name text, age bigint, score float8, dob timestamptz,
      "isActive" boolean, city text)
    """)
  let values = """
    (_id, name, age, score, dob, "isActive", city)
    SELECT n, 'abcdefghijkl', n, n, timestamptz 'epoch', true, 'city'
    FROM generate_series(10000, \(9_999 + rows)) n
    """
  let changes = [
    (
      "W16r", "an insert by SQL",
      ["INSERT INTO \"Person\" \(values)", "INSERT INTO plain \(values)"]
    ),
    (
      "W16v", "an update by SQL",
      ["\"Person\"", "plain"].map { "UPDATE \($0) SET age = age + 1 WHERE _id >= 10000" }
    ),
  ]
  for (id, title, statements) in changes {
    var seconds = [0.0, 0.0]
    for (number, statement) in statements.enumerated() {
      try floor(bf_pg_run(server.ownerAddress, statement, &seconds[number]), title)
    }
    let (ours, plain) = (seconds[0] / Double(rows), seconds[1] / Double(rows))
    bench.add(
      BenchFigure(id, "\(title), a row; baseline: without sync", .seconds, ours: ours, floor: plain)
    )
    bench.add(
      BenchFigure(
        id + "d", "\(title): what sync adds, a row", .seconds, ours: ours - plain,
        target: .value(0.000_010)))
  }
}

/// W16k: the server's time for a poll that brings many changes of others, per change.
private func measurePassing(
  _ bench: Bench, _ server: SyncServer, _ replicator: Replicator, idle: Double
) throws {
  let (rounds, changes) = (bench.rounds(200, tiny: 3), 100)
  var total = 0.0
  for _ in 0..<rounds {
    try server.run("UPDATE \"Person\" SET age = age + 1 WHERE _id <= \(changes)")
    let start = try server.processorTime()
    try replicator.pull()
    total += try server.processorTime() - start
  }
  bench.add(
    BenchFigure(
      "W16k", "processor time of a server for a change that a poll brings", .seconds,
      ours: max(0, total / Double(rounds) - idle) / Double(changes)))
}

/// W16c: small commits of an exchanged file without a reachable server; W16q: with a cursor that
/// keeps old values. W16m: a bulk insert. The baseline is the same file without sync.
func measureSyncedWrites(_ bench: Bench) throws {
  let server = try SyncServer(bench)
  let objects = max(100, bench.objects / 100)
  try server.fill(objects)
  let (plain, cursor, synced) = (try server.file(), try server.file(), try server.file())
  for realm in [plain, cursor] {
    try realm.write { for id in 1...objects { realm.add(Person.made(id)) } }
  }
  try server.synchronize(synced)
  synced.refresh()
  let held = try cursor.cursor("w16", keeping: .oldValues)
  defer { held.close() }
  let commits = bench.rounds(10_000, tiny: 100)
  func rate(_ realm: Realm) throws -> Double {
    let people = Array(realm.objects(Person.self).prefix(10_000))
    let seconds = try benchTime {
      for number in 0..<commits {
        try realm.write { people[BenchStores.scattered(number, people.count) - 1].age += 1 }
      }
    }
    return Double(commits) / seconds
  }
  let rates = try bench.alternate([{ try rate(synced) }, { try rate(plain) }, { try rate(cursor) }])
  bench.add(
    BenchFigure(
      "W16c", "commits of one Int, no fsync, with sync; baseline: without", .perSecond,
      ours: rates[0], floor: rates[1], target: .ratio(1 / 1.3)))
  bench.add(
    BenchFigure(
      "W16q", "the same; baseline: with a cursor that keeps old values", .perSecond, ours: rates[0],
      floor: rates[2], target: .ratio(1 / 1.05)))
  var next = objects + 1
  let many = bench.rounds(50_000, tiny: 500)
  func bulk(_ realm: Realm) throws -> Double {
    let first = next
    next += many
    return try benchTime {
      try realm.write { for id in first..<first + many { realm.add(Person.made(id)) } }
    }
  }
  let seconds = try bench.alternate([{ try bulk(synced) }, { try bulk(plain) }])
  bench.add(
    BenchFigure(
      "W16m", "\(amount(many)) inserts in one write with sync; baseline: without", .seconds,
      ours: seconds[0], floor: seconds[1], target: .ratio(1.1)))
}
