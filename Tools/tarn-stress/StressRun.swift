import Foundation
import Tarn
import TarnStore
import ToolSupport

/// The stress run: starts the processes, kills and stops them at random, and checks the result.
///
/// 1. The file is filled; writers and observers are started.
/// 2. Until the time is up, or all commits are made, one of them is killed and restarted at random
///    times, or stopped for a while; some writers are started so that they die inside a commit.
///    Migrations end all of them; the disk is filled for a moment.
/// 3. All continue undisturbed, then the writers are asked to end; each reports its last commit.
/// 4. The observers must reach the last version within a second, and are asked to end.
/// 5. The file is opened and checked: its data against the model, everything that `tarn inspect`
///    checks, its pins.
final class StressRun {
  private let options: StressOptions
  private let folder: String
  private let path: String
  private var random: StressRandom
  private var children: [StressChild] = []
  private var kills = 0
  private var stops = 0
  private var faults = 0
  private var problems: [String] = []
  private var catchUp = Duration.zero
  private var check: StoreCheck?
  private var commits = 0
  private var migrations: StressMigrations
  private var disk: StressDisk?

  init(_ options: StressOptions) throws {
    self.options = options
    random = StressRandom(options.seed)
    folder = FileManager.default.temporaryDirectory.path + "/tarn-stress-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    chmod(folder, 0o777)
    if options.hasOwnDisk { disk = try StressDisk(in: folder) }
    path = (disk?.folder ?? folder) + "/stress.realm"
    migrations = StressMigrations(path)
  }

  func run() throws -> ExitCode {
    SignalTrap.setUp()
    defer {
      disk?.end()
      if !options.keeps { try? FileManager.default.removeItem(atPath: folder) }
    }
    try fill()
    let writers = max(1, options.processes / 2)
    for number in 0..<writers {
      children.append(StressChild(.writer, number, Self.manner(WriterManner.self, number)))
    }
    for number in 0..<max(1, options.processes - writers) {
      children.append(StressChild(.observer, number, Self.manner(ObserverManner.self, number)))
    }
    for child in children { try start(child, mayFault: false) }
    try torment()
    try finishWriters()
    try checkData()
    finishObservers()
    try checkPages()
    checkShares()
    problems += children.flatMap(\.problems)
    print(summary, terminator: "")
    return problems.isEmpty ? .success : .failure
  }

  /// All kinds in turn, but that only root can become another user.
  static func manner<Manner: CaseIterable & RawRepresentable<String>>(
    _ type: Manner.Type, _ number: Int
  ) -> String {
    let all = Manner.allCases.map(\.rawValue)
    let manner = all[number % all.count]
    return manner == WriterManner.otherUser.rawValue && getuid() != 0 ? "plain" : manner
  }

  // MARK: - Killing and stopping

  /// In a separate process: this one must not have the file open while it counts pins.
  private func fill() throws {
    let child = try ChildProcess(
      "/proc/self/exe", ["worker", "fill", path, options.isDurable ? "1" : "0"])
    let (lines, end) = child.finish()
    guard end == .exited(0) else { throw ToolError("cannot fill \(path): \(lines) \(end)") }
    StressStore.share(path)
  }

  private func start(_ child: StressChild, mayFault: Bool) throws {
    let dies = mayFault && child.role == .writer && random.chance(40)
    if dies { faults += 1 }
    let isSabotaged = child.number == 0 || child.manner == ObserverManner.consumer.rawValue
    try child.start(
      path, seed: random.next() >> 1, sabotage: isSabotaged ? options.sabotage : nil,
      fault: dies ? 5 + random.below(400) : nil, migrations: migrations.done)
  }

