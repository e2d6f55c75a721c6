import Glibc
import TarnStore

/// Notices the end of schedulers: of threads, of queues, and of manual schedulers.
///
/// Objects that belong to a scheduler without being held by it can only be cleaned up if its end is
/// noticed.
enum SchedulerEnd {
  private static let watchers = Lock<[Scheduler.Key: @Sendable (Scheduler.Key) -> Void]>(
    ofProcess: [:])

  /// Registers `tell` to be called once when the scheduler ends: for a thread, on that thread while
  /// it ends; for others, where the last reference is released. It replaces an earlier block. Call
  /// this on the scheduler.
  static func watch(
    _ scheduler: Scheduler.Key, _ tell: @escaping @Sendable (Scheduler.Key) -> Void
  ) {
    switch scheduler {
    case .main, .actor, .anywhere: return
    case .thread(let thread):
      unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: thread))
    case .queue, .manual: break
    }
    watchers.withLock { $0[scheduler] = tell }
  }

  /// The scheduler has ended.
  static func tell(_ scheduler: Scheduler.Key) {
    let tell = watchers.withLock { $0.removeValue(forKey: scheduler) }
    tell?(scheduler)
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let result = unsafe pthread_key_create(&key) { thread in
      SchedulerEnd.tell(.thread(UInt(bitPattern: thread)))
    }
    require(
      result == 0,
      "The process has no key for thread-specific data left (pthread_key_create).")
    return key
  }()
}
