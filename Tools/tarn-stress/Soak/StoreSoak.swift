import Foundation
import Tarn
import TarnStore
import ToolSupport

/// `tarn-stress soak`: many processes on one file for a long time. Fails if one of them sees
/// something wrong, or if the file, the memory or the latency grow.
final class StoreSoak {
  /// The milliseconds that a writer rests after each commit, so that the machine is busy, but not
  /// always.
  private static let pause = 2_000
  /// The seconds from which on growth is a problem: before, the last half has the processes' first
  /// minutes.
  private static let judgedFrom = 1_200
  /// How many of each kind are never disturbed: those whose memory is measured.
  private static let steadyCount = 1
  private let options: SoakOptions
  private let folder: String
  private let disk: StressDisk
  private let path: String
  private let migrations: StressMigrations
  private var random: StressRandom
  private var children: [StressChild] = []
  /// An observer that is stopped for a long time.
  private let blocked: StressChild
  private var figures = SoakFigures()
  private var (kills, stops) = (0, 0)
  private var problems: [String] = []
  private let start = ContinuousClock.now

  init(_ options: SoakOptions) throws {
    self.options = options
    random = StressRandom(options.seed)
    folder = FileManager.default.temporaryDirectory.path + "/tarn-soak-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    chmod(folder, 0o777)
    disk = try StressDisk(in: folder, megabytes: 16_384)
    path = disk.folder + "/soak.realm"
    migrations = StressMigrations(path)
    let log = folder + "/log"
    func child(_ role: StressChild.Role, _ number: Int, _ manner: String) -> StressChild {
      StressChild(role, number, manner, log: "\(log)-\(role)-\(number)")
    }
    blocked = child(.observer, 998, "plain")
    let specials =
      [child(.pulse, 990, "plain"), child(.copier, 994, "plain")]
      + (991...993).map { child(.listener, $0, "plain") }
      + [child(.observer, 997, StressObserving.pausing), blocked]
    let others = options.processes - specials.count
    for number in 0..<others / 2 {
      children.append(child(.writer, number, StressRun.manner(WriterManner.self, number)))
    }
    for number in 0..<others - others / 2 {
      children.append(child(.observer, number, StressRun.manner(ObserverManner.self, number)))
    }
    children += specials
  }

  func run() throws -> ExitCode {
    SignalTrap.setUp()
    defer {
      for child in children { child.kill() }
      disk.end()
      try? FileManager.default.removeItem(atPath: folder)
    }
    print(
      "tarn-stress soak: seed \(options.seed), \(options.seconds) s, \(children.count) processes "
        + "in \(folder)")
    fflush(nil)
    let filler = try ChildProcess("/proc/self/exe", ["worker", "fill", path, "0"])
    guard filler.wait() == .exited(0) else { throw ToolError("cannot fill \(path)") }
    StressStore.share(path)
    try StressPace.set(path, milliseconds: Self.pause)
    for child in children { try start(child) }
    try torment()
    try finish()
    return try report()
  }

  private func start(_ child: StressChild) throws {
    let mayDie = child.role == .writer && isDisturbed(child) && random.chance(20)
    try child.start(
      path, seed: random.next() >> 1, sabotage: nil, fault: mayDie ? 5 + random.below(400) : nil,
      migrations: migrations.done)
  }

  /// The first of each kind, and those that measure, live undisturbed but for migrations.
  private func isDisturbed(_ child: StressChild) -> Bool {
    let kinds = child.role == .writer ? WriterManner.allCases.count : ObserverManner.allCases.count
    return child.number < 900 && child.number >= kinds * Self.steadyCount
  }

  // MARK: - The time

  private var elapsed: Double { start.duration(to: .now) / .seconds(1) }
  /// From 0 to 1.
  private var progress: Double { elapsed / Double(options.seconds) }

  /// When migrations begin: all in the first half.
  private static let migrationTimes = [0.03, 0.22, 0.4]
  /// When the reader holds a version.
  private static let holding = 0.05..<0.05 + 1 / 6.0
  /// When the watcher is blocked.
  private static let blocking = 0.23..<0.23 + 1 / 6.0

  private func torment() throws {
    let sampling = max(1, Double(options.seconds) / 600)
    var (nextSample, nextPages, nextBlow, nextFull) = (0.0, 0.0, 1.0, 0.04)
    var begun = 0
    while progress < 1, !children.contains(where: { !$0.problems.isEmpty }) {
      listen(milliseconds: 50)
      try restart()
      try migrations.turn()
      disk.turn()
      if begun < Self.migrationTimes.count, progress > Self.migrationTimes[begun] {
        begun += 1
        disk.empty()
        try migrations.begin(fault: random.chance(50) ? 1 + random.below(30) : nil)
      }
      holdAndBlock()
      if progress > nextFull {
        nextFull += 0.02
        disk.fill()
      }
      if elapsed > nextBlow {
        nextBlow = elapsed + 0.2 + Double(random.below(1000)) / 1000
        strike()
      }
      if elapsed > nextSample {
        nextSample = elapsed + sampling
        sample()
      }
      if elapsed > nextPages {
        nextPages = elapsed + 5 * sampling
        try figures.notePages(path, at: elapsed)
      }
    }
    disk.empty()
    for child in children where child.stoppedUntil != nil { child.proceed() }
  }

