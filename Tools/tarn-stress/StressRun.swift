import Foundation
import Tarn
import TarnStore
import ToolSupport

/// The stress run: starts the processes, kills and stops them at random, and checks the result.
///
/// 1. The file is filled; writers and observers are started.
/// 2. Until the time is up, or all commits are made, one of them is killed and restarted at random
///    times, or stopped for a while; some writers are started so that they die inside a commit.
/// 3. All continue undisturbed, then the writers are asked to end; each reports its last commit.
/// 4. The observers must reach the last version within a second, and are asked to end.
/// 5. The file is opened and checked: its data, its pages, its checksums, its pins.
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
  private var pages: PageReport?
  private var commits = 0

  init(_ options: StressOptions) throws {
    self.options = options
    random = StressRandom(options.seed)
    folder = FileManager.default.temporaryDirectory.path + "/tarn-stress-" + UUID().uuidString
    path = folder + "/stress.realm"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  func run() throws -> ExitCode {
    SignalTrap.setUp()
    defer { if !options.keeps { try? FileManager.default.removeItem(atPath: folder) } }
    try fill()
    let writers = max(1, options.processes / 2)
    for number in 0..<writers { children.append(StressChild(.writer, number)) }
    for number in 0..<max(1, options.processes - writers) {
      children.append(StressChild(.observer, number))
    }
    for child in children { try start(child, mayFault: false) }
    try torment()
    finishWriters()
    try checkData()
    finishObservers()
    try checkPages()
    checkShares()
    problems += children.flatMap(\.problems)
    print(summary, terminator: "")
    return problems.isEmpty ? .success : .failure
  }

  // MARK: - Killing and stopping

  /// In a separate process: this one must not have the file open while it counts pins.
  private func fill() throws {
    let child = try ChildProcess(
      "/proc/self/exe", ["worker", "fill", path, options.isDurable ? "1" : "0"])
    let (lines, end) = child.finish()
    guard end == .exited(0) else { throw ToolError("cannot fill \(path): \(lines) \(end)") }
  }

  private func start(_ child: StressChild, mayFault: Bool) throws {
    let dies = mayFault && child.role == .writer && random.chance(40)
    if dies { faults += 1 }
    try child.start(
      path, seed: random.next() >> 1, sabotage: child.number == 0 ? options.sabotage : nil,
      fault: dies ? 5 + random.below(400) : nil)
  }

  private func torment() throws {
    let end = ContinuousClock.now + .seconds(options.seconds)
    var nextBlow = ContinuousClock.now + .milliseconds(500)
    func isOver() -> Bool {
      guard let commits = options.commits else { return ContinuousClock.now >= end }
      return children.reduce(0) { $0 + $1.commits } >= commits
    }
    while !isOver(), !hasProblems {
      listen(milliseconds: 20)
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
    }
    for child in children where child.stoppedUntil != nil { child.proceed() }
    // Processes that were killed last may still be ending.
    let settled = ContinuousClock.now + .milliseconds(500)
    while ContinuousClock.now < settled {
      listen(milliseconds: 20)
      for child in children where !child.isRunning && child.problems.isEmpty {
        try start(child, mayFault: false)
      }
    }
  }

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

  private func finishWriters() {
    _ = FileManager.default.createFile(atPath: path + ".stop", contents: nil)
    let writers = children.filter { $0.role == .writer }
    let limit = ContinuousClock.now + Self.patience
    while writers.contains(where: \.isRunning), ContinuousClock.now < limit {
      listen(milliseconds: 20)
    }
    for writer in writers where writer.isRunning {
      writer.report("\(writer.name) did not end")
      writer.kill()
    }
    commits = Self.commits(path)
    let start = ContinuousClock.now
    let observers = children.filter { $0.role == .observer }
    func isBehind(_ child: StressChild) -> Bool { child.isRunning && child.seen != commits }
    while observers.contains(where: isBehind), start.duration(to: .now) < Self.patience {
      listen(milliseconds: 5)
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
    let pages = try Environment.verifyPages(path: path)
    self.pages = pages
    problems += pages.problems.map { "pages: \($0)" }
    let store = try StoreRegistry.open(path, Self.storeOptions)
    let reader = try SnapshotReader(store.newestSnapshot())
    for described in reader.schema.schema.classes {
      var rows = 0
      try reader.forEachCluster(in: described.id) { found throws(StorageError) in
        try found.image.verifyChecksum()
        rows += found.image.rowCount
        return true
      }
      let counted = try reader.record(of: described.id).rowCount
      if rows != counted {
        problems.append("\(described.name) has \(rows) rows, its record says \(counted)")
      }
    }
    _ = try store.environment.clearStaleReaders()
    let strangers = store.environment.readers().filter { $0.processID != getpid() }
    if !strangers.isEmpty { problems.append("pins of ended processes: \(strangers)") }
  }

  private static var storeOptions: Store.Options {
    var options = Store.Options()
    options.isDurable = true
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
    var text = """
      tarn-stress: seed \(options.seed), \(length), \(writers.count) writers, \
      \(observers.count) observers on \(path)
        commits        \(commits), \(writers.reduce(0) { $0 + $1.commits }) acknowledged
        changes        \(updates) applied by the observers that ran to the end
        disturbances   \(kills) killed, \(faults) told to die in a commit, \(stops) stopped
        fairness       smallest share \(rounded(shareRange.0)), largest \(rounded(shareRange.1)) \
      of a fair share
        catching up    \(Int(catchUp / .milliseconds(1))) ms until the last observer was up to date
        file           \(pages?.pageCount ?? 0) pages, \(pages?.freePages ?? 0) free, \
      \(pages?.unreachablePages ?? 0) lost, \(pages?.entries ?? 0) entries

      """
    for problem in problems.prefix(10) {
      text += "  " + terminal.styled("wrong", .red, .bold) + "          \(problem)\n"
    }
    text += problems.isEmpty ? "  no problems\n" : "  \(problems.count) problems\n"
    return text
  }

  private var length: String {
    options.commits.map { "\($0) commits" } ?? "\(options.seconds) s"
  }

  private func rounded(_ number: Double) -> String { String(format: "%.2f", number) }
}
