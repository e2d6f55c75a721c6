public import Foundation
import TarnStore

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
