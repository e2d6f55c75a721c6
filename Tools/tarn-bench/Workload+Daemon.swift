import BenchFloors
import Foundation
import Tarn
import TarnStore
import ToolSupport

/// The object that the daemon's clients receive: it has the time at which its commit began.
class TimedPing: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var time = 0.0
}

/// A daemon of the build, with its configuration.
private final class BenchDaemon {
  private let process: ChildProcess
  private let folder: String

  /// Starts it; returns when its watches have begun.
  ///
  /// - Parameter text: the configuration, in which `$` is the folder.
  init(_ folder: String, _ text: String) throws {
    self.folder = folder
    let path = "\(folder)/daemon.yaml"
    let whole = "name: bench\nstate: $/state\nhttp: {listen: $/door.sock}\n" + text
    try Data(whole.replacingASCII("$", with: folder).utf8).write(to: URL(fileURLWithPath: path))
    process = try ChildProcess(
      OwnProgram.sibling("tarn-daemon"), ["run", "--config", path],
      errors: "\(folder)/daemon.log")
    let deadline = benchNow() + 120
    while !wholeLog.contains("the watches stand") {
      guard benchNow() < deadline, process.poll() == nil else {
        throw ToolError("the daemon does not start: \(log)")
      }
      usleep(1000)
    }
  }

  func stop() {
    process.signal(SIGTERM)
    _ = process.wait()
  }

  /// The last 1,500 characters of its log.
  var log: String { String(wholeLog.suffix(1500)) }

