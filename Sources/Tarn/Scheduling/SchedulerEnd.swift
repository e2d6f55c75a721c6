import Glibc
import TarnStore

/// Notices the end of schedulers: of threads, of queues, and of manual schedulers.
///
/// What belongs to a scheduler and is not held by it can be in nobody's way afterwards only if
/// somebody is told.
enum SchedulerEnd {
  private static let watchers = Lock<[Scheduler.Key: @Sendable (Scheduler.Key) -> Void]>([:])

  /// From now on `tell` is called once when the scheduler is no more: for a thread, on that thread
  /// as it ends; for others, where the last reference was released. It replaces what was
  /// to be called before. To be called on the scheduler.
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

  /// The scheduler is no more.
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
