import CTarn
import Dispatch
import Synchronization

/// Notices the end of an actor whose instance has a write open: all other writers wait for that
/// write, and a token or a queued block may hold the instance for long.
///
/// The end of an actor is not reported, so it is checked while a write is open. A write that ends
/// earlier costs two flags, and at most one check for all that begin within that time.
final class OrphanedWriteCheck: @unchecked Sendable {
  // because: `end` is set before this is shared, and called when nothing runs on the actor.
  private static let interval = DispatchTimeInterval.milliseconds(50)

  private let end: () -> Void
  private let scheduler: Scheduler
  private let isOpen = Atomic<Bool>(false)
  private let isLooking = Atomic<Bool>(false)

  /// - Parameter end: ends the write; called when no code is isolated to the actor any more.
  init(_ scheduler: Scheduler, _ end: @escaping () -> Void) {
    self.scheduler = scheduler
    self.end = end
  }

  func writeBegan() {
    isOpen.store(true, ordering: .sequentiallyConsistent)
    lookLater()
  }

  func writeEnded() { isOpen.store(false, ordering: .sequentiallyConsistent) }

  private func lookLater() {
    guard !isLooking.exchange(true, ordering: .sequentiallyConsistent) else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.interval) { [weak self] in
      self?.look()
    }
  }

  private func look() {
    // Cleared before the other is read, so that a write which begins now is checked again.
    isLooking.store(false, ordering: .sequentiallyConsistent)
    guard isOpen.load(ordering: .sequentiallyConsistent) else { return }
    if scheduler.isGone { endWrite() } else { lookLater() }
  }

  private func endWrite() {
    // Code on the actor released it after its last use of the instance; `isGone` read that count,
    // so later reads happen after that use.
    atomicMemoryFence(ordering: .acquiring)
    #if THREAD_SANITIZER
      tarn_unchecked_begin()
      defer { tarn_unchecked_end() }
    #endif
    end()
  }
}
