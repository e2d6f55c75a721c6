internal import Glibc

/// The end of a wait. Several waits of one call share it, so that the call takes no longer than its
/// caller allows.
package struct Deadline: Hashable, Sendable {
  /// On the monotonic clock.
  private let nanoseconds: UInt64

  package init(after patience: Duration) {
    let (seconds, attoseconds) = max(patience, .zero).components
    let wait = UInt64(min(seconds, 1 << 32)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    nanoseconds = Self.now() + wait
  }

  /// The remaining time; zero after the deadline.
  package var remaining: Duration {
    let now = Self.now()
    return .nanoseconds(Int64(clamping: nanoseconds > now ? nanoseconds - now : 0))
  }

  /// Polls until `isDone` returns true; false if the deadline comes first. Sleeps a little longer
  /// each time, ten milliseconds at most. Polls at least once.
  func wait<Failure: Error>(until isDone: () throws(Failure) -> Bool) throws(Failure) -> Bool {
    var pause: UInt32 = 200
    while true {
      if try isDone() { return true }
      if remaining == .zero { return false }
      usleep(pause)
      pause = min(pause * 2, 10_000)
    }
  }

  private static func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
