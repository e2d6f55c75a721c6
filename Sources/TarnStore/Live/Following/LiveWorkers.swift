internal import CTarn
internal import Glibc

/// The threads for live work: one less than the machine has processors, which leaves one to the
/// program's own loop, but at least one. A thread exists while work is waiting.
///
/// Threading: any thread.
final class LiveWorkers: Sendable {
  /// This process's workers. A forked child has none of its parent's threads.
  static var shared: LiveWorkers {
    current.withLock { current in
      if current.forkCount != tarn_fork_count() { current = LiveWorkers() }
      return current
    }
  }
  private static let current = Lock(ofProcess: LiveWorkers())

  private struct State {
    /// In reverse order of arrival.
    var waiting: [@Sendable () -> Void] = []
    var threads = 0
  }

  private let forkCount = tarn_fork_count()
  private let threadsMost = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1)
  private let state = Lock(State())

  private init() {}

  /// Runs it as soon as a thread is free, after earlier work.
  func run(_ work: @escaping @Sendable () -> Void) {
    let isShortOfThreads = state.withLock { state in
      state.waiting.insert(work, at: 0)
      guard state.threads < threadsMost else { return false }
      state.threads += 1
      return true
    }
    guard isShortOfThreads, !BackgroundThread.start("tarn-worker", { self.drain() }) else { return }
    // Without a thread the caller does the waiting work, unless other threads do it.
    let isAlone = state.withLock { state in
      if state.threads == 1 { return true }
      state.threads -= 1
      return false
    }
    if isAlone { drain() }
  }

  private func drain() {
    while let work = next() { work() }
  }

  /// Nil, and the thread ends, when no work is waiting.
  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      if let next = state.waiting.popLast() { return next }
      state.threads -= 1
      return nil
    }
  }
}
