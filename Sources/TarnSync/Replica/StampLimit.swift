/// The latest stamp that a replica gives to its commits, by the server's clock.
///
/// A file continues from its last stamp, so that a clock that was a year ahead for a minute leaves
/// it a year ahead. With such stamps its commits would win over those of all other stores. So they
/// get the time at which they were made, or the server's time if the clock is still ahead, but a
/// later time than all values that the file had downloaded by then: an answer is later than its
/// question.
struct StampLimit: Equatable, Sendable {
  /// How far a stamp may be ahead of the server's clock: the server's own limit.
  private static let tolerance: Int64 = 60_000_000

  /// The server's clock, in microseconds since 1970, and when it was read; nil before that.
  private var clock: (time: Int64, read: ContinuousClock.Instant)?
  /// The last stamp that the server has.
  private var sent: Int64 = 0
  /// The latest stamp of the values that the file has downloaded up to a version, oldest first.
  private(set) var seen: [Seen] = []

  struct Seen: Equatable {
    var version: UInt64
    var stamp: Int64
  }

  private static let seenMax = 16

  init(seen: [Seen] = []) { self.seen = seen }

  static func == (a: StampLimit, b: StampLimit) -> Bool {
    a.clock?.time == b.clock?.time && a.clock?.read == b.clock?.read && a.sent == b.sent
      && a.seen == b.seen
  }

  /// - Parameters:
  ///   - stamp: the latest stamp of a download's values.
  ///   - version: the version that the download makes.
  ///   - done: the commits up to this one are sent.
  mutating func noteSeen(_ stamp: Int64, at version: UInt64, done: UInt64) {
    if let last = seen.last, stamp <= last.stamp { return }
    // One entry from before the unsent commits is enough.
    if let first = seen.lastIndex(where: { $0.version <= done }) { seen.removeFirst(first) }
    // With too few entries, commits between two downloads count as if they were before the first
    // one.
    if seen.count == Self.seenMax { seen.removeLast() }
    seen.append(Seen(version: version, stamp: stamp))
  }

  mutating func noteClock(_ time: Int64) { clock = (time, .now) }

  mutating func noteSent(_ stamp: Int64) { sent = max(sent, stamp) }

  /// - Parameters:
  ///   - stamp: the stamp of a commit, in microseconds since 1970.
  ///   - time: the time of the commit by this machine's clock.
  ///   - version: the version that the commit made; nil if it is no longer known.
  func limited(_ stamp: Int64, madeAt time: Int64, as version: UInt64? = nil) -> Int64 {
    guard let clock else { return stamp }
    let passed = clock.read.duration(to: .now).components
    let now = clock.time + passed.seconds * 1_000_000 + passed.attoseconds / 1_000_000_000_000
    guard stamp > now + Self.tolerance else { return stamp }
    let known = version.flatMap { version in seen.last { $0.version < version }?.stamp } ?? 0
    return min(max(min(time, now), sent + 1, known + 1), now + Self.tolerance)
  }
}
