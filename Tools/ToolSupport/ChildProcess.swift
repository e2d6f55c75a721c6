package import Foundation
import TarnStore

/// A child process, with a pipe from its standard output.
///
/// Signals are sent to it by process id; the first call that finds it ended reaps it. Confined to
/// one thread at a time.
package final class ChildProcess {
  /// How a process ended.
  package enum End: Equatable, Sendable {
    case exited(Int32)
    case killed(Int32)
  }

  /// How long others wait for it at most. Only against a hang: a busy machine may need a minute for
  /// what takes milliseconds.
  package static let patience = Duration.seconds(300)

  package let processID: pid_t
  /// The reading end of its standard output, not blocking.
  package let output: Int32
  private(set) var end: End?
  private var buffer: [UInt8] = []
  /// Complete lines that no caller has received yet.
  private var waiting: [String] = []
  /// False once it has closed its standard output, at the latest when it ends.
  package private(set) var isOpen = true
  /// Held from creating a pipe to starting its process: a process that another thread starts in
  /// between would inherit the pipe and keep it open.
  private static let starting = Lock<Void>(())

  /// - Parameters:
  /// - environment: added to this process's own.
  /// - errors: a file for its standard error, instead of this process's own.
  /// - Throws: `ToolError` if the program does not exist or no process can be created.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    errors: String? = nil
  ) throws {
    (processID, output) = try Self.starting.withLock { _ in
      try Self.start(program, arguments, environment, errors)
    }
  }

  private static func start(
    _ program: String, _ arguments: [String], _ environment: [String: String], _ errors: String?
  ) throws -> (pid_t, output: Int32) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw ToolError("cannot make", "a pipe", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[1]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    if let errors {
      posix_spawn_file_actions_addopen(
        &actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    var settings = merged.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + settings { free(text) } }
    var made = pid_t()
    let result = posix_spawnp(&made, program, &actions, nil, &words, &settings)
    guard result == 0 else {
      close(ends[0])
      throw ToolError("cannot start", program, errno: result)
    }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    return (made, ends[0])
  }

  deinit {
    if end == nil {
      kill(processID, SIGKILL)
      _ = wait()
    }
    close(output)
  }

  /// Sends a signal, unless the process was reaped: its id may be reused.
  package func signal(_ number: Int32) {
    if end == nil { kill(processID, number) }
  }

  /// Stops it with SIGSTOP, and waits until it has stopped, or ended.
  package func stop() {
    signal(SIGSTOP)
    guard end == nil else { return }
    var status: Int32 = 0
    while waitpid(processID, &status, WUNTRACED) < 0 && errno == EINTR {}
    if status & 0xff != 0x7f { _ = ended(status) }
  }

  /// Waits until it has stopped by itself; false if it ended, or did not stop in that time.
  package func hasStopped(within timeout: Duration = ChildProcess.patience) -> Bool {
    let limit = ContinuousClock.now + timeout
    while end == nil, ContinuousClock.now < limit {
      var status: Int32 = 0
      guard waitpid(processID, &status, WNOHANG | WUNTRACED) == processID else {
        usleep(1000)
        continue
      }
      if status & 0xff == 0x7f { return true }
      _ = ended(status)
    }
    return false
  }

  /// Waits for its end.
  @discardableResult
  package func wait() -> End {
    if let end { return end }
    var status: Int32 = 0
    while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
    return ended(status)
  }

  /// How it ended, nil if it has not.
  package func poll() -> End? {
    if let end { return end }
    var status: Int32 = 0
    guard waitpid(processID, &status, WNOHANG) == processID else { return nil }
    return ended(status)
  }

  private func ended(_ status: Int32) -> End {
    let signal = status & 0x7f
    let found: End = signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal)
    end = found
    return found
  }

  /// The complete lines received so far, without waiting.
  package func lines() -> [String] {
    takeLines()
    defer { waiting = [] }
    return waiting
  }

  private func takeLines() {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while isOpen {
      let count = read(output, &piece, piece.count)
      if count > 0 {
        buffer += piece[..<count]
      } else if count == 0 {
        isOpen = false
      } else if errno != EINTR {
        break
      }
    }
    guard let last = buffer.lastIndex(of: 10) else { return }
    let text = String(decoding: buffer[..<last], as: UTF8.self)
    buffer.removeSubrange(...last)
    waiting += text.splitASCII("\n").map(String.init)
  }

  /// Waits until it has written output or closed it.
  package func waitForOutput(milliseconds: Int32) {
    var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    _ = Foundation.poll(&wanted, 1, milliseconds)
  }

  /// The next line for which `isIt` is true; nil if the process ends or time is up first. Lines
  /// before it are dropped, lines after it are kept.
  package func line(within timeout: Duration = ChildProcess.patience, where isIt: (String) -> Bool)
    -> String?
  {
    let limit = ContinuousClock.now + timeout
    while true {
      takeLines()
      if let place = waiting.firstIndex(where: isIt) {
        defer { waiting.removeSubrange(...place) }
        return waiting[place]
      }
      waiting = []
      guard isOpen, ContinuousClock.now < limit else { return nil }
      waitForOutput(milliseconds: 10)
    }
  }

  /// Its remaining output, and how it ended. If time is up first, it is killed, and the last line
  /// says so.
  package func finish(within timeout: Duration = ChildProcess.patience) -> (
    lines: [String], end: End
  ) {
    let limit = ContinuousClock.now + timeout
    var said: [String] = []
    while isOpen {
      said += lines()
      guard isOpen else { break }
      guard ContinuousClock.now < limit else {
        signal(SIGKILL)
        return (said + ["killed: it did not end within \(timeout)"], wait())
      }
      waitForOutput(milliseconds: 1000)
    }
    return (said + lines(), wait())
  }
}
