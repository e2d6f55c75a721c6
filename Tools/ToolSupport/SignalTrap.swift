import Foundation
import TarnStore

/// Turns SIGINT and SIGTERM into a call, so that a tool that runs until it is stopped ends cleanly.
/// The second signal ends the process at once, in case the clean end hangs.
package final class SignalTrap: Sendable {
  private let number: Int

  /// Returns when the signals are caught: later signals are not lost. Earlier ones have their
  /// default action.
  ///
  /// - Parameters:
  ///   - repeats: whether every signal is a call, and none ends the process.
  ///   - handler: called once, for the first signal, on a private thread.
  package init(
    _ signals: [Int32] = [SIGINT, SIGTERM], repeats: Bool = false,
    handler: @escaping @Sendable (Int32) -> Void
  ) {
    number = CaughtSignals.add(.init(signals: signals, repeats: repeats, handler: handler))
  }

  deinit { CaughtSignals.remove(number) }

  /// The signals that end a command, without those that the process ignores, as in the background.
  package static var ending: [Int32] {
    [SIGINT, SIGTERM, SIGHUP].filter { !isIgnored($0) }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Blocks a signal in this thread and those that it starts, and in a program that the process
  /// becomes, or no longer does.
  package static func block(_ number: Int32, _ isBlocked: Bool = true) {
    var mask = sigset_t()
    sigemptyset(&mask)
    sigaddset(&mask, number)
    pthread_sigmask(isBlocked ? SIG_BLOCK : SIG_UNBLOCK, &mask, nil)
  }

  /// Ends the process by a signal, whose action is the default one.
  package static func end(by number: Int32) -> Never {
    signal(number, SIG_DFL)
    // The parent process may have masked it.
    block(number, false)
    raise(number)
    _exit(ExitCode.failure.rawValue)
  }

  /// Each tool calls this first: a write to a closed pipe fails with EPIPE, and one beyond the
  /// limit of a file's length with EFBIG, instead of raising a fatal signal, and SIGQUIT ends the
  /// process at once. On a terminal the runtime would report a crash and wait for a key. A process
  /// that SIGBUS ends names the file.
  package static func setUp() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    if !isIgnored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
    BusErrors.explain()
  }
}

/// The traps of this process, of which several may wait for one signal: that of a prompt, and that
/// of the command that it runs.
///
/// The sources for signals that Dispatch has block a signal in each thread that receives it, for
/// good, and install their action for the first source only. So the action here is our own: it
/// writes the signal's number into a pipe, which a thread reads. The thread is our own as well,
/// because Dispatch ends a process that has no descriptors left for it.
private enum CaughtSignals {
  struct Trap {
    let signals: [Int32]
    let repeats: Bool
    let handler: @Sendable (Int32) -> Void
    var isSprung = false

    func catches(_ number: Int32) -> Bool { signals.contains(number) && (repeats || !isSprung) }
  }

  private struct State {
    var traps: [Int: Trap] = [:]
    var last = 0

    /// Catches the signals that a trap waits for. The others have their default action.
    func install(_ signals: [Int32]) {
      for number in signals {
        let isCaught = traps.values.contains { $0.catches(number) }
        signal(number, isCaught ? noteSignal : SIG_DFL)
      }
    }

    /// Lets this thread receive the signals: a parent may have started the process with them
    /// blocked, as threads of Dispatch have them.
    static func unblock(_ signals: [Int32]) {
      for number in signals { SignalTrap.block(number, false) }
    }
  }

  private static let state = Lock(State())
  /// Whether a thread waits for signals. False if the process has no descriptors or threads left.
  private static let isWaiting = startThread()

  static func add(_ trap: Trap) -> Int {
    // Without a thread the signals would be lost.
    let isReady = isWaiting
    return state.withLock { state in
      state.last += 1
      state.traps[state.last] = trap
      if isReady {
        state.install(trap.signals)
        State.unblock(trap.signals)
      }
      return state.last
    }
  }

  static func remove(_ number: Int) {
    state.withLock { state in
      if let trap = state.traps.removeValue(forKey: number) { state.install(trap.signals) }
    }
  }

  private static func startThread() -> Bool {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return false }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    noteEnd = ends[1]
    let readEnd = ends[0]
    let isStarted = BackgroundThread.start("tarn-signals") {
      while true {
        var numbers = [UInt8](repeating: 0, count: 64)
        var count = 0
        BackgroundThread.rest { count = read(readEnd, &numbers, numbers.count) }
        for number in numbers.prefix(max(0, count)) { spring(Int32(number)) }
      }
    }
    if !isStarted { for end in ends { close(end) } }
    return isStarted
  }

  private static func spring(_ number: Int32) {
    let sprung = state.withLock { state in
      let found = state.traps.filter { $0.value.catches(number) }
      for place in found.keys { state.traps[place]?.isSprung = true }
      for trap in found.values { state.install(trap.signals) }
      return found.values.map(\.handler)
    }
    for handler in sprung { handler(number) }
  }
}

/// Where `noteSignal` writes.
// because: set once, before the first signal is caught.
nonisolated(unsafe) private var noteEnd: Int32 = -1

/// The action of a caught signal, on any thread at any time: only calls that are safe there.
private let noteSignal: @convention(c) (Int32) -> Void = { number in
  let code = errno
  var byte = UInt8(truncatingIfNeeded: number)
  // A full pipe has signals enough.
  _ = write(noteEnd, &byte, 1)
  errno = code
}