  private func holdAndBlock() {
    let marker = path + ".pause"
    let isHeld = access(marker, F_OK) == 0
    if Self.holding.contains(progress) != isHeld {
      if isHeld { unlink(marker) } else { close(open(marker, O_CREAT | O_WRONLY, 0o666)) }
    }
    if Self.blocking.contains(progress), blocked.isRunning, blocked.stoppedUntil == nil {
      let rest = (Self.blocking.upperBound - progress) * Double(options.seconds)
      blocked.stop(until: .now + .milliseconds(Int(rest * 1000)))
    }
  }

  private func strike() {
    let child = children[random.below(children.count)]
    guard isDisturbed(child), child.isRunning else { return }
    if random.chance(40) {
      kills += 1
      child.kill()
    } else {
      stops += 1
      child.stop(until: .now + .milliseconds(10 + random.below(2000)))
    }
  }

  private func restart() throws {
    for child in children {
      if let until = child.stoppedUntil, until < .now { child.proceed() }
      if !child.isRunning, child.problems.isEmpty { try start(child) }
    }
  }

  private func listen(milliseconds: Int32) {
    var wanted = children.compactMap(\.process).map {
      pollfd(fd: $0.output, events: Int16(POLLIN), revents: 0)
    }
    _ = Foundation.poll(&wanted, nfds_t(wanted.count), milliseconds)
    for child in children { _ = child.listen() }
  }

  private func sample() {
    figures.noteFile(path, at: elapsed)
    var memory: [String: [Double]] = [:]
    for child in children where !isDisturbed(child) {
      guard let process = child.process, let found = SoakFigures.memory(of: process.processID)
      else { continue }
      memory["\(child.role), \(child.manner)", default: []].append(found)
    }
    for (kind, found) in memory { figures.noteMemory(kind, found, at: elapsed) }
    for role in [StressChild.Role.pulse, .listener, .copier] {
      let times = children.filter { $0.role == role }.flatMap { $0.takeTimes() }
      figures.noteTimes(role, times, at: elapsed)
    }
  }

  // MARK: - The end

  private func finish() throws {
    let limit = ContinuousClock.now + .seconds(300)
    func wait(while isRunning: () -> Bool) throws {
      while isRunning(), ContinuousClock.now < limit {
        listen(milliseconds: 50)
        try migrations.turn()
      }
    }
    try wait { migrations.isRunning }
    try restart()
    let writers = children.filter { $0.role == .writer }
    _ = FileManager.default.createFile(atPath: path + ".stop", contents: nil)
    try wait { writers.contains(where: \.isRunning) }
    let commits = writers.reduce(0) { $0 + $1.acknowledged }
    let observers = children.filter { $0.role == .observer }
    // A writer that died last may have made a commit that it has not acknowledged.
    try wait {
      for child in observers where !child.isRunning && child.problems.isEmpty {
        try? start(child)
      }
      return observers.contains { $0.problems.isEmpty && $0.seen < commits }
    }
    _ = FileManager.default.createFile(atPath: path + ".end", contents: nil)
    try wait { children.contains(where: \.isRunning) }
    for child in children where child.isRunning {
      child.report("\(child.name) did not end")
      child.kill()
    }
    for child in observers where child.seen < commits {
      child.report("\(child.name) stayed at \(child.seen), acknowledged are \(commits)")
    }
  }

  private func report() throws -> ExitCode {
    problems += children.flatMap(\.problems)
    let realm = try Realm(configuration: StressStore.configuration(path))
    let problem =
      StressStore.problem(realm) ?? StressStockCheck(seed: options.seed).problem(realm)
    if let problem { problems.append(problem) }
    var storeOptions = Store.Options()
    storeOptions.isDurable = false
    let store = try StoreRegistry.open(path, storeOptions)
    let check = try StoreCheck(store.newestSnapshot(), pages: store.environment.verifyPages())
    problems += check.problems.map { "inspect --check: \($0)" }
    if check.pages.unreachablePages > 0 {
      problems.append("\(check.pages.unreachablePages) pages are lost")
    }
    let (lines, growing) = figures.report(Double(options.seconds))
    let isJudged = options.seconds >= Self.judgedFrom
    if isJudged, problems.isEmpty { problems += growing.map { "\($0) grows" } }
    try writeChart()
    let writers = children.filter { $0.role == .writer }
    print("  commits      \(writers.reduce(0) { $0 + $1.commits }) acknowledged")
    print(
      "  disturbances \(kills) killed, \(stops) stopped, \(migrations.count) migrations, "
        + "\(children.reduce(0) { $0 + $1.fullDisks }) full disks")
    if let reason = disk.leftOut { print("  left out     a disk of its own: \(reason)") }
    if getuid() != 0 { print("  left out     a second user: only root can become another") }
    for line in lines { print("  \(line)") }
    if !isJudged { print("  left out     a verdict, in a run of less than \(Self.judgedFrom) s") }
    for problem in problems.prefix(10) { print("  wrong        \(problem)") }
    print(problems.isEmpty ? "  no problems" : "  \(problems.count) problems")
    return problems.isEmpty ? .success : .failure
  }

  private func writeChart() throws {
    guard let chart = options.chart else { return }
    let title = "\(children.count) processes on one file for \(options.seconds) s"
    try figures.chart(title, Double(options.seconds)).svg
      .write(toFile: chart, atomically: true, encoding: .utf8)
  }
}
