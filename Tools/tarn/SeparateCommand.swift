import Foundation
import TarnStore
import ToolSupport

/// A command of the prompt in a separate process, so that Ctrl-C ends it at any point, even in a
/// sort or a check of a large file. Only for commands that change nothing, or that make or replace
/// a file in one step.
final class SeparateCommand: Sendable {
  static let names: Set = [
    "accept", "backup", "compact", "copy", "count", "diff", "dump", "export", "flush", "inspect",
    "log", "query", "schema", "watch",
  ]

  /// The signals that it gets, and the time before each. Ctrl-C at a terminal reaches it without
  /// this process.
  private static let reminders: [(Duration, Int32)] = [
    (.milliseconds(300), SIGTERM), (.milliseconds(1_700), SIGKILL),
  ]

  /// Nil when it has ended.
  private let process: Lock<pid_t?>

  /// - Parameter arguments: those of the program.
  init(_ arguments: [String]) throws {
    let settings = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
    let program = ProgramArguments.all.first ?? "tarn"
    var words = ([program] + arguments).map { $0.withPath { strdup($0) } } + [nil]
    var environment = settings.map { strdup($0) } + [nil]
    defer { for text in words + environment { free(text) } }
    var made = pid_t()
    let code = posix_spawn(&made, "/proc/self/exe", nil, nil, &words, &environment)
    guard code == 0 else { throw ToolError("cannot start", program, errno: code) }
    process = Lock(made)
  }

  /// Asks it to end. Any thread.
  func end() {
    let isStarted = BackgroundThread.start("tarn-reminder") {
      for (delay, number) in Self.reminders {
        BackgroundThread.rest { usleep(UInt32(delay / .microseconds(1))) }
        self.signal(number)
      }
    }
    if !isStarted { signal(SIGTERM) }
  }

  private func signal(_ number: Int32) {
    process.withLock { process in
      if let process { kill(process, number) }
    }
  }

  /// Returns when it has ended.
  func wait() {
    // It must not outlive the prompt.
    let trap = SignalTrap(SignalTrap.ending.filter { $0 != SIGINT }) { number in
      self.signal(SIGTERM)
      SignalTrap.end(by: number)
    }
    defer { withExtendedLifetime(trap) {} }
    guard let id = process.withLock({ $0 }) else { return }
    var facts = siginfo_t()
    // It stays a zombie, and its id is not used again.
    while waitid(P_PID, id_t(id), &facts, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    process.withLock { process in
      process = nil
      _ = waitpid(id, nil, 0)
    }
  }
}
