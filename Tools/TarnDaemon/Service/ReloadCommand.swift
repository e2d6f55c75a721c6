import Foundation
import ToolSupport

/// `tarn daemon reload`: makes the running daemon read its configuration again, and returns when it
/// has, or says what is wrong.
struct ReloadCommand {
  let configuration: ConfigurationFiles

  func run() throws -> ActionReport {
    let settings = try configuration.settings()
    let noted = NotedDaemon(configuration, settings)
    let answer: HTTPClient.Answer
    do {
      answer = try DaemonDoor(configuration, settings, noted)
        .ask("/reload", body: Array("{}".utf8), timeout: .seconds(60))
    } catch {
      // The daemon has no door, or not the one that the configuration names.
      guard let process = Self.managedProcess ?? noted?.process else {
        throw ToolError("\(error); if the daemon runs, send it SIGHUP, or start it again")
      }
      return try signal(process, settings, noted)
    }
    let text = printableLines(String(decoding: answer.body, as: UTF8.self))
    // Another success than 200 means that not everything is active.
    return ActionReport(text, answer.status == 200 ? .success : .failure)
  }

  /// A signal has no answer, so what the daemon would find is looked for here.
  private func signal(
    _ process: pid_t, _ settings: DaemonSettings, _ noted: NotedDaemon?
  ) throws -> ActionReport {
    let problems = try CheckCommand(configuration: configuration, user: nil)
      .findings(settings, isOfUnit: true).filter { $0.kind == .problem }
    guard problems.isEmpty else {
      return ActionReport(lines: problems.map(\.line), .failure)
    }
    guard kill(process, SIGHUP) == 0 else {
      throw ToolError("cannot signal", "the daemon, process \(process)", errno: errno)
    }
    let text = "process \(process) reads the configuration: its log has the result"
    guard let noted, noted.name != settings.instance else {
      return ActionReport(lines: [text], .success)
    }
    return ActionReport(lines: [text, Daemon.pending(["name"])], .failure)
  }

  /// The process of the unit that systemd reloads.
  private static var managedProcess: pid_t? {
    ProcessInfo.processInfo.environment["MAINPID"].flatMap { pid_t($0) }
  }
}