  private var wholeLog: String {
    (try? String(contentsOfFile: "\(folder)/daemon.log", encoding: .utf8)) ?? ""
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: "/proc/\(process.processID)/\(name)", encoding: .utf8)
  }

  /// Memory of a kind, in bytes.
  func memory(_ name: String) throws -> Double {
    for line in try text("status").splitASCII("\n") where line.beginsWithBytes(of: name + ":") {
      return 1024 * (Double(line.splitASCII(" ").dropFirst().first ?? "") ?? 0)
    }
    throw ToolError("no \(name)")
  }

  /// The processor time that it has used, in seconds.
  func processorTime() throws -> Double {
    // The name of the program, in parentheses, may have spaces.
    let words = try text("stat").splitASCII(")").last?.splitASCII(" ") ?? []
    guard words.count > 12, let user = Double(words[11]), let system = Double(words[12]) else {
      throw ToolError("no processor time")
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}

private func timedRealm(_ bench: Bench) throws -> (Realm, TimedPing, path: String) {
  let path = "\(bench.folder)/timed.realm"
  var configuration = Realm.Configuration(
    fileURL: URL(fileURLWithPath: path), objectTypes: [TimedPing.self])
  configuration.durability = .relaxed
  let realm = try Realm(configuration: configuration, scheduler: bench.scheduler)
  let ping = TimedPing()
  ping._id = 1
  try realm.write { realm.add(ping, update: .all) }
  return (realm, ping, path)
}

private let timedWatch = """
  watches:
    - name: timed
      file: $/timed.realm
      class: TimedPing
      sinks: [{socket: $/timed.sock}]

  """

/// W15: from a commit to a line that a client of the daemon's socket reads; the baseline is a
/// process that reads the value from LMDB and writes the line. W15l: the age of the newest commit
/// that any of ten clients has at any time, at 10,000 commits a second.
func measureDaemonSocket(_ bench: Bench) throws {
  let wakes = Int64(bench.rounds(2000, tiny: 50))
  var base = bf_latency()
  try floor(bf_lmdb_relay(bench.folder, wakes, &base))
  let (realm, ping, _) = try timedRealm(bench)
  let daemon = try BenchDaemon(bench.folder, timedWatch)
  defer { daemon.stop() }
  let socket = "\(bench.folder)/timed.sock"
  var ours = bf_latency()
  let context = Unmanaged.passRetained(Committer(realm, ping))
  defer { context.release() }
  try floor(
    bf_socket_wake(
      socket, wakes,
      { context, time in
        guard let context else { return 1 }
        return Unmanaged<Committer>.fromOpaque(context).takeUnretainedValue().commit(time)
      }, context.toOpaque(), &ours))
  bench.add(
    BenchFigure(
      "W15", "commit to line at a client of the daemon, p50", .seconds, ours: ours.p50,
      floor: base.p50, target: .value(200e-6)))
  bench.add(
    BenchFigure(
      "W15b", "commit to line at a client of the daemon, p99", .seconds, ours: ours.p99,
      floor: base.p99))
  try measureLag(bench, realm, ping, socket)
}

/// Commits for the C program that measures.
private final class Committer {
  private let realm: Realm
  private let ping: TimedPing

  init(_ realm: Realm, _ ping: TimedPing) {
    self.realm = realm
    self.ping = ping
  }

  func commit(_ time: Double) -> Int32 {
    do {
      try realm.write { ping.time = time }
      return 0
    } catch {
      return 1
    }
  }
}

private func measureLag(
  _ bench: Bench, _ realm: Realm, _ ping: TimedPing, _ socket: String
) throws {
  let commits = bench.rounds(50_000, tiny: 500)
  var clients: OpaquePointer?
  try floor(bf_clients_start(socket, 10, &clients))
  let start = benchNow()
  for number in 0..<commits {
    try realm.write { ping.time = benchNow() }
    // One every 100 µs.
    let next = start + Double(number + 1) * 1e-4
    while benchNow() < next { usleep(20) }
  }
  let rate = Double(commits) / (benchNow() - start)
  // The last commit is measured, too.
  guard bf_clients_await(clients, ping.time, 120) == 0 else {
    throw ToolError("W15l: a client has not got the last commit")
  }
  var (lag, lines) = (0.0, Int64(0))
  try floor(bf_clients_end(clients, &lag, &lines))
  bench.add(
    BenchFigure(
      "W15l", "oldest news at 10 clients, at \(amount(Int(rate))) commits a second", .seconds,
      ours: lag, target: .value(1)))
}

/// W15h: posts of one commit each; the baseline is a C program that posts as many bodies of that
/// length to the same server. The watch starts at the newest version: a post of the state at first
/// would also be of the commits that are made before it is read.
func measureDaemonWebhook(_ bench: Bench) throws {
  let commits = bench.rounds(3_000, tiny: 50)
  let (realm, ping, _) = try timedRealm(bench)
  let rates = try bench.alternate(
    rounds: 3,
    [
      {
        var (port, hooks, rate, bytes) = (Int32(0), OpaquePointer?.none, 0.0, Int64(0))
        try floor(bf_hooks_start(Int64(commits), &port, &hooks))
        let configuration = """
          watches:
            - name: hook
              file: $/timed.realm
              class: TimedPing
              start: newest
              delivery: {every-commit: true}
              sinks: [{webhook: 'http://127.0.0.1:\(port)/hook'}]

          """
        let daemon = try BenchDaemon(bench.folder, configuration)
        defer { daemon.stop() }
        let deadline = benchNow() + 300
        for _ in 0..<commits { try realm.write { ping.time = benchNow() } }
        while bf_hooks_count(hooks) < commits {
          guard benchNow() < deadline else {
            throw ToolError("W15h: \(bf_hooks_count(hooks)) of \(commits) posts: \(daemon.log)")
          }
          usleep(1000)
        }
        try floor(bf_hooks_end(hooks, &rate, &bytes))
        return rate
      },
      {
        var (port, hooks, rate, bytes) = (Int32(0), OpaquePointer?.none, 0.0, Int64(0))
        try floor(bf_hooks_start(Int64(commits), &port, &hooks))
        try floor(bf_hooks_post(port, Int64(commits), 260))
        try floor(bf_hooks_end(hooks, &rate, &bytes))
        return rate
      },
    ])
  bench.add(
    BenchFigure(
      "W15h", "posts of the daemon, a commit each; baseline: libcurl", .perSecond, ours: rates[0],
      floor: rates[1], target: .ratio(0.667)))
}

/// W15i: the memory that a daemon of 1,000 watches of 100 files has for itself, each file with
/// 10,000 objects of which a watch selects 100. W15m: the pages of the files that it has mapped.
/// W15c: the processor time that it takes when nothing happens, of each second.
func measureIdleDaemon(_ bench: Bench) throws {
  let (files, objects) = bench.options.isTiny ? (4, 100) : (100, 10_000)
  for file in 0..<files { try makePeople("\(bench.folder)/people-\(file).realm", objects) }
  var text = "watches:\n"
  for watch in 0..<(files * 10) {
    text += """
        - name: w\(watch)
          file: $/people-\(watch / 10).realm
          class: Person
          where: age == \(watch % 100)
          sinks: [{file: $/out-\(watch).jsonl}]

      """
  }
  let daemon = try BenchDaemon(bench.folder, text)
  defer { daemon.stop() }
  let seconds: UInt32 = bench.options.isTiny ? 1 : 10
  // The first batches are written by then.
  var before = try daemon.processorTime()
  while true {
    sleep(2)
    let now = try daemon.processorTime()
    if now - before < 0.1 { break }
    before = now
  }
  before = try daemon.processorTime()
  sleep(seconds)
  let used = try daemon.processorTime() - before
  bench.add(
    BenchFigure(
      "W15i", "memory of a daemon with \(amount(files * 10)) watches", .bytes,
      ours: try daemon.memory("RssAnon"), target: .value(64 * 1024 * 1024)))
  bench.add(
    BenchFigure(
      "W15m", "pages of files that it has mapped", .bytes, ours: try daemon.memory("RssFile")))
  bench.add(
    BenchFigure(
      "W15c", "processor time of it in a second without commits", .seconds,
      ours: used / Double(seconds), target: .value(0.01)))
}

private func makePeople(_ path: String, _ count: Int) throws {
  var configuration = Realm.Configuration(
    fileURL: URL(fileURLWithPath: path), objectTypes: [Person.self])
  configuration.durability = .relaxed
  let realm = try Realm(configuration: configuration, scheduler: ManualScheduler())
  try realm.write {
    for id in 0..<count { realm.add(Person.made(id)) }
  }
}
