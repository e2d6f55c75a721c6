import BenchFloors
import Foundation
import Tarn
import ToolSupport

/// What one process tells the other with.
class Ping: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var value = 0
}

/// Numbers that two processes share: a place for each wake's time, and two counters before them.
struct SharedNumbers {
  private let base: UnsafeMutablePointer<Int64>

  /// Maps the file, which is made if it is not there.
  init(_ path: String, count: Int) throws {
    let bytes = (2 + count) * 8
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0, ftruncate(file, off_t(bytes)) == 0 else {
      throw ToolError("cannot make", path, errno: errno)
    }
    defer { close(file) }
    let mapped = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let mapped, mapped != MAP_FAILED else {
      throw ToolError("cannot map", path, errno: errno)
    }
    base = mapped.assumingMemoryBound(to: Int64.self)
  }

  /// 1 once the observer is ready.
  var ready: Int64 {
    get { base[0] }
    nonmutating set { base[0] = newValue }
  }
  /// The last value that the observer has read.
  var seen: Int64 {
    get { base[1] }
    nonmutating set { base[1] = newValue }
  }
  /// When it read a value, in nanoseconds of the monotonic clock.
  subscript(value: Int) -> Int64 {
    get { base[1 + value] }
    nonmutating set { base[1 + value] = newValue }
  }

  /// Waits, with pauses like the floor's, until `reached` says true.
  func wait(_ what: String, until reached: () -> Bool) throws {
    let deadline = benchNow() + 20
    while !reached() {
      guard benchNow() < deadline else { throw ToolError("the other process did not \(what)") }
      usleep(20)
    }
  }
}

/// The parts of workloads that run in a process of their own.
enum BenchChild {
  /// What such a process finds as its first argument.
  static let word = "child-of-tarn-bench"

  static func start(_ arguments: [String]) throws -> (Process, Pipe) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [word] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    return (process, pipe)
  }

  static func run(_ arguments: [String]) -> Never {
    do {
      switch arguments.first {
      case "observe": try observe(arguments[1], arguments[2], Int(arguments[3]) ?? 0)
      case "open": try open(arguments[1], arguments[2], Int(arguments[3]) ?? 1)
      default: throw ToolError("unknown part")
      }
      exit(ExitCode.success.rawValue)
    } catch {
      try? FileHandle.standardError.write(contentsOf: Data("tarn-bench: \(error)\n".utf8))
      exit(ExitCode.failure.rawValue)
    }
  }

  private static func configuration(_ path: String) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [Person.self, Ping.self],
      durability: .relaxed)
  }

  /// W8: observes the ping and notes when each of its values was read.
  private static func observe(_ path: String, _ shared: String, _ wakes: Int) throws {
    let numbers = try SharedNumbers(shared, count: wakes)
    let scheduler = ManualScheduler()
    let realm = try Realm(configuration: configuration(path), scheduler: scheduler)
    guard let ping = realm.object(ofType: Ping.self, forPrimaryKey: 1) else {
      throw ToolError("there is no ping")
    }
    let token = ping.observe { (_: ObjectChange<Ping>) in
      let value = ping.value
      numbers[value] = Int64(benchNow() * 1e9)
      numbers.seen = Int64(value)
    }
    scheduler.pump()
    numbers.ready = 1
    let parent = getppid()
    while numbers.seen < wakes, getppid() == parent {
      scheduler.wait(timeout: 1)
      scheduler.pump()
    }
    token.invalidate()
  }

  /// W10: opens the file again and again, all closed in between, and prints the median seconds.
  /// Another file has been opened before with the same classes.
  private static func open(_ path: String, _ other: String, _ id: Int) throws {
    for _ in 0..<2 { _ = try Realm(configuration: configuration(other)) }
    var sum = 0
    func once() throws -> Double {
      try benchTime {
        let realm = try Realm(configuration: configuration(path))
        sum += realm.object(ofType: Person.self, forPrimaryKey: id)?.age ?? -1000
      }
    }
    _ = try once()
    let median = try Statistics.median(of: 21) { try once() }
    guard sum >= 0 else { throw ToolError("the person is missing") }
    try FileHandle.standardOutput.write(contentsOf: Data("\(median)\n".utf8))
  }
}

