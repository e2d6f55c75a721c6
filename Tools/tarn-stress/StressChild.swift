import Foundation
import ToolSupport

/// One role among the processes of a stress run: the same writer or observer, restarted as a new
/// process each time.
final class StressChild {
  enum Role: String {
    case writer = "write"
    case observer = "observe"
  }

  let role: Role
  let number: Int
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
  private(set) var problems: [String] = []

  init(_ role: Role, _ number: Int) {
    self.role = role
    self.number = number
  }

  var name: String { "\(role == .writer ? "writer" : "observer") \(number)" }
  var isRunning: Bool { process != nil }
  /// Whether its last process was killed.
  private(set) var wasKilled = false

  func start(_ path: String, seed: UInt64, sabotage: String?, fault: Int?) throws {
    var environment: [String: String] = [:]
    if let fault { environment["TARN_FAULT"] = String(fault) }
    isCondemned = fault != nil
    hasStarted = false
    var arguments = ["worker", role.rawValue, path, String(number), String(seed)]
    if let sabotage { arguments.append(sabotage) }
    process = try ChildProcess("/proc/self/exe", arguments, environment: environment)
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
    default: problems.append("\(name) ended by itself: \(end)")
    }
    return true
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
    case ("bad", _): problems.append("\(name): \(words.count > 1 ? words[1] : "")")
    default: problems.append("\(name) said '\(line)'")
    }
  }

  /// A writer that died may have made one commit more than it acknowledged, never one less.
  private func check(start found: Int) {
    if found < acknowledged {
      problems.append("lost: \(name) had commit \(acknowledged), the file has \(found)")
    } else if found > acknowledged + 1 {
      problems.append("\(name) had commit \(acknowledged), the file has \(found)")
    }
    acknowledged = found
  }

  func report(_ problem: String) { problems.append(problem) }
}
