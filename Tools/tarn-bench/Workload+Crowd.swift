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
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      process.arguments = [BenchChild.word, "follow", path, boardPath, "\(seat)", "\(seats)"]
      process.standardInput = life.fileHandleForReading
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      processes.append(process)
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

/// Each process that is started takes a few descriptors here.
private func raiseDescriptorLimit(to count: Int) throws {
  var limit = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
  limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, rlim_t(count)))
  _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
