import Foundation
import ToolSupport

/// One role among the processes of a stress run: the same writer or observer, restarted as a new
/// process each time.
final class StressChild {
  enum Role: String {
    case writer = "write"
    case observer = "observe"
    // Of the soak.
    case pulse
    case listener = "listen"
    case copier = "copy"
  }

  let role: Role
  let number: Int
  /// The kind of writer or observer.
  let manner: String
  /// A file for its standard error; nil for this process's own.
  private let log: String?
  private(set) var process: ChildProcess?
  /// The stress run killed it, or started it to die.
  private var isCondemned = false
  private(set) var stoppedUntil: ContinuousClock.Instant?
  private var runningSince: ContinuousClock.Instant?
  private var hasStarted = false

  /// How long it could work, without its start and its stops.
  private(set) var running = Duration.zero
  /// A writer's last acknowledged commit, which is also their number.
  private(set) var acknowledged = 0
  private(set) var commits = 0
  /// An observer's newest version.
  private(set) var seen = -1
  private(set) var updates = 0
  /// Microseconds that it has reported since they were last taken.
  private var times: [Double] = []
  private(set) var problems: [String] = []

  /// How often its disk was full.
  private(set) var fullDisks = 0
  /// Whether its last process may have the classes of before a migration.
  private var mayBeOutdated: () -> Bool = { false }

  init(_ role: Role, _ number: Int, _ manner: String, log: String? = nil) {
    self.log = log
    self.role = role
    self.number = number
    self.manner = manner
  }

  var name: String { "\(role) \(number) (\(manner))" }
  var isRunning: Bool { process != nil }
  /// Whether its last process was killed.
  private(set) var wasKilled = false

  /// - Parameter migrations: how many have ended.
  func start(
    _ path: String, seed: UInt64, sabotage: String?, fault: Int?, migrations: UInt64
  ) throws {
    mayBeOutdated = { StressEra.number(path) > migrations }
    var environment: [String: String] = [:]
    if let fault { environment["TARN_FAULT"] = String(fault) }
    isCondemned = fault != nil
    hasStarted = false
    let arguments = [
      "worker", role.rawValue, path, String(number), String(seed), sabotage ?? "", manner,
    ]
    process = try ChildProcess(
      "/proc/self/exe", arguments, environment: environment, errors: log)
  }

  func kill() {
    isCondemned = true
    process?.signal(SIGKILL)
  }

  func stop(until: ContinuousClock.Instant) {
    guard stoppedUntil == nil else { return }
    pauseClock()
    stoppedUntil = until
    process?.signal(SIGSTOP)
  }

  func proceed() {
    stoppedUntil = nil
    process?.signal(SIGCONT)
    if hasStarted { runningSince = .now }
  }

  private func pauseClock() {
    if let runningSince { running += runningSince.duration(to: .now) }
    runningSince = nil
  }

  /// Reads its output. True if it has ended.
  func listen() -> Bool {
    guard let process else { return false }
    for line in process.lines() { take(line) }
    guard !process.isOpen else { return false }
    pauseClock()
    stoppedUntil = nil
    let end = process.wait()
    self.process = nil
    wasKilled = end == .killed(SIGKILL)
    switch end {
    case .exited(0): break
    case .exited(1) where !problems.isEmpty: break
    case .killed(SIGKILL) where isCondemned: break
    default: problems.append("\(name) ended by itself: \(end) \(lastWords)")
    }
    return true
  }

  /// The end of its log.
  private var lastWords: String {
    log.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) }.map { String($0.suffix(500)) }
      ?? ""
  }

  private func take(_ line: String) {
    let words = line.splitASCII(" ", maxSplits: 1).map(String.init)
    let number = words.count > 1 ? Int(words[1]) : nil
    switch (words[0], number) {
    case ("start", let found?):
      hasStarted = true
      runningSince = .now
      check(start: found)
    case ("ack", let found?):
      if found != acknowledged + 1 {
        problems.append("\(name) committed \(found) after \(acknowledged)")
      }
      acknowledged = found
      commits += 1
    case ("seen", let found?):
      hasStarted = true
      seen = found
    case ("updates", let found?): updates = found
    case ("stopped", let found?):
      if found != acknowledged {
        problems.append("\(name) ended with \(found) commits, acknowledged were \(acknowledged)")
      }
    case ("took", let found?): times.append(Double(found))
    case ("full", _): fullDisks += 1
    case ("outdated", _) where mayBeOutdated(): break
    case ("bad", _): problems.append("\(name): \(words.count > 1 ? words[1] : "")")
    default: problems.append("\(name) said '\(line)'")
    }
  }

  /// A writer that died may have made one commit more than it acknowledged, or all that it had
  /// queued, never one less.
  private func check(start found: Int) {
    let most = manner == WriterManner.async.rawValue ? StressQueueing.queuedMax : 1
    if found < acknowledged {
      problems.append("lost: \(name) had commit \(acknowledged), the file has \(found)")
    } else if found > acknowledged + most {
      problems.append("\(name) had commit \(acknowledged), the file has \(found)")
    }
    acknowledged = found
  }

  /// The times that it has reported since the last call, in microseconds.
  func takeTimes() -> [Double] {
    defer { times = [] }
    return times
  }

  func report(_ problem: String) { problems.append(problem) }
}
