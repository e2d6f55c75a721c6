import BenchFloors
import Foundation
import Tarn
import TarnStore
import ToolSupport

/// The version that each of many processes has read, and when, in memory that they share.
struct CrowdBoard {
  private static let seatBytes = 64
  private let base: UnsafeMutableRawPointer

  init(_ path: String, seats: Int) throws {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    let bytes = seats * Self.seatBytes
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

  /// A process has read that version.
  func note(_ version: UInt64, seat: Int) {
    let place = base + seat * Self.seatBytes
    place.storeBytes(of: benchNow(), toByteOffset: 8, as: Double.self)
    place.storeBytes(of: version, as: UInt64.self)
  }

  /// Waits until that many processes have read the version.
  ///
  /// - Returns: when the last of them did.
  func wait(for version: UInt64, seats: Int) throws -> Double {
    let deadline = benchNow() + 120
    var last = 0.0
    for seat in 0..<seats {
      let place = base + seat * Self.seatBytes
      while place.load(as: UInt64.self) < version {
        guard benchNow() < deadline else {
          throw ToolError("process \(seat) did not read version \(version)")
        }
        usleep(200)
      }
      last = max(last, place.load(fromByteOffset: 8, as: Double.self))
    }
    return last
  }
}

extension BenchChild {
  /// W17: follows the file until the standard input ends.
  static func follow(_ path: String, _ board: String, _ seat: Int, of seats: Int) throws {
    let board = try CrowdBoard(board, seats: seats)
    var options = Store.Options()
    options.adoptsClasses = false
    options.isDurable = false
    options.deadline = Deadline(after: .seconds(60))
    let store = try StoreRegistry.open(path, options)
    nonisolated(unsafe) let seen = board  // because: each process writes to its own seat
    let note: @Sendable () -> Void = {
      guard let snapshot = try? store.newestSnapshot() else { return }
      seen.note(snapshot.version.rawValue, seat: seat)
    }
    let registration = try store.follow(usesWatcher: true, note)
    note()
    var byte: UInt8 = 0
    _ = read(STDIN_FILENO, &byte, 1)
    registration.end()
  }
}

/// Processes that follow one file.
private final class BenchCrowd {
  private let board: CrowdBoard
  private let boardPath: String
  private let path: String
  private let store: Store
  private let realm: Realm
  private let ping: Ping
  private let seats: Int
  private var processes: [Process] = []
  /// The processes end when it is closed.
  private let life = Pipe()

  init(_ bench: Bench, seats: Int) throws {
    self.seats = seats
    boardPath = "\(bench.folder)/crowd"
    board = try CrowdBoard(boardPath, seats: seats)
    let configuration = bench.configuration("crowd")
    path = configuration.fileURL!.path
    let realm = try Realm(configuration: configuration, scheduler: bench.scheduler)
    let ping = Ping()
    try realm.write {
      ping._id = 1
      realm.add(ping)
    }
    (self.realm, self.ping) = (realm, ping)
    store = try StoreRegistry.open(path, Store.Options())
  }

  /// Adds processes, until there are that many, and waits until all follow the file.
  func grow(to count: Int) throws {
    for seat in processes.count..<count {
      let words = ["follow", path, boardPath, "\(seat)", "\(seats)"]
      processes.append(try BenchChild.start(words, until: life))
    }
    _ = try board.wait(for: store.newestKnownVersion.rawValue, seats: count)
  }

  /// From the start of a commit until the last process has read it.
  func wake() throws -> Double {
    let start = benchNow()
    try realm.write { ping.value += 1 }
    let version = store.newestKnownVersion.rawValue
    return try board.wait(for: version, seats: processes.count) - start
  }

  private func processorTime() throws -> Double {
    try processes.reduce(0) { sum, process in
      try sum + seconds { bf_processor_seconds(process.processIdentifier, $0) }
    }
  }

  /// The processor time that all take in a second.
  func idle(for duration: Double) throws -> Double {
    let before = try processorTime()
    usleep(UInt32(duration * 1e6))
    return (try processorTime() - before) / duration
  }

