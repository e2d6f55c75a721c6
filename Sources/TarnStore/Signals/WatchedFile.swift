import Synchronization

/// One observer of one signal file, as the watcher's thread knows it. It compares numbers; what
/// they mean is for `onChange` to find out.
final class WatchedFile: Sendable {
  let file: SignalFile
  private let probeHead: @Sendable () -> UInt64?
  private let onChange: @Sendable () -> Void
  private let state: Mutex<State>

  private struct State {
    /// What was compared with last. Different counts, not larger: damaged bytes may be too large.
    var counter: UInt64
    var head: UInt64
    var fallback: Fallback?
    var hasLogged = false
    var isCancelled = false
  }

  /// Why a file is looked at every few milliseconds instead of being watched.
  enum Fallback: Sendable {
    case noWatch, fileLost
  }

  init(
    file: SignalFile, seen: UInt64, probeHead: @escaping @Sendable () -> UInt64?,
    onChange: @escaping @Sendable () -> Void
  ) {
    self.file = file
    self.probeHead = probeHead
    self.onChange = onChange
    state = Mutex(State(counter: seen, head: seen))
  }

  /// The counter first; if it has not moved and that is asked for, the data's head.
  func look(probing: Bool) {
    let counter = file.version
    let counterMoved = state.withLock { state in
      defer { state.counter = counter }
      return state.counter != counter && !state.isCancelled
    }
    if counterMoved { return onChange() }
    guard probing, let head = probeHead() else { return }
    let headMoved = state.withLock { state in
      defer { state.head = head }
      return state.head != head && head != state.counter && !state.isCancelled
    }
    guard headMoved else { return }
    // A writer died or was stopped between its commit and its announcement.
    if file.raise(to: head) { state.withLock { $0.counter = head } }
    onChange()
  }

  /// What happens from here on is not told any more.
  func cancel() { state.withLock { $0.isCancelled = true } }

  var isPolled: Bool { state.withLock { $0.fallback != nil } }

  /// Looks whether the file is still the one at its path; a lost one stays lost.
  func checkIntact() {
    if !file.isIntact { fallBack(.fileLost) }
  }

  func fallBack(_ reason: Fallback) {
    let isNews = state.withLock { state in
      if state.fallback != .fileLost { state.fallback = reason }
      defer { state.hasLogged = true }
      return !state.hasLogged
    }
    guard isNews else { return }
    let why =
      switch reason {
      case .noWatch: "no inotify instance or watch is left for this user"
      case .fileLost: "\(file.path) was deleted, moved or replaced while in use"
      }
    StoreLog.shared.write(
      .warning, "\(why); looking for changes every few milliseconds instead")
  }

  /// A watch was to be had after all.
  func endFallback() {
    state.withLock { state in
      if state.fallback == .noWatch { state.fallback = nil }
    }
  }
}
