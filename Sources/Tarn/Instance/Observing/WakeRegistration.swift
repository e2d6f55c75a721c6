import Synchronization
import TarnStore

/// Notifies an instance's scheduler of commits of other processes and other instances.
///
/// A wake-up carries no data: it requests a turn, and the turn looks for the newest version. At
/// most one turn is waiting at any time; the mark is cleared before the turn looks, so that a
/// commit after the look requests another one.
final class WakeRegistration: Sendable {
  private let scheduler: Scheduler
  private let target: Target
  private let isWaiting = Atomic<Bool>(false)
  private let held = Lock<Held>(Held())

  private struct Held {
    var registration: StoreRegistration?
    var watched: WatchedStore?
  }

  /// Followed on the scheduler only.
  private final class Target: @unchecked Sendable {
    // because: `host` is read on its own scheduler alone, and set before it is shared.
    weak var host: (any DeliveryHost)?
    init(_ host: any DeliveryHost) { self.host = host }
  }

  /// Errors: `.limitExceeded` if the process has no thread or descriptor left for its watcher.
  init(_ host: any DeliveryHost) throws(StorageError) {
    scheduler = host.scheduler
    target = Target(host)
    guard scheduler.hasTurns else { return }
    let store = host.store
    if case .manual(let manual) = scheduler, store.isShared {
      let watched = WatchedStore(store) { [weak self] in
        self?.isWaiting.load(ordering: .acquiring) ?? false
      } onNews: { [weak self] in
        self?.schedule()
      }
      manual.watch(watched)
      held.withLock { $0.watched = watched }
    }
    let usesWatcher = held.withLock { $0.watched == nil }
    let registration = try store.follow(usesWatcher: usesWatcher) { [weak self] in
      self?.schedule()
    }
    held.withLock { $0.registration = registration }
  }

  /// Requests a turn, unless one is waiting already.
  func schedule() {
    guard scheduler.hasTurns else { return }
    guard !isWaiting.exchange(true, ordering: .acquiringAndReleasing) else { return }
    scheduler.schedule { [weak self] in
      guard let self else { return }
      isWaiting.store(false, ordering: .sequentiallyConsistent)
      // A callback may release the instance, whose parts do not retain it.
      guard let host = target.host else { return }
      withExtendedLifetime(host) { host.advancer.takeTurn() }
    }
  }

  func end() {
    let held = held.withLock { held in
      defer { held = Held() }
      return held
    }
    held.registration?.end()
    if case .manual(let manual) = scheduler, let watched = held.watched { manual.unwatch(watched) }
  }
}
