import Foundation
import TarnStore

/// The request of a person at a prompt, by Ctrl-C, that the running command end.
///
/// Commands check for it wherever they work for long. One that writes does so until its commit
/// begins: then it has written nothing. From there on it is not interrupted, so that its result is
/// printed. In a program that has no prompt nothing is watched, and Ctrl-C ends the program.
package enum Interruption {
  struct State {
    /// Nil while no command is watched.
    var cancel: (@Sendable () -> Void)?
    private var isRequested = false
    private(set) var isCommitting = false

    init(cancel: (@Sendable () -> Void)? = nil) { self.cancel = cancel }

    /// Whether the command should end, and may.
    var endsCommand: Bool { isRequested && !isCommitting }

    /// - Returns: how to cancel what the command waits for; nil if it is not to be cancelled.
    mutating func request() -> (@Sendable () -> Void)? {
      guard cancel != nil, !isRequested else { return nil }
      isRequested = true
      return isCommitting ? nil : cancel
    }

    /// False if the command should end instead.
    mutating func beginCommit() -> Bool {
      if endsCommand { return false }
      isCommitting = true
      return true
    }

    mutating func endCommit() { isCommitting = false }
  }

  private static let state = Lock(State())

  /// The error of a command that is interrupted.
  package static let error = ToolError("interrupted")

  // MARK: - The prompt

  /// Begins a command.
  ///
  /// - Parameter cancel: called at the first request, unless the command commits then.
  package static func watch(_ cancel: @escaping @Sendable () -> Void) {
    state.withLock { $0 = State(cancel: cancel) }
  }

  /// Ends the command.
  package static func unwatch() { state.withLock { $0 = State() } }

  /// Asks the command to end; without a command nothing happens. Any thread.
  package static func request() {
    state.withLock { $0.request() }?()
  }

  // MARK: - The command

  package static var isWatched: Bool { state.withLock { $0.cancel != nil } }

  /// Throws `error` if the command should end, and may.
  package static func check() throws(ToolError) {
    if state.withLock({ $0.endsCommand }) { throw error }
  }

  /// Throws `error` if the command should end. If not, later requests wait for `endCommit`.
  package static func beginCommit() throws(ToolError) {
    if !state.withLock({ $0.beginCommit() }) { throw error }
  }

  /// For a command that commits several times and prints one result. After the last commit it
  /// prints its result instead.
  package static func endCommit() { state.withLock { $0.endCommit() } }

  /// Returns when a descriptor can be read.
  package static func wait(toRead descriptor: Int32) throws(ToolError) {
    guard isWatched else { return }
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&wait, 1, lookEveryMilliseconds) <= 0 { try check() }
  }

  /// How long a wait that a request does not end lasts at most.
  package static let lookEveryMilliseconds: Int32 = 50
}
