import Glibc

/// For costs that a test compares: other tests run at the same time.
package enum ProcessorTime {
  /// Nanoseconds for which this thread had a processor.
  package static func ofThisThread() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
