/// How long a session waits before it polls the server again: a second after the last change that
/// it saw, then twice as long each time. Hints of other sessions usually arrive sooner, but that is
/// not certain, because a pooler may drop them.
struct PollInterval {
  private static let first = Duration.seconds(1)
  private static let last = Duration.seconds(15)

  private var current = PollInterval.first

  mutating func reset() { current = Self.first }

  /// The next wait.
  mutating func next() -> Duration {
    defer { current = min(current * 2, Self.last) }
    return current
  }
}