  func end() {
    try? life.fileHandleForWriting.close()
    for process in processes { process.waitUntilExit() }
  }
}

/// W17: from a commit until the last of 350 idle processes has read it. W17i: the processor time
/// that 512 of them take in a second without commits.
func measureCrowd(_ bench: Bench) throws {
  let (some, all) = bench.isTiny ? (6, 8) : (350, 511)
  let (commits, duration) = (bench.rounds(20, tiny: 2), bench.isTiny ? 0.5 : 10)
  try raiseDescriptorLimit(to: 4 * all)
  let crowd = try BenchCrowd(bench, seats: all)
  defer { crowd.end() }
  func rest() { usleep(bench.isTiny ? 20_000 : 300_000) }
  try crowd.grow(to: some)
  rest()
  var wakes: [Double] = []
  for _ in 0..<commits {
    wakes.append(try crowd.wake())
    rest()
  }
  try crowd.grow(to: all)
  rest()
  let idle = try crowd.idle(for: duration)
  crowd.end()

  var floorCrowd: OpaquePointer?
  defer { bf_crowd_end(floorCrowd) }
  try floor(bf_crowd_make(bench.folder, &floorCrowd))
  try floor(bf_crowd_join(floorCrowd, Int32(some)))
  rest()
  var floorWakes: [Double] = []
  for _ in 0..<commits {
    floorWakes.append(try seconds { bf_crowd_wake(floorCrowd, $0) })
    rest()
  }
  try floor(bf_crowd_join(floorCrowd, Int32(all - some)))
  rest()
  let floorIdle = try seconds { bf_crowd_idle(floorCrowd, duration, $0) }
  bench.add(
    BenchFigure(
      "W17", "commit here, value read in the last of \(some) processes", .seconds,
      ours: Statistics.median(wakes), floor: Statistics.median(floorWakes), target: .ratio(1.5)))
  bench.add(
    BenchFigure(
      "W17i", "processor time of \(all) idle processes in a second", .seconds, ours: idle,
      floor: floorIdle, target: .ratio(1.5)))
}

// MARK: - Processes with many queries

/// The tickets that processes observe, and when each change was seen.
enum TicketCrowd {
  static let changesMax = 4_000

  static func configuration(_ path: String) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [Ticket.self, Ping.self],
      durability: .relaxed)
  }

  static func tickets(_ realm: Realm, _ group: Int) -> Results<Ticket> {
    realm.objects(Ticket.self).where { $0.group == group && $0.score >= 0 }.sorted(by: \.score)
  }
}

extension BenchChild {
  /// W18: observes a query for each of its groups. The score of a changed ticket is the number of
  /// the change, under which the process notes when it was called.
  static func watchTickets(
    _ path: String, _ board: String, _ times: String, seat: Int, of seats: Int, groups: Int
  ) throws {
    let board = try CrowdBoard(board, seats: seats)
    let times = try SharedNumbers(times, count: TicketCrowd.changesMax)
    let scheduler = ManualScheduler()
    let realm = try Realm(configuration: TicketCrowd.configuration(path), scheduler: scheduler)
    var calls = 0
    let tokens = (seat * groups..<(seat + 1) * groups).map { group in
      TicketCrowd.tickets(realm, group).observe { change in
        calls += 1
        guard case .update(let tickets, _, _, _) = change, let number = tickets.last?.score
        else { return }
        times.times(number).pointee.read = Int64(benchNow() * 1e9)
      }
    }
    scheduler.pump()
    guard calls == groups else { throw ToolError("W18: a first call is missing") }
    board.note(1, seat: seat)
    while !inputHasEnded() {
      scheduler.wait(timeout: 1)
      scheduler.pump()
    }
    for token in tokens { token.invalidate() }
  }

  /// Whether the standard input has ended, to which nothing is written.
  private static func inputHasEnded() -> Bool {
    var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    return poll(&input, 1, 0) > 0
  }
}

/// Processes that observe many queries each, and the one that commits.
private final class TicketWatchers {
  /// The time from one commit to the next.
  private static let pause = 0.02

  private let realm: Realm
  private let ping: Ping
  private let times: SharedNumbers
  private let groups: Int
  private var processes: [Process] = []
  /// The processes end when it is closed.
  private let life = Pipe()
  private var changes = 0

  /// - Parameters:
  ///   - count: the number of processes.
  ///   - groupsEach: how many groups each of them observes.
  init(_ bench: Bench, count: Int, groupsEach: Int) throws {
    let groups = count * groupsEach
    let path = "\(bench.folder)/watched-\(count).realm"
    let (boardPath, timesPath) = (path + "-board", path + "-times")
    let realm = try Realm(
      configuration: TicketCrowd.configuration(path), scheduler: bench.scheduler)
    let ping = Ping()
    try realm.write {
      ping._id = 1
      realm.add(ping)
      for id in 0..<max(bench.objects, groups) {
        let ticket = Ticket()
        ticket._id = id
        ticket.group = id % groups
        realm.add(ticket)
      }
    }
    (self.realm, self.ping, self.groups) = (realm, ping, groups)
    let board = try CrowdBoard(boardPath, seats: count)
    times = try SharedNumbers(timesPath, count: TicketCrowd.changesMax)
    for seat in 0..<count {
      let words = [path, boardPath, timesPath, "\(seat)", "\(count)", "\(groupsEach)"]
      processes.append(try BenchChild.start(["tickets"] + words, until: life))
    }
    _ = try board.wait(for: 1, seats: count)
  }