  private func torment() throws {
    let end = ContinuousClock.now + .seconds(options.seconds)
    var nextBlow = ContinuousClock.now + .milliseconds(500)
    var nextMigration = 1
    /// From 0 to 1.
    func progress() -> Double {
      guard let commits = options.commits else {
        return 1 - (end - .now) / .seconds(options.seconds)
      }
      return Double(children.reduce(0) { $0 + $1.commits }) / Double(commits)
    }
    while progress() < 1, !hasProblems {
      listen(milliseconds: 20)
      try migrations.turn()
      disk?.turn()
      if progress() * Double(migrationCount + 1) > Double(nextMigration) {
        nextMigration += 1
        disk?.empty()
        try migrations.begin(fault: random.chance(50) ? 1 + random.below(30) : nil)
      }
      for child in children where !child.isRunning && child.problems.isEmpty {
        try start(child, mayFault: true)
      }
      let now = ContinuousClock.now
      for child in children {
        if let until = child.stoppedUntil, until < now { child.proceed() }
      }
      guard now >= nextBlow else { continue }
      nextBlow = now + .milliseconds(20 + random.below(150))
      strike(children[random.below(children.count)], now)
      if random.chance(5) { disk?.fill() }
    }
    disk?.empty()
    for child in children where child.stoppedUntil != nil { child.proceed() }
    // Processes that were killed last may still be ending, and the last migration may be running.
    var settled = ContinuousClock.now + .milliseconds(500)
    let limit = ContinuousClock.now + Self.patience
    while ContinuousClock.now < min(settled, limit) {
      listen(milliseconds: 20)
      try migrations.turn()
      if migrations.isRunning { settled = .now + .milliseconds(500) }
      for child in children where !child.isRunning && child.problems.isEmpty {
        try start(child, mayFault: false)
      }
    }
  }

  private var migrationCount: Int { options.commits == nil ? max(1, options.seconds / 10) : 1 }

  private func strike(_ child: StressChild, _ now: ContinuousClock.Instant) {
    if random.chance(50) {
      kills += 1
      child.kill()
    } else {
      stops += 1
      child.stop(until: now + .milliseconds(10 + random.below(200)))
    }
  }

  private var hasProblems: Bool { children.contains { !$0.problems.isEmpty } }

  private func listen(milliseconds: Int32) {
    var wanted = children.compactMap(\.process).map {
      pollfd(fd: $0.output, events: Int16(POLLIN), revents: 0)
    }
    _ = Foundation.poll(&wanted, nfds_t(wanted.count), milliseconds)
    for child in children { _ = child.listen() }
  }

  // MARK: - Ending

  /// A limit only for hangs: a busy machine may need a minute for work of milliseconds.
  private static let patience = Duration.seconds(120)

  /// Observers that had the classes from before a migration may end late.
  private func restartObservers() throws {
    for child in children
    where child.role == .observer && !child.isRunning && child.problems.isEmpty {
      try start(child, mayFault: false)
    }
  }

  private func finishWriters() throws {
    _ = FileManager.default.createFile(atPath: path + ".stop", contents: nil)
    let writers = children.filter { $0.role == .writer }
    let limit = ContinuousClock.now + Self.patience
    while writers.contains(where: \.isRunning), ContinuousClock.now < limit {
      listen(milliseconds: 20)
      try restartObservers()
    }
    for writer in writers where writer.isRunning {
      writer.report("\(writer.name) did not end")
      writer.kill()
    }
    commits = Self.commits(path)
    let start = ContinuousClock.now
    let observers = children.filter { $0.role == .observer }
    func isBehind(_ child: StressChild) -> Bool { child.problems.isEmpty && child.seen != commits }
    while observers.contains(where: isBehind), start.duration(to: .now) < Self.patience {
      listen(milliseconds: 5)
      try restartObservers()
    }
    catchUp = start.duration(to: .now)
    for child in observers where child.seen != commits {
      child.report("\(child.name) stayed at \(child.seen), the newest version is \(commits)")
    }
    if options.commits == nil, catchUp > .seconds(1), !hasProblems {
      problems.append("the last observer needed \(catchUp) to reach the newest version")
    }
  }

  /// Read in a process that ends at once.
  private static func commits(_ path: String) -> Int {
    let realm = try? Realm(configuration: StressStore.configuration(path))
    return realm?.object(ofType: StressTotal.self, forPrimaryKey: 0)?.commits ?? -1
  }

  private func finishObservers() {
    _ = FileManager.default.createFile(atPath: path + ".end", contents: nil)
    let limit = ContinuousClock.now + Self.patience
    while children.contains(where: \.isRunning), ContinuousClock.now < limit {
      listen(milliseconds: 20)
    }
    for child in children where child.isRunning {
      child.report("\(child.name) did not end")
      child.kill()
    }
    while children.contains(where: \.isRunning) { listen(milliseconds: 20) }
  }

