import Synchronization
import TarnStore

/// Brings commits, of other processes and of other instances, to an instance's scheduler.
///
/// A wake carries nothing: it asks for a turn, and the turn looks what the newest version is. At
/// most one turn is waiting at any time; the mark is cleared before the turn looks, so that a
/// commit after the look asks for another.
final class WakeRegistration: Sendable {
  private let scheduler: Scheduler
  private let target: Target
  private let isWaiting = Atomic<Bool>(false)
  private let registration = Mutex<StoreRegistration?>(nil)

  /// Followed on the scheduler only.
  private final class Target: @unchecked Sendable {
    // because: `core` is read on the core's own scheduler alone, and set before it is shared.
    weak let core: RealmCore?
    init(_ core: RealmCore) { self.core = core }
  }

  init(_ core: RealmCore) {
    scheduler = core.scheduler
    target = Target(core)
    guard scheduler.hasTurns else { return }
    let added = core.store.follow { [weak self] in self?.schedule() }
    registration.withLock { $0 = added }
    if case .manual(let manual) = scheduler { manual.watch(core.store.watched) }
  }

  /// Asks for a turn, unless one is waiting already.
  func schedule() {
    guard scheduler.hasTurns else { return }
    guard !isWaiting.exchange(true, ordering: .acquiringAndReleasing) else { return }
    scheduler.schedule { [weak self] in
      guard let self else { return }
      isWaiting.store(false, ordering: .sequentiallyConsistent)
      target.core?.takeTurn()
    }
  }

  func end() {
    registration.withLock { $0.take() }?.end()
  }
}