  /// Commits changes one after the other, each of a ticket of another group.
  ///
  /// - Returns: from the start of each commit until the observer of the group was called, and the
  ///   processor time of all processes for each commit.
  func change(_ count: Int) throws -> (delays: [Double], processor: Double) {
    var begun: [Double] = []
    let processor = try processorTime(of: count) {
      changes += 1
      let group = changes * 7919 % groups
      guard let ticket = realm.object(ofType: Ticket.self, forPrimaryKey: group) else {
        throw ToolError("W18: ticket \(group) is missing")
      }
      let number = changes
      begun.append(benchNow())
      try realm.write { ticket.score = number }
    }
    let first = changes - count + 1
    let delays = try begun.enumerated().map { index, start in
      let place = times.times(first + index)
      try times.wait("see a change") { place.pointee.read != 0 }
      return Double(place.pointee.read) * 1e-9 - start
    }
    return (delays, processor)
  }

  /// Commits what none of the processes observes.
  ///
  /// - Returns: the processor time of all processes for each commit.
  func pass(_ count: Int) throws -> Double {
    try processorTime(of: count) { try realm.write { ping.value += 1 } }
  }

  private func processorTime(of count: Int, _ commit: () throws -> Void) throws -> Double {
    func sum() throws -> Double {
      try processes.reduce(0) { sum, process in
        try sum + seconds { bf_processor_seconds(process.processIdentifier, $0) }
      }
    }
    return try measurePaced(count, pause: Self.pause, sum, commit)
  }

  func end() {
    try? life.fileHandleForWriting.close()
    for process in processes { process.waitUntilExit() }
  }
}

/// Calls `commit` many times, one call every `pause` seconds.
///
/// - Parameter used: the processor time so far.
/// - Returns: the processor time of each call, with the rest after it.
private func measurePaced(
  _ count: Int, pause: Double, _ used: () throws -> Double, _ commit: () throws -> Void
) throws -> Double {
  let before = try used()
  var next = benchNow()
  for _ in 0..<count {
    try commit()
    next += pause
    usleep(UInt32(max(0, next - benchNow()) * 1e6))
  }
  usleep(100_000)
  return (try used() - before) / Double(count)
}

/// W18: 16 processes with 1,000 observed queries each, and a commit every 20 ms that concerns one
/// query: from the commit to the callback. W18b: the 99th percentile. W18c: the processor time of
/// all processes for a commit; the floor's processes wake and read one value. W18x, W18xb, W18xc:
/// the same with 64. W18u: the processor time of a process for a commit that concerns none of its
/// queries.
func measureTicketWatchers(_ bench: Bench) throws {
  let cases = bench.isTiny ? [("", 2), ("x", 3)] : [("", 16), ("x", 64)]
  let (commits, groupsEach) = (bench.rounds(400, tiny: 10), bench.isTiny ? 20 : 1_000)
  for (letter, count) in cases {
    let watchers = try TicketWatchers(bench, count: count, groupsEach: groupsEach)
    defer { watchers.end() }
    _ = try watchers.change(commits / 10)
    let (delays, processor) = try watchers.change(commits)
    let passing = try watchers.pass(commits)
    watchers.end()
    let floorProcessor = try measureFloorCrowd(bench, count, commits)
    let title = "\(count) processes, \(amount(groupsEach)) queries each, 50 commits a second"
    bench.add(
      BenchFigure(
        "W18\(letter)", "\(title), p50", .seconds, ours: Statistics.median(delays),
        target: .value(2e-3)))
    bench.add(
      BenchFigure(
        "W18\(letter)b", "the same, p99", .seconds, ours: Statistics.percentile(0.99, of: delays),
        target: .value(10e-3)))
    bench.add(
      BenchFigure(
        "W18\(letter)c", "processor time of all of them for a commit", .seconds, ours: processor,
        floor: floorProcessor, target: .ratio(2)))
    guard letter == "x" else { continue }
    bench.add(
      BenchFigure(
        "W18u", "processor time of one of them for a commit that concerns none", .seconds,
        ours: passing / Double(count), floor: floorProcessor / Double(count), target: .ratio(1.5)))
  }
}

/// The processor time that so many of the floor's processes take for a commit.
private func measureFloorCrowd(_ bench: Bench, _ count: Int, _ commits: Int) throws -> Double {
  var crowd: OpaquePointer?
  defer { bf_crowd_end(crowd) }
  try floor(bf_crowd_make(bench.folder, &crowd))
  try floor(bf_crowd_join(crowd, Int32(count)))
  return try measurePaced(commits, pause: 0.02) {
    try seconds { bf_crowd_processor(crowd, $0) }
  } _: {
    _ = try seconds { bf_crowd_wake(crowd, $0) }
  }
}

/// Each process that is started takes a few descriptors here.
private func raiseDescriptorLimit(to count: Int) throws {
  var limit = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
  limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, rlim_t(count)))
  _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
