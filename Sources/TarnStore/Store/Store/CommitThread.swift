internal import CTarn

/// Runs background commits in order of arrival, on its own thread, so that no thread of a pool
/// blocks in a sync.
///
/// The thread starts with the first commit and ends after a second without one.
///
/// Threading: any thread.
final class CommitThread: Sendable {
  private static let lingerNanoseconds: Int64 = 1_000_000_000

  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var hasThread = false
  }

  private let state = Lock(State())
  /// Incremented with each job; the thread sleeps on it.
  private let word: FutexWord

  init() { word = FutexWord() }

  func run(_ job: @escaping @Sendable () -> Void) {
    let needsThread = state.withLock { state in
      state.jobs.append(job)
      defer { state.hasThread = true }
      return !state.hasThread
    }
    if needsThread {
      // Without a thread the caller makes the commit, and waits for the sync.
      if !BackgroundThread.start("tarn-commit", { [self] in drain() }) { drain(lingering: false) }
    } else {
      word.ring()
    }
  }

  private func drain(lingering: Bool = true) {
    while true {
      let seen = word.count
      if let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) {
        job()
        continue
      }
      if lingering {
        BackgroundThread.rest { word.wait(unless: seen, Self.lingerNanoseconds) }
      }
      let isOver = state.withLock { state in
        guard state.jobs.isEmpty, word.count == seen else { return false }
        state.hasThread = false
        return true
      }
      if isOver { return }
    }
  }
}

/// A word to sleep on.
@safe private final class FutexWord: @unchecked Sendable {
  // because: the word is accessed only by atomics, and freed with this object.
  private let word: UnsafeMutableRawPointer

  init() {
    unsafe word = .allocate(byteCount: 4, alignment: 4)
    unsafe word.storeBytes(of: 0, as: UInt32.self)
  }

  deinit { unsafe word.deallocate() }

  var count: UInt32 { unsafe tarn_load32(word) }

  func ring() {
    _ = unsafe tarn_add32(word, 1)
    unsafe tarn_futex_wake(word, 1)
  }

  func wait(unless seen: UInt32, _ nanoseconds: Int64) {
    unsafe tarn_futex_wait(word, seen, nanoseconds)
  }
}
