import Foundation
import TestSupport
import Testing

@testable import TarnDaemon

/// Commands that do not behave.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct CommandRunTests {
  private func start(_ script: String) throws -> CommandRun {
    let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
    return try CommandRun(["sh", "-c", script], environment: environment, user: nil, input: nil)
  }

  private func wait(for run: CommandRun, timeout: Duration) throws -> CommandRun.End {
    let stop = try #require(WakePipe())
    return run.wait(timeout: timeout, grace: .zero, stop: stop) { _ in }
  }

  private func run(_ script: String, timeout: Duration) throws -> CommandRun.End {
    try wait(for: start(script), timeout: timeout)
  }

  @Test func oneThatPrintsWithoutEndIsLate() throws {
    #expect(try run("exec yes", timeout: .milliseconds(100)) == .late)
    #expect(try run("exec tr '\\0' x </dev/zero", timeout: .milliseconds(100)) == .late)
  }

  /// Waiting for it takes no time of the processor.
  @Test func oneThatClosesItsOutputIsWaitedFor() throws {
    // Starting it takes as much time as this process has memory.
    let started = try start("exec >&- 2>&- sleep 600")
    let begin = processorNanoseconds()
    #expect(try wait(for: started, timeout: .seconds(1)) == .late)
    #expect(processorNanoseconds() - begin < 500_000_000)
    #expect(try run("exec >&- 2>&-; exit 3", timeout: .seconds(600)) == .exited(3))
  }

  private func processorNanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
