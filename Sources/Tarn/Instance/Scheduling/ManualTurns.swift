import CTarn
public import Foundation
import TarnStore

/// The turns of a manual scheduler. Instances hold this, and the program the scheduler, so that its
/// end is noticed.
final class ManualTurns: Sendable {
  private struct State {
    var work: [@Sendable () -> Void] = []
    var owner = tarn_thread_id()
    var watched: [WatchedStore] = []
    var hasEnded = false
    /// Nil while the process has no descriptor left: then waits look for work by themselves.
    var waker = try? Waker()
  }

  private let state = Lock(State())

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
      let (watched, waker) = state.withLock { state in
        state.waker = state.waker ?? (try? Waker())
        return (state.watched, state.waker)
      }
      let most =
        waker == nil || watched.contains { $0.mustPoll }
        ? SignalWatcher.pollEveryNanoseconds : Lookout.lookEveryNanoseconds
      let milliseconds = (min(Double(most), left / .nanoseconds(1)) / 1e6).rounded(.up)
      Waker.wait(for: waker, also: watched.map(\.rawDescriptor), milliseconds: Int32(milliseconds))
    }
  }

  private func look() {
    for store in state.withLock({ $0.watched }) { store.poll() }
  }

  func enqueue(_ work: @escaping @Sendable () -> Void) {
    let waker = state.withLock { state in
      if !state.hasEnded { state.work.append(work) }
      // The owner looks for work before it sleeps.
      return state.owner == tarn_thread_id() ? nil : state.waker
    }
    waker?.wake()
  }

  func watch(_ store: WatchedStore) {
    state.withLock { $0.watched.append(store) }
  }

  func unwatch(_ store: WatchedStore) {
    state.withLock { state in state.watched.removeAll { $0 === store } }
  }
}

/// A scheduler whose turns the program runs itself: for servers with their own loop, and for tests
/// that step through deliveries.
///
/// ```swift
/// let scheduler = ManualScheduler()
/// let realm = try Realm(configuration: configuration, scheduler: scheduler)
/// let token = realm.objects(Dog.self).observe { change in … }
/// while running { scheduler.wait(timeout: 1); scheduler.pump() }
/// ```
///
/// Retain it for as long as you need turns; its Realms do not. When it is released, their queued
/// blocks and completions are dropped; a write that is open then, or later, is cancelled when the
/// last reference to its Realm is released.
///
/// Threading: `pump()`, `wait(timeout:)` and everything reached through the Realm belong to one
/// thread at a time: the one that created the scheduler, until `adopt()` is called on another.
/// Release the last reference to the scheduler on that thread, or when its Realms are not in use.
public final class ManualScheduler: Sendable {
  /// The part that its instances hold.
  let turns = ManualTurns()

  /// A scheduler that belongs to the calling thread.
  public init() {}

  deinit {
    turns.end()
    SchedulerEnd.tell(.manual(ObjectIdentifier(turns)))
  }

  /// Moves the scheduler, and every Realm on it, to the calling thread.
  public func adopt() { turns.adopt() }

  /// Runs one turn with everything that is due: it advances Realms and calls observers. Traps on
  /// another thread than the scheduler's.
  ///
  /// - Returns: true if there was something to run.
  @discardableResult
  public func pump() -> Bool {
    require(
      turns.isCurrent,
      "A ManualScheduler must be pumped on its own thread; call adopt() there first.")
    return turns.run()
  }

  /// Waits until a turn has something to do, or until `timeout` seconds have passed. It waits for
  /// the files' own signals, so no other thread is involved between a commit and this one.
  ///
  /// - Returns: true if there is something to do.
  @discardableResult
  public func wait(timeout: TimeInterval) -> Bool { turns.wait(timeout: timeout) }
}
