import Foundation
import TarnStore
import ToolSupport

/// One copy of a store, damaged, and all commands run on it.
struct DamagedCopy {
  /// Much longer than any command takes, even if many processes share the machine.
  private static let patience = ChildProcess.patience

  /// The beginning of the trap message that damage may cause.
  private static let wordsOfTrap = "Tarn cannot continue"

  private let folder: String
  private let tarn: String
  private let number: Int
  private let seed: UInt64
  private let path: String

  init(folder: String, tarn: String, number: Int, seed: UInt64) {
    self.folder = folder
    self.tarn = tarn
    self.number = number
    self.seed = seed
    path = folder + "/x.realm"
  }

  /// - Parameter keeps: also keeps the state of the copy before the first command.
  func run(_ stores: [DamageMap], keeps: Bool) throws -> DamageOutcome {
    var random = StressRandom(seed &+ UInt64(number) &* 0x9E37_79B9)
    // Mostly a small store, where damage more often hits data that is read.
    let map = stores[random.chance(12) ? 2 : random.below(2)]
    var mutation = DamageMutation(map)
    for _ in 0...(random.chance(75) ? 0 : random.below(4)) { mutation.run(&random) }
    try write(mutation.bytes)
    if keeps { try Data(mutation.bytes).write(to: URL(fileURLWithPath: folder + "/kept.realm")) }
    var outcome = DamageOutcome(title: "\(number) (\(mutation.title))")
    try runAll(&random, &outcome)
    return outcome
  }

