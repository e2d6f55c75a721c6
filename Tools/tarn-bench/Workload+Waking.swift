import BenchFloors
import Foundation
import Synchronization
import Tarn
import TarnStore
import ToolSupport

/// The object through which one process signals the other.
class Ping: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var value = 0
}

/// The times of one wake, in nanoseconds of a clock that all processes share.
struct WakeTimes {
  /// Before the commit.
  var began: Int64
  /// The commit is in the file, and the wake is sent.
  var sent: Int64
  /// The other process runs.
  var woken: Int64
  /// It has read the value.
  var read: Int64
}

/// Memory that two processes share: two counters, then the times of each wake.
struct SharedNumbers {
  private static let headerBytes = 64
  private let base: UnsafeMutableRawPointer

  /// Maps the file, creating it if necessary.
  init(_ path: String, count: Int) throws {
    let bytes = Self.headerBytes + count * MemoryLayout<WakeTimes>.stride
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0, ftruncate(file, off_t(bytes)) == 0 else {
      throw ToolError("cannot make", path, errno: errno)
    }
    defer { close(file) }
    let mapped = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let mapped, mapped != MAP_FAILED else {
      throw ToolError("cannot map", path, errno: errno)
    }
    base = mapped
  }

  /// 1 once the observer is ready.
  var ready: Int64 {
    get { base.load(as: Int64.self) }
    nonmutating set { base.storeBytes(of: newValue, as: Int64.self) }
  }
  /// The last value that the observer has read.
  var seen: Int64 {
    get { base.load(fromByteOffset: 8, as: Int64.self) }
    nonmutating set { base.storeBytes(of: newValue, toByteOffset: 8, as: Int64.self) }
  }
  /// The times of the wake for that value; values start at 1.
  func times(_ value: Int) -> UnsafeMutablePointer<WakeTimes> {
    (base + Self.headerBytes).assumingMemoryBound(to: WakeTimes.self) + (value - 1)
  }

  /// Waits, with pauses like the floor's, until `reached` is true.
  func wait(_ what: String, until reached: () -> Bool) throws {
    let deadline = benchNow() + 120
    while !reached() {
      guard benchNow() < deadline else { throw ToolError("the other process did not \(what)") }
      usleep(20)
    }
  }
}

/// The clock of all processes, in nanoseconds.
private func benchNanoseconds() -> Int64 { Int64(benchNow() * 1e9) }

extension BenchChild {
  /// W8: observes the ping and records when each of its values was read.
  static func observe(_ path: String, _ shared: String, _ wakes: Int) throws {
    let numbers = try SharedNumbers(shared, count: wakes)
    let scheduler = ManualScheduler()
    let realm = try Realm(configuration: configuration(path), scheduler: scheduler)
    guard let ping = realm.object(ofType: Ping.self, forPrimaryKey: 1) else {
      throw ToolError("the ping object is missing")
    }
    var woken: Int64 = 0
    let token = ping.observe { (_: ObjectChange<Ping>) in
      let value = ping.value
      numbers.times(value).pointee.read = benchNanoseconds()
      numbers.times(value).pointee.woken = woken
      numbers.seen = Int64(value)
    }
    scheduler.pump()
    numbers.ready = 1
    let parent = getppid()
    while numbers.seen < wakes, getppid() == parent {
      scheduler.wait(timeout: 1)
      woken = benchNanoseconds()
      scheduler.pump()
    }
    token.invalidate()
  }
}

/// W8: from the start of a commit here until another process has read the value, and the parts of
/// that. Each side of a comparison has its own CPU.
func measureWake(_ bench: Bench) throws {
  let wakes = bench.rounds(2000, tiny: 50)
  var cpus = bf_cpus()
  try floor(bf_cpus_take(&cpus))
  var floors = (bf_latency(), bf_latency())
  try floor(bf_lmdb_wake(bench.folder, Int64(wakes), cpus.watcher, &floors.0))
  let sqliteWakes = Int64(bench.rounds(400, tiny: 20))
  try floor(bf_sqlite_wake(bench.folder, sqliteWakes, cpus.watcher, &floors.1))
  let times = try wakeAnother(bench, wakes, on: cpus.watcher)
  try floor(bf_cpus_leave(&cpus))
  func part(_ end: KeyPath<WakeTimes, Int64>, after start: KeyPath<WakeTimes, Int64>) -> [Double] {
    times.map { Double($0[keyPath: end] - $0[keyPath: start]) * 1e-9 }
  }
  func add(
    _ id: String, _ title: String, _ ours: Double, _ floor: Double, sqlite: Double? = nil,
    target: BenchTarget? = nil
  ) {
    bench.add(
      BenchFigure(id, title, .seconds, ours: ours, floor: floor, sqlite: sqlite, target: target))
  }
  let latencies = part(\.read, after: \.began)
  add(
    "W8", "commit here, value read in another process, p50", Statistics.median(latencies),
    floors.0.p50, sqlite: floors.1.p50, target: .ratio(2.5))
  add(
    "W8b", "commit here, value read in another process, p99",
    Statistics.percentile(0.99, of: latencies), floors.0.p99,
    sqlite: floors.1.p99, target: .ratio(2.5))
  add(
    "W8c", "of W8: the commit, until the wake is sent",
    Statistics.median(part(\.sent, after: \.began)),
    floors.0.commit)
  add(
    "W8w", "of W8: the wake, until the other process runs",
    Statistics.median(part(\.woken, after: \.sent)), floors.0.wake)
  add(
    "W8t", "of W8: the turn, until it has the value",
    Statistics.median(part(\.read, after: \.woken)), floors.0.turn)
}

/// Commits that many values, each after the other process has had time to sleep again.
private func wakeAnother(_ bench: Bench, _ wakes: Int, on cpu: Int32) throws -> [WakeTimes] {
  let configuration = bench.configuration("ping")
  let realm = try Realm(configuration: configuration, scheduler: bench.scheduler)
  let ping = Ping()
  try realm.write {
    ping._id = 1
    realm.add(ping)
  }
  let path = configuration.fileURL!.path
  let shared = "\(bench.folder)/wakes"
  let numbers = try SharedNumbers(shared, count: wakes)
  let (child, _) = try BenchChild.start(["observe", path, shared, String(wakes), String(cpu)])
  defer { if child.isRunning { child.terminate() } }
  try numbers.wait("get ready") { numbers.ready == 1 }
  // Followers in the writer's own process are notified right after the wake of the others.
  let sent = Atomic<Int64>(0)
  let store = try StoreRegistry.open(path, Store.Options())
  let registration = try store.follow(usesWatcher: false) {
    sent.store(benchNanoseconds(), ordering: .relaxed)
  }
  defer { registration.end() }
  for value in 1...wakes {
    realm.beginWrite()
    ping.value = value
    let began = benchNanoseconds()
    try realm.commitWrite()
    numbers.times(value).pointee.began = began
    numbers.times(value).pointee.sent = sent.load(ordering: .relaxed)
    try numbers.wait("see a commit") { numbers.seen >= value }
    usleep(500)
  }
  child.waitUntilExit()
  return (1...wakes).map { numbers.times($0).pointee }
}