/// W8: from the start of a commit here until another process has read the value.
func measureWake(_ bench: Bench) throws {
  let wakes = bench.rounds(2000, tiny: 50)
  var floors = (bf_latency(), bf_latency())
  try floor(bf_lmdb_wake(bench.folder, Int64(wakes), &floors.0))
  try floor(bf_sqlite_wake(bench.folder, Int64(bench.rounds(400, tiny: 20)), &floors.1))
  let configuration = bench.configuration("ping")
  let realm = try Realm(configuration: configuration, scheduler: bench.scheduler)
  let ping = Ping()
  try realm.write {
    ping._id = 1
    realm.add(ping)
  }
  let shared = "\(bench.folder)/wakes"
  let numbers = try SharedNumbers(shared, count: wakes)
  let (child, _) = try BenchChild.start(
    ["observe", configuration.fileURL!.path, shared, String(wakes)])
  defer { if child.isRunning { child.terminate() } }
  try numbers.wait("get ready") { numbers.ready == 1 }
  var latencies: [Double] = []
  for value in 1...wakes {
    realm.beginWrite()
    ping.value = value
    let start = benchNow()
    try realm.commitWrite()
    try numbers.wait("see a commit") { numbers.seen >= value }
    latencies.append(Double(numbers[value]) * 1e-9 - start)
    usleep(500)
  }
  child.waitUntilExit()
  let title = "commit here to value read in another process"
  bench.add(
    BenchFigure(
      "W8", "\(title), p50", .seconds, ours: Statistics.median(latencies), floor: floors.0.p50,
      sqlite: floors.1.p50, target: .ratio(1.5)))
  bench.add(
    BenchFigure(
      "W8b", "the same, p99", .seconds, ours: Statistics.percentile(0.99, of: latencies),
      floor: floors.0.p99, sqlite: floors.1.p99, target: .ratio(1.5)))
}

/// W10: opens a file of all persons and reads one, in a process that has opened files before.
/// Included: checking the file, LMDB's opening, the schema's check against the classes, the
/// instance, a snapshot, one object; and closing all of it.
func measureOpening(_ bench: Bench) throws {
  let stores = try bench.stores()
  let (child, pipe) = try BenchChild.start([
    "open", bench.configuration("main").fileURL!.path, "\(bench.folder)/other.realm",
    String(bench.objects),
  ])
  let output = pipe.fileHandleForReading.readDataToEndOfFile()
  child.waitUntilExit()
  let text = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  guard let ours = Double(text) else { throw ToolError("the process that opens files failed") }
  let floors = try bench.alternate([
    { try seconds { bf_lmdb_reopen(stores.lmdb, $0) } },
    { try seconds { bf_sqlite_reopen(stores.sqlite, $0) } },
  ])
  bench.add(
    BenchFigure(
      "W10", "open a file of \(bench.objects), find one object", .seconds, ours: ours,
      floor: floors[0], sqlite: floors[1], target: .value(0.5e-3)))
}

/// W13: opening again what is open here, in a program of 160 classes that lists none of them.
func measureReopening(_ bench: Bench) throws {
  let configuration = Realm.Configuration(
    fileURL: URL(fileURLWithPath: "\(bench.folder)/again.realm"), durability: .relaxed)
  let first = try Realm(configuration: configuration)
  guard first.schema.objectSchema.count >= 160 else { throw ToolError("classes are missing") }
  let openings = bench.rounds(20_000, tiny: 200)
  var same = 0
  let medians = try bench.alternate([
    {
      try benchTime {
        for _ in 0..<openings where try Realm(configuration: configuration) == first { same += 1 }
      } / Double(openings)
    }
  ])
  guard same % openings == 0, same > 0 else { throw ToolError("another instance was opened") }
  bench.add(
    BenchFigure(
      "W13", "try Realm() of an open file, 160 classes", .seconds, ours: medians[0],
      target: .value(5e-6)))
}
