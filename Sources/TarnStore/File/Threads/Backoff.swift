/// The waits after failures: each twice the one before, up to a maximum, and shortened at random by
/// up to a half, so that callers which failed together do not retry together.
package struct Backoff: Sendable {
  private let first: Duration
  private let last: Duration
  private var failures = 0

  package init(first: Duration, last: Duration) {
    self.first = first
    self.last = last
  }

  package mutating func reset() { failures = 0 }

  /// The wait after one more failure.
  package mutating func next() -> Duration {
    var wait = first
    for _ in 0..<min(failures, 40) where wait < last { wait *= 2 }
    failures += 1
    return min(wait, last) * Double.random(in: 0.5...1)
  }
}
