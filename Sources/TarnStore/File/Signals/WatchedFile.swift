/// One observer of one signal file. It compares numbers; `onChange` interprets them.
///
/// Threading: any thread, one at a time.
package final class WatchedFile: Sendable {
  /// The observer's callbacks.
  package struct Observer: Sendable {
    /// The version in the data's head record, nil if it cannot be read now. Nil for an observer
    /// that reads it itself.
    package let probeHead: (@Sendable () -> UInt64?)?
    /// True if the data's files are no longer at their paths, so that no changes can follow.
    package let isGone: @Sendable () -> Bool
    /// There may be a newer version, or the files were deleted or replaced.
    package let onChange: @Sendable () -> Void

    package init(
      probeHead: (@Sendable () -> UInt64?)?,
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
    var alarms: UInt32
    var bell: UInt32
    /// Monotonic nanoseconds of the last change found.
    var lastNews: UInt64
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
    state = Lock(
      State(
        counter: seen, head: seen, alarms: file.alarms, bell: file.bell,
        lastNews: GateWord.now()))
  }

  /// Whether it can be looked at for other processes as well.
  var canProbe: Bool { observer.probeHead != nil }

  /// True once after each alarm.
  func takeAlarm() -> Bool {
    let alarms = file.alarms
    return state.withLock { state in
      defer { state.alarms = alarms }
      return state.alarms != alarms
    }
  }

  /// True once after the bell has rung.
  func takeBell() -> Bool {
    let bell = file.bell
    return state.withLock { state in
      defer { state.bell = bell }
      return state.bell != bell
    }
  }

  /// Whether something was announced that was not taken yet.
  var hasNews: Bool {
    let (counter, alarms) = (file.version, file.alarms)
    return state.withLock { $0.counter != counter || $0.alarms != alarms }
  }

  /// The time until the next look if nothing else reports changes: short while there are some, and
  /// longer the longer there have been none.
  package var pollAfterNanoseconds: UInt64 {
    let idle = GateWord.now() &- state.withLock { $0.lastNews }
    return max(
      SignalWatcher.pollEveryNanoseconds, min(idle / 16, SignalWatcher.pollAtLeastNanoseconds))
  }

  /// Compares only the counter, and reports a change.
  @discardableResult
  package func lookAtCounter() -> Bool {
    let counter = file.version
    let hasMoved = state.withLock { state in
      guard state.counter != counter else { return false }
      state.counter = counter
      state.lastNews = GateWord.now()
      return !state.isEnded
    }
    if hasMoved { observer.onChange() }
    return hasMoved
  }

  /// Compares the counter; if it is unchanged and `probing` is set, reads the data's head record.
  package func look(probing: Bool) {
    if lookAtCounter() { return }
    guard probing, let head = observer.probeHead?() else { return }
    let headMoved = state.withLock { state in
      defer { state.head = head }
      guard state.head != head, head != state.counter, !state.isEnded else { return false }
      state.lastNews = GateWord.now()
      return true
    }
    guard headMoved else { return }
    // A writer died or was stopped between its commit and its announcement.
    if file.raise(to: head) {
      state.withLock { $0.counter = head }
      file.wake()
    }
    observer.onChange()
  }

  /// Later changes are not reported.
  func cancel() { state.withLock { $0.isEnded = true } }

  package var isPolled: Bool { state.withLock { $0.fallback != nil && !$0.isEnded } }
  package var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Checks whether the store's files are still those at their paths; lost ones stay lost. Without
  /// the signal file, other processes' commits are found in the data; without the data, they go to
  /// another file, which is reported once.
  ///
  /// - Returns: whether something was lost since the last check.
  @discardableResult
  package func checkIntact() -> Bool {
    if isEnded { return false }
    if observer.isGone() {
      cancel()
      observer.onChange()
      return true
    }
    if file.isIntact || isLost { return false }
    fallBack(.fileLost)
    return true
  }

  /// Whether the signal file is lost: the data itself is polled.
  var isLost: Bool { state.withLock { $0.fallback == .fileLost } }

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
