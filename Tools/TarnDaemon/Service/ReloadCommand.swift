import Foundation
import ToolSupport

/// `tarn daemon reload`: makes the running daemon read its configuration again, and returns when it
/// has, or says what is wrong.
struct ReloadCommand {
  let configuration: ConfigurationFiles

  func run() throws -> ExitCode {
    let answer: HTTPClient.Answer
    do {
      answer = try DaemonDoor(configuration)
        .ask("/reload", body: Array("{}".utf8), timeout: .seconds(60))
    } catch {
      // The daemon has no door, or does not yet have the one that the new configuration names. A
      // signal has no answer, so what the daemon would find is looked for here.
      guard Self.managedProcess != nil else { throw error }
      let problems = try CheckCommand(configuration: configuration, user: nil)
        .findings(configuration.settings()).filter { $0.kind == .problem }
      for problem in problems { print(problem) }
      guard problems.isEmpty else { return .failure }
      guard let process = Self.managedProcess, kill(process, SIGHUP) == 0 else { throw error }
      return .success
    }
    print(String(decoding: answer.body, as: UTF8.self), terminator: "")
    return answer.status == 200 ? .success : .failure
  }

  /// The process of the unit that systemd reloads.
  private static var managedProcess: pid_t? {
    ProcessInfo.processInfo.environment["MAINPID"].flatMap { pid_t($0) }
  }
}
