/// One observer of one signal file. It compares numbers; `onChange` interprets them.
///
/// Threading: any thread, one at a time.
package final class WatchedFile: Sendable {
  /// The observer's callbacks.
  package struct Observer: Sendable {
    /// The version in the data's head record, nil if it cannot be read now.
    package let probeHead: @Sendable () -> UInt64?
    /// True if the data's files are no longer at their paths, so that no changes can follow.
    package let isGone: @Sendable () -> Bool
    /// There may be a newer version, or the files were deleted or replaced.
    package let onChange: @Sendable () -> Void

    package init(
      probeHead: @escaping @Sendable () -> UInt64?,
      isGone: @escaping @Sendable () -> Bool = { false },
      onChange: @escaping @Sendable () -> Void
    ) {
      self.probeHead = probeHead
      self.isGone = isGone
      self.onChange = onChange
    }
  }

  let file: SignalFile
  private let observer: Observer
  private let state: Lock<State>

  private struct State {
    /// The counter when last compared. Compared for inequality: damaged bytes may be too large.
    var counter: UInt64
    var head: UInt64
    var fallback: Fallback?
    var hasLogged = false
    /// Nothing more is reported: it was cancelled, or the store was deleted or replaced.
    var isEnded = false
  }

  /// Why a file is polled every few milliseconds instead of being watched.
  package enum Fallback: Sendable, Equatable {
    /// A limit is reached: the text names it.
    case noWatch(String)
    case fileLost
  }

  /// - Parameter seen: the version that the observer knows.
  package init(file: SignalFile, seen: UInt64, observer: Observer) {
    self.file = file
    self.observer = observer
    state = Lock(State(counter: seen, head: seen))
  }

  /// Compares only the counter, and reports a change.
  @discardableResult
  package func lookAtCounter() -> Bool {
    let counter = file.version
    let hasMoved = state.withLock { state in
      defer { state.counter = counter }
      return state.counter != counter && !state.isEnded
    }
    if hasMoved { observer.onChange() }
    return hasMoved
  }

  /// Compares the counter; if it is unchanged and `probing` is set, reads the data's head record.
  package func look(probing: Bool) {
    if lookAtCounter() { return }
    guard probing, let head = observer.probeHead() else { return }
    let headMoved = state.withLock { state in
      defer { state.head = head }
      return state.head != head && head != state.counter && !state.isEnded
    }
    guard headMoved else { return }
    // A writer died or was stopped between its commit and its announcement.
    if file.raise(to: head) { state.withLock { $0.counter = head } }
    observer.onChange()
  }

  /// Later changes are not reported.
  func cancel() { state.withLock { $0.isEnded = true } }

  package var isPolled: Bool { state.withLock { $0.fallback != nil && !$0.isEnded } }
  package var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Checks whether the store's files are still those at their paths; lost ones stay lost. Without
  /// the signal file, other processes' commits are found in the data; without the data, they go to
  /// another file, which is reported once.
  package func checkIntact() {
    if isEnded { return }
    if observer.isGone() {
      cancel()
      return observer.onChange()
    }
    if !file.isIntact { fallBack(.fileLost) }
  }

  package func fallBack(_ reason: Fallback) {
    let isNews = state.withLock { state in
      if state.fallback != .fileLost { state.fallback = reason }
      defer { state.hasLogged = true }
      return !state.hasLogged
    }
    guard isNews else { return }
    let why =
      switch reason {
      case .noWatch(let limit): limit
      case .fileLost: "\(file.path) was deleted, moved or replaced while in use"
      }
    StoreLog.shared.write(
      .warning, "\(why); checking for changes every few milliseconds instead")
  }

  /// A watch could be created after all.
  func endFallback() {
    state.withLock { state in
      if case .noWatch? = state.fallback { state.fallback = nil }
    }
  }
}
