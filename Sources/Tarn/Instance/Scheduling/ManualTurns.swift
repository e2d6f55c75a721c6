import CTarn
import Foundation
import TarnStore

/// The turns of a manual scheduler. Instances hold this, and the program the scheduler, so that its
/// end is noticed.
final class ManualTurns: Sendable {
  private struct State {
    var work: [@Sendable () -> Void] = []
    var owner = tarn_thread_id()
    var watched: [WatchedStore] = []
    var hasEnded = false
  }

  private let state = Lock(State())
  private let waker: Waker

  /// Traps if the process has no descriptor left.
  init() {
    do throws(StorageError) {
      waker = try Waker()
    } catch {
      trap("A ManualScheduler needs a descriptor: \(error.detail).")
    }
  }

  var isCurrent: Bool { state.withLock { $0.owner } == tarn_thread_id() }
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  func adopt() { state.withLock { $0.owner = tarn_thread_id() } }

  /// False if there was nothing to run.
  func run() -> Bool {
    look()
    let work = takeWork()
    for item in work { item() }
    return !work.isEmpty
  }

  private func takeWork() -> [@Sendable () -> Void] {
    state.withLock { state in
      defer { state.work = [] }
      return state.work
    }
  }

  /// No turn runs any more, and pending ones are dropped.
  func end() {
    state.withLock { $0.hasEnded = true }
    _ = takeWork()
  }

  /// False if the time has passed and there is nothing to run.
  func wait(timeout: TimeInterval) -> Bool {
    let end = ContinuousClock.now + .seconds(timeout)
    while true {
      look()
      if state.withLock({ !$0.work.isEmpty }) { return true }
      let left = ContinuousClock.now.duration(to: end)
      guard left > .zero else { return false }
      let watched = state.withLock { $0.watched }
      let most =
        watched.contains { $0.mustPoll }
        ? SignalWatcher.pollEveryNanoseconds : SignalWatcher.lookEveryNanoseconds
      let milliseconds = (min(Double(most), left / .nanoseconds(1)) / 1e6).rounded(.up)
      waker.wait(also: watched.map(\.rawDescriptor), milliseconds: Int32(milliseconds))
    }
  }

  private func look() {
    for store in state.withLock({ $0.watched }) { store.poll() }
  }

  func enqueue(_ work: @escaping @Sendable () -> Void) {
    let isMine = state.withLock { state in
      if !state.hasEnded { state.work.append(work) }
      return state.owner == tarn_thread_id()
    }
    // The owner looks for work before it sleeps.
    if !isMine { waker.wake() }
  }

  func watch(_ store: WatchedStore) {
    state.withLock { $0.watched.append(store) }
  }

  func unwatch(_ store: WatchedStore) {
    state.withLock { state in state.watched.removeAll { $0 === store } }
  }
}
