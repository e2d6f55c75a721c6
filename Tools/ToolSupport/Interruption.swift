import Foundation
import TarnStore

/// A request that the running command end: by Ctrl-C at a prompt, or by a signal to the program.
///
/// Commands check for it wherever they work for long. One that writes does so until its commit
/// begins: then it has written nothing. From there on it is not interrupted, so that its result is
/// printed.
///
/// Without a prompt a command that writes ends with the process, at once and by the signal, unless
/// it is committing or has committed. Other commands then watch nothing: a signal ends the program.
package enum Interruption {
  struct State {
    /// Nil while no command is watched.
    var cancel: (@Sendable () -> Void)?
    /// Whether a request ends the process.
    var endsProcess = false
    /// Called before the process ends.
    var cleanUp: (@Sendable () -> Void)?
    /// The signal of the request; nil without one.
    private(set) var request: Int32?
    private(set) var isCommitting = false
    /// Whether the command has a result to print.
    private var hasCommitted = false

    init(cancel: (@Sendable () -> Void)? = nil) { self.cancel = cancel }

    /// Whether the command should end, and may.
    var endsCommand: Bool { request != nil && !isCommitting }

    /// Whether the command has to look for requests by itself.
    var isWatched: Bool { cancel != nil && (!endsProcess || hasCommitted) }

    enum Answer {
      /// There is nothing to do, or it is done when the commit ends.
      case none
      case endProcess
      case cancel(@Sendable () -> Void)
    }

    mutating func request(by number: Int32) -> Answer {
      guard let cancel, request == nil else { return .none }
      request = number
      if isCommitting { return .none }
      return isWatched ? .cancel(cancel) : .endProcess
    }

    /// False if the command should end instead.
    mutating func beginCommit() -> Bool {
      if endsCommand { return false }
      isCommitting = true
      return true
    }

    mutating func endCommit(isResult: Bool) {
      isCommitting = false
      hasCommitted = hasCommitted || isResult
    }
  }

  private static let state = Lock(State())

  /// The error of a command that is interrupted.
  package static let error = ToolError("interrupted")

  // MARK: - The prompt and the program

  /// Begins a command of a prompt.
  ///
  /// - Parameter cancel: called at the first request, unless the command commits then.
  package static func watch(_ cancel: @escaping @Sendable () -> Void) {
    state.withLock { $0 = State(cancel: cancel) }
  }

  /// Begins a command that writes, in a program without a prompt. It ends with the trap.
  ///
  /// - Parameter cancel: called at a signal after the command's first commit.
  package static func watchSignals(_ cancel: @escaping @Sendable () -> Void) -> SignalTrap {
    state.withLock {
      $0 = State(cancel: cancel)
      $0.endsProcess = true
    }
    return SignalTrap(SignalTrap.ending) { request(by: $0) }
  }

  /// Ends the command.
  ///
  /// - Returns: the signal that requested the end.
  @discardableResult
  package static func unwatch() -> Int32? {
    state.withLock { state in
      defer { state = State() }
      return state.request
    }
  }

  /// Asks the command to end; without a command nothing happens. Any thread.
  package static func request(by number: Int32 = SIGINT) {
    let cancel: (@Sendable () -> Void)? = state.withLock { state in
      switch state.request(by: number) {
      case .none: return nil
      case .cancel(let cancel): return cancel
      case .endProcess:
        // Within the lock, so that no commit begins.
        state.cleanUp?()
        SignalTrap.end(by: number)
      }
    }
    cancel?()
  }

  // MARK: - The command

  /// Whether the command has to look for requests by itself where it waits.
  package static var isWatched: Bool { state.withLock { $0.isWatched } }

  /// Sets the block that runs, on a separate thread, before a signal ends the process.
  package static func beforeEnd(_ cleanUp: @escaping @Sendable () -> Void) {
    state.withLock { $0.cleanUp = cleanUp }
  }

  /// Throws `error` if the command should end, and may end now.
  package static func check() throws(ToolError) {
    if state.withLock({ $0.endsCommand }) { throw error }
  }

  /// Throws `error` if the command should end. If not, later requests wait for `endCommit`.
  package static func beginCommit() throws(ToolError) {
    if !state.withLock({ $0.beginCommit() }) { throw error }
  }

  /// For a command that commits several times and prints one result. After the last commit it
  /// prints its result instead.
  ///
  /// - Parameter isResult: whether the commits so far are a result. Otherwise their changes are
  ///   removed if the command ends early.
  package static func endCommit(isResult: Bool = true) {
    state.withLock { $0.endCommit(isResult: isResult) }
  }

  /// Returns when a descriptor can be read.
  package static func wait(toRead descriptor: Int32) throws(ToolError) {
    if isWatched { try awaitInput(of: descriptor) }
  }

  /// Returns when a descriptor has input or its end. It need not be blocking.
  package static func awaitInput(of descriptor: Int32) throws(ToolError) {
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&wait, 1, isWatched ? lookEveryMilliseconds : -1) <= 0 { try check() }
  }

  /// How long a wait that a request does not end lasts at most.
  package static let lookEveryMilliseconds: Int32 = 50
}
