/// The latest stamp that a replica gives to its commits, by the server's clock.
///
/// A file goes on from its last stamp, so that a clock that was a year ahead for a minute leaves it
/// a year ahead. With such stamps its commits would win over those of all other stores. So they get
/// the time at which they were made, or the server's time if the clock is still ahead.
struct StampLimit: Equatable, Sendable {
  /// How far a stamp may be ahead of the server's clock: as far as the server lets it.
  private static let tolerance: Int64 = 60_000_000

  /// The server's clock, in microseconds since 1970, and when it was read; nil before that.
  private var clock: (time: Int64, read: ContinuousClock.Instant)?
  /// The last stamp that the server has.
  private var sent: Int64 = 0

  static func == (a: StampLimit, b: StampLimit) -> Bool {
    a.clock?.time == b.clock?.time && a.clock?.read == b.clock?.read && a.sent == b.sent
  }

  mutating func noteClock(_ time: Int64) { clock = (time, .now) }

  mutating func noteSent(_ stamp: Int64) { sent = max(sent, stamp) }

  /// - Parameters:
  ///   - stamp: of a commit, in microseconds since 1970.
  ///   - time: when the commit was made by this machine's clock.
  func limited(_ stamp: Int64, madeAt time: Int64) -> Int64 {
    guard let clock else { return stamp }
    let passed = clock.read.duration(to: .now).components
    let now = clock.time + passed.seconds * 1_000_000 + passed.attoseconds / 1_000_000_000_000
    guard stamp > now + Self.tolerance else { return stamp }
    return min(max(min(time, now), sent + 1), now + Self.tolerance)
  }
}
