import CTarn
public import Foundation
import TarnStore

/// A scheduler whose turns the program runs itself: for servers with a loop of their own, and for
/// tests that step through deliveries.
///
/// ```swift
/// let scheduler = ManualScheduler()
/// let realm = try Realm(configuration: configuration, scheduler: scheduler)
/// let token = realm.objects(Dog.self).observe { change in … }
/// while running { scheduler.wait(timeout: 1); scheduler.pump() }
/// ```
///
/// Threading: `pump()`, `wait(timeout:)` and everything reached through the Realm belong to one
/// thread at a time: the one that created the scheduler, until `adopt()` is called on another.
public final class ManualScheduler: Sendable {
  private struct State {
    var work: [@Sendable () -> Void] = []
    var owner: UInt
    var watched: [WatchedStore] = []
  }

  private let state: Lock<State>
  private let bell = Waker()

  /// A scheduler that belongs to the calling thread.
  public init() {
    state = Lock(State(owner: tarn_thread_id()))
  }

  deinit { SchedulerEnd.tell(.manual(ObjectIdentifier(self))) }

  /// Hands the scheduler, and every Realm on it, to the calling thread.
  public func adopt() {
    state.withLock { $0.owner = tarn_thread_id() }
  }

  /// Runs one turn with everything that is due: it advances Realms and calls observers. Traps on
  /// another thread than the scheduler's.
  ///
  /// - Returns: true if there was something to run.
  @discardableResult
  public func pump() -> Bool {
    require(
      isCurrent, "A ManualScheduler is pumped on its own thread; call adopt() there first.")
    look()
    let work = state.withLock { state in
      defer { state.work.removeAll() }
      return state.work
    }
    for item in work { item() }
    return !work.isEmpty
  }

  /// Waits until a turn has something to do, or until `timeout` seconds have passed. It waits on
  /// the files' own signals, so no other thread is involved between a commit and this one.
  ///
  /// - Returns: true if there is something to do.
  @discardableResult
  public func wait(timeout: TimeInterval) -> Bool {
    let end = ContinuousClock.now + .seconds(timeout)
    while true {
      look()
      if state.withLock({ !$0.work.isEmpty }) { return true }
      let left = ContinuousClock.now.duration(to: end)
      guard left > .zero else { return false }
      let watched = state.withLock { $0.watched }
      let most = watched.contains { $0.mustPoll } ? 4.0 : 250.0
      let milliseconds = min(most, left / .milliseconds(1)).rounded(.up)
      bell.wait(also: watched.map(\.rawDescriptor), milliseconds: Int32(milliseconds))
    }
  }

  private func look() {
    for store in state.withLock({ $0.watched }) { store.poll() }
  }

  var isCurrent: Bool { state.withLock { $0.owner } == tarn_thread_id() }

  func enqueue(_ work: @escaping @Sendable () -> Void) {
    let isMine = state.withLock { state in
      state.work.append(work)
      return state.owner == tarn_thread_id()
    }
    // The owner looks for work before it sleeps.
    if !isMine { bell.wake() }
  }

  func watch(_ store: WatchedStore) {
    state.withLock { $0.watched.append(store) }
  }

  func unwatch(_ store: WatchedStore) {
    state.withLock { state in state.watched.removeAll { $0 === store } }
  }
}