  private func write(_ bytes: [UInt8]) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for suffix in ["-lock", "-signal"] { unlink(path + suffix) }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    try Data(DamageStore.imported.utf8).write(to: URL(fileURLWithPath: input))
  }

  private var input: String { folder + "/input.jsonl" }

  private func runAll(_ random: inout StressRandom, _ outcome: inout DamageOutcome) throws {
    let name = DamageStore.className
    let inspect = try finish(
      start("inspect", [path] + (random.chance(30) ? ["--json"] : [])), &outcome)
    let check = try finish(start("check", ["--check", path], command: "inspect"), &outcome)
    try repair(&outcome)
    let conditions = [
      [], [], ["-w", "rank > 100"], ["-s", "note"], ["-s", "rank:desc,note", "-f", "csv"],
      ["-w", "note CONTAINS 'dog' OR id IN {1, 2, 3}"],
    ]
    let condition = conditions[random.below(conditions.count)]
    try finish(start("export", [path, name] + condition), &outcome)
    let watch = try start("watch", [path, "--json"] + (random.chance(30) ? [name] : []))
    var patience = watch.lineLimit(Self.patience)
    while watch.process.isOpen, watch.lines == 0, patience > .now { watch.wait(&patience) }
    let change = random.chance(50) ? ["--all"] : ["-w", "id < 20"]
    let assignment = random.chance(50) ? "note=changed" : "rank=7"
    try finish(start("set", [path, name, assignment] + change), &outcome)
    try finish(start("import", [path, input, "-c", name, "--update", "--defaults"]), &outcome)
    // It reports its remaining changes before it ends.
    watch.wait(&patience)
    watch.process.signal(SIGTERM)
    finish(watch, &outcome)
    try look(arePagesSound: inspect == 0, &outcome)
    // A class or property with another name is damage that cannot be detected.
    let complaints = outcome.complaints.filter {
      !$0.contains("no class '") && !$0.contains("has no property '")
    }
    if check != 0 || complaints.isEmpty { return }
    outcome.faults.append("the check finds nothing, but: \(complaints[0])")
  }

  /// Whatever the old file is, the new one is sound. Objects that the repair misses may be in a
  /// page that only the version before uses, so that the check need not miss them.
  private func repair(_ outcome: inout DamageOutcome) throws {
    let target = folder + "/repaired.realm"
    for suffix in ["", "-lock", "-signal"] { unlink(target + suffix) }
    let complaints = outcome.complaints
    try finish(start("repair", [path, target]), &outcome)
    if FileFacts.at(target) != nil {
      let check = try finish(
        start("check-repaired", ["--check", target], command: "inspect"), &outcome)
      if check != 0 { outcome.faults.append("the repaired file is not sound") }
    }
    outcome.complaints = complaints
  }

  /// Runs a program that uses the library. It may end with the library's trap message, and in no
  /// other way if the pages are sound.
  private func look(arePagesSound: Bool, _ outcome: inout DamageOutcome) throws {
    let errors = folder + "/look.errors"
    let process = try ChildProcess(
      "/proc/self/exe", ["worker", "look", path], environment: ["SWIFT_BACKTRACE": "enable=no"],
      errors: errors)
    let running = Running("a program", process, errors: errors)
    let end = end(of: running)
    let said = text(of: running)
    let words = said.first { $0.contains("Fatal error") } ?? said.first ?? ""
    switch end {
    case .exited(0): outcome.ends.append((running.name, "fine or error"))
    case _ where words.contains(Self.wordsOfTrap):
      outcome.ends.append((running.name, "trap"))
    default:
      // If damaged pages mislead LMDB, anything may happen, as Recovery says.
      outcome.ends.append((running.name, arePagesSound ? "crash" : "crash of damaged pages"))
      guard arePagesSound else { return }
      outcome.faults.append("a program ended with \(end.map { "\($0)" } ?? "a hang"): \(words)")
    }
  }

  // MARK: - Commands

  private final class Running {
    let name: String
    let process: ChildProcess
    let errors: String
    private(set) var lines = 0

    init(_ name: String, _ process: ChildProcess, errors: String) {
      (self.name, self.process, self.errors) = (name, process, errors)
    }

    func lineLimit(_ patience: Duration) -> ContinuousClock.Instant { .now + patience }

    func wait(_ limit: inout ContinuousClock.Instant) {
      process.waitForOutput(milliseconds: 50)
      lines += process.lines().count
    }
  }

  private func start(
    _ name: String, _ arguments: [String], command: String? = nil
  ) throws -> Running {
    let errors = folder + "/\(name).errors"
    let process = try ChildProcess(
      tarn, [command ?? name] + arguments, environment: ["SWIFT_BACKTRACE": "enable=no"],
      errors: errors)
    return Running(name, process, errors: errors)
  }

  /// Waits for the end and judges it.
  /// - Returns: the exit status, nil for another end.
  @discardableResult
  private func finish(_ running: Running, _ outcome: inout DamageOutcome) -> Int32? {
    let end = end(of: running)
    let said = text(of: running)
    switch end {
    case nil:
      outcome.faults.append("\(running.name) hangs")
      outcome.ends.append((running.name, "hang"))
      return nil
    case .exited(0):
      outcome.ends.append((running.name, "fine"))
      return 0
    case .exited(2) where said.first?.contains("--update needs a primary key") == true:
      // As above: the class with that name is then a new one.
      outcome.ends.append((running.name, "error"))
      return 2
    case .exited(1):
      judge(running.name, said, &outcome)
      return 1
    case .killed(SIGTERM) where running.name == "watch":
      // It had met damage, and got the signal while it searched for the damaged page.
      outcome.ends.append((running.name, "told to end"))
      return nil
    case let end?:
      outcome.ends.append((running.name, "\(end)"))
      outcome.faults.append("\(running.name) ended with \(end): \(said.first ?? "")")
      return nil
    }
  }

  /// How the process ends; nil, and it is killed, if it does not end in time.
  private func end(of running: Running) -> ChildProcess.End? {
    var limit = running.lineLimit(Self.patience)
    while running.process.isOpen, limit > .now { running.wait(&limit) }
    if !running.process.isOpen { return running.process.wait() }
    running.process.signal(SIGKILL)
    running.process.wait()
    return nil
  }

  private func text(of running: Running) -> [String] {
    let text = (try? String(contentsOfFile: running.errors, encoding: .utf8)) ?? "no UTF-8"
    return text.splitASCII("\n").map(String.init)
  }

  private func judge(_ name: String, _ said: [String], _ outcome: inout DamageOutcome) {
    let complaint = said.first { $0.beginsWithBytes(of: "tarn: ") }
    let isDeath = said.contains { $0.contains("was killed by") }
    outcome.ends.append((name, isDeath ? "died" : "error"))
    if isDeath {
      outcome.faults.append("\(name) died: \(said.prefix(3).joined(separator: " | "))")
    } else if let complaint {
      outcome.complaints.append(complaint.replacing(folder, with: ""))
    } else if name == "check", said.isEmpty {
      // Its findings are in its report.
      outcome.complaints.append("the check's report")
    } else {
      outcome.faults.append("\(name) fails without a message")
    }
  }
}
