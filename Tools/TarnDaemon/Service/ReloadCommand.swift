import Foundation
import ToolSupport

/// `tarn daemon reload`: makes the running daemon read its configuration again, and returns when it
/// has, or says what is wrong.
struct ReloadCommand {
  private let configuration: ConfigurationFiles

  init(_ configuration: ConfigurationFiles) { self.configuration = configuration }

  func run() throws -> ExitCode {
    let (_, problems) = configuration.read()
    guard problems.isEmpty else {
      for problem in problems { print(problem) }
      return .failure
    }
    let answer: HTTPClient.Answer
    do {
      answer = try DaemonDoor(configuration)
        .ask("/reload", body: Array("{}".utf8), timeout: .seconds(60))
    } catch {
      // Without a door, or with one that only the new configuration has, there is no answer.
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