  private func checkData() throws {
    let realm = try Realm(configuration: StressStore.configuration(path))
    if let problem = StressStore.problem(realm) { problems.append(problem) }
    if let problem = StressStockCheck(seed: options.seed).problem(realm) {
      problems.append(problem)
    }
    for writer in children where writer.role == .writer {
      let found = realm.object(ofType: StressWriter.self, forPrimaryKey: writer.number)
      let sequence = found?.sequence ?? 0
      // A writer that died in its last commit could not acknowledge it.
      let most = writer.acknowledged + (writer.wasKilled ? 1 : 0)
      if !(writer.acknowledged...most).contains(sequence), !hasProblems {
        problems.append(
          "\(writer.name) acknowledged \(writer.acknowledged) commits, the file has \(sequence)")
      }
    }
  }

  private func checkPages() throws {
    let store = try StoreRegistry.open(path, storeOptions)
    let check = try StoreCheck(store.newestSnapshot(), pages: store.environment.verifyPages())
    self.check = check
    problems += check.problems.map { "inspect --check: \($0)" }
    _ = try store.environment.clearStaleReaders()
    let strangers = store.environment.readers().filter { $0.processID != getpid() }
    if !strangers.isEmpty { problems.append("pins of ended processes: \(strangers)") }
  }

  private var storeOptions: Store.Options {
    var options = Store.Options()
    options.isDurable = self.options.isDurable
    return options
  }

  /// Compares each writer's commits per second of working time with the mean of all writers.
  /// Writers that worked too briefly are skipped.
  private func checkShares() {
    let writers = children.filter { $0.role == .writer && $0.running > .milliseconds(1500) }
    let shares = writers.map { Double($0.commits) / ($0.running / .seconds(1)) }
    guard shares.count > 1 else { return }
    let fair = shares.reduce(0, +) / Double(shares.count)
    for (writer, share) in zip(writers, shares)
    where options.commits == nil && share < fair / 4 {
      problems.append(
        "\(writer.name) got \(Int(share)) commits per second, a fair share is \(Int(fair))")
    }
    shareRange = (shares.min()! / fair, shares.max()! / fair)
  }
  private var shareRange = (1.0, 1.0)
}

/// The result of a stress run, for people.
extension StressRun {
  fileprivate var summary: String {
    let terminal = Terminal.standardOutput
    let writers = children.filter { $0.role == .writer }
    let observers = children.filter { $0.role == .observer }
    let updates = observers.reduce(0) { $0 + $1.updates }
    let full = children.reduce(0) { $0 + $1.fullDisks }
    let pages = check?.pages
    var text = """
      tarn-stress: seed \(options.seed), \(length), \(writers.count) writers, \
      \(observers.count) observers on \(path)
        commits        \(commits), \(writers.reduce(0) { $0 + $1.commits }) acknowledged
        changes        \(updates) applied by the observers that ran to the end
        disturbances   \(kills) killed, \(faults) told to die in a commit, \(stops) stopped, \
      \(migrations.count) migrations, \(full) full disks
        fairness       smallest share \(rounded(shareRange.0)), largest \(rounded(shareRange.1)) \
      of a fair share
        catching up    \(Int(catchUp / .milliseconds(1))) ms until the last observer was up to date
        file           \(pages?.pageCount ?? 0) pages, \(pages?.freePages ?? 0) free, \
      \(pages?.unreachablePages ?? 0) lost, \(pages?.entries ?? 0) entries
        checked        \(check?.rows ?? 0) rows, \(check?.indexEntries ?? 0) index entries, \
      \(check?.elements ?? 0) elements

      """
    for left in leftOut { text += "  left out       \(left)\n" }
    for problem in problems.prefix(10) {
      text += "  " + terminal.styled("wrong", .red, .bold) + "          \(problem)\n"
    }
    text += problems.isEmpty ? "  no problems\n" : "  \(problems.count) problems\n"
    return text
  }

  private var leftOut: [String] {
    var left: [String] = []
    if getuid() != 0 { left.append("a second user: only root can become another") }
    if let reason = disk?.leftOut { left.append("a disk of its own: \(reason)") }
    return left
  }

  private var length: String {
    options.commits.map { "\($0) commits" } ?? "\(options.seconds) s"
  }

  private func rounded(_ number: Double) -> String { String(format: "%.2f", number) }
}
