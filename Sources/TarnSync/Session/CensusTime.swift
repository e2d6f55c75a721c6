internal import Glibc

/// When a session compares all objects with the server by a digest: once an hour, at a random time
/// so that not all replicas do so at once, and immediately after an hour without a connection.
struct CensusTime {
  private static let interval = Duration.seconds(3_600)
  private var next: ContinuousClock.Instant

  /// - Parameter seen: when the server was last connected, in seconds since 1970; 0 for never.
  init(since seen: UInt64) {
    let absence = Int64(time(nil)) - Int64(clamping: seen)
    let isLong = seen > 0 && absence > Self.interval.components.seconds
    next = .now + (isLong ? .zero : Self.randomWait)
  }

  private static var randomWait: Duration { .seconds(Int64.random(in: 1...3_600)) }

  var isDue: Bool { ContinuousClock.now >= next }
  mutating func isDone() { next = .now + Self.interval }
}
