import Dispatch
import Foundation
import Testing

@testable import ToolSupport

@Suite struct SignalsAndPipesTests {
  @Test func aSignalBecomesACall() async {
    let number = await withCheckedContinuation {
      (continuation: CheckedContinuation<Int32, Never>) in
      let trap = SignalTrap([SIGUSR2]) { continuation.resume(returning: $0) }
      kept.value = trap
      kill(getpid(), SIGUSR2)
    }
    #expect(number == SIGUSR2)
    kept.value = nil
  }

  /// As the commands of a prompt catch them, one after the other and at the same time as it.
  @Test func oneTrapAfterTheOtherCatchesTheSignal() {
    let (ofPrompt, ofCommand) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let prompt = SignalTrap([SIGUSR1], repeats: true) { _ in ofPrompt.signal() }
    for _ in 0..<3 {
      let command = SignalTrap([SIGUSR1, SIGWINCH]) { _ in ofCommand.signal() }
      kill(getpid(), SIGUSR1)
      ofPrompt.wait()
      ofCommand.wait()
      kill(getpid(), SIGUSR1)
      ofPrompt.wait()
      #expect(ofCommand.wait(timeout: .now()) == .timedOut)
      withExtendedLifetime(command) {}
    }
    withExtendedLifetime(prompt) {}
  }

  /// Whether a request is answered at once.
  private func isAnswered(_ state: inout Interruption.State) -> Bool {
    if case .none = state.request(by: SIGINT) { false } else { true }
  }

  @Test func anInterruptionEndsACommandUntilItCommits() {
    var state = Interruption.State()
    var cancels = [isAnswered(&state)]
    #expect(!state.endsCommand)

    state = Interruption.State {}
    cancels += [isAnswered(&state), isAnswered(&state)]
    #expect(state.endsCommand)
    var begins = [state.beginCommit()]

    state = Interruption.State {}
    begins.append(state.beginCommit())
    // The result is still to be printed.
    cancels.append(isAnswered(&state))
    #expect(!state.endsCommand)
    begins.append(state.beginCommit())
    // Of several commits the next one does not begin.
    state.endCommit(isResult: true)
    #expect(state.endsCommand)
    begins.append(state.beginCommit())
    #expect(cancels == [false, true, false, false])
    #expect(begins == [false, true, true, false])
  }

  @Test(arguments: [true, false])
  func `a signal ends a program until it has something to print`(_ isResult: Bool) {
    var state = Interruption.State {}
    state.endsProcess = true
    #expect(!state.isWatched)
    var other = state
    guard case .endProcess = other.request(by: SIGTERM) else {
      Issue.record("the process goes on")
      return
    }
    _ = state.beginCommit()
    #expect(!state.isWatched)
    state.endCommit(isResult: isResult)
    switch state.request(by: SIGTERM) {
    case .none: Issue.record("nothing happens")
    case .cancel: #expect(isResult)
    case .endProcess: #expect(!isResult)
    }
    #expect(state.endsCommand && state.request == SIGTERM)
  }

  @Test func outputArrivesWhole() throws {
    let ends = try PipeEnds()
    let text = String(repeating: "0123456789", count: 50_000)
    let writing = ends.giveWriting()
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      let output = OutputPipe(descriptor: writing)
      try? output.write(text)
      try? output.flush()
      close(writing)
    }
    #expect(ends.readAll() == Array(text.utf8))
    group.wait()
  }

  @Test func aClosedPipeIsNoError() throws {
    SignalTrap.setUp()
    let ends = try PipeEnds()
    ends.closeReading()
    let output = OutputPipe(descriptor: ends.writing)
    try output.write("x")
    #expect(throws: OutputPipe.Failure.closed) { try output.flush() }
  }

  @Test func aWriterIntoAFullPipeCanBeCancelled() throws {
    let ends = try PipeEnds()
    let output = OutputPipe(descriptor: ends.writing)
    let cancel = output.cancel
    DispatchQueue.global().async { cancel() }
    // Far more than a pipe holds: without the cancel this would block for good.
    #expect(throws: OutputPipe.Failure.cancelled) {
      try output.write([UInt8](repeating: 0x78, count: 4 << 20))
    }
  }

  @Test func whatNobodyReadsIsKeptInItsOrder() throws {
    let ends = try PipeEnds()
    // More than is kept in memory, and than a pipe holds.
    let lines = (0..<300_000).map { "line \($0) of what nobody reads\n" }
    let writing = ends.giveWriting()
    let written = DispatchSemaphore(value: 0)
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      do {
        let output = OutputPipe(descriptor: writing)
        output.neverWait()
        for line in lines { try? output.write(line) }
        // Nobody has read anything yet.
        written.signal()
        try? output.flush()
      }
      close(writing)
    }
    written.wait()
    #expect(ends.readAll() == lines.flatMap { Array($0.utf8) })
    group.wait()
  }

  @Test func aTerminalThatIsStoppedMakesNobodyWait() throws {
    let screen = try Screen()
    let output = OutputPipe(descriptor: screen.program.fileDescriptor)
    output.neverWait()
    for number in 0..<50_000 { try output.write("line \(number)\n") }
    #expect(try !output.writeWhatGoes())
  }

  @Test func aFullDiskIsSaid() throws {
    let descriptor = open("/dev/full", O_WRONLY)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let output = OutputPipe(descriptor: descriptor, name: "out.csv")
    try output.write("x")
    let message = "cannot write to out.csv: No space left on device"
    #expect(throws: OutputPipe.Failure.failed(ToolError(message))) { try output.flush() }
  }

  /// What must outlive a closure that waits for it.
  private final class Kept: @unchecked Sendable {  // because: one test uses it, in order
    var value: SignalTrap?
  }

  private let kept = Kept()
}
