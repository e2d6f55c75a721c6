internal import Glibc

/// Waits for a socket, up to a time, or until a session ends.
struct SocketWait {
  /// How long an ending session waits for an outstanding answer: the result of a push that ends
  /// regularly need not be requested again.
  private static let grace = Duration.seconds(1)

  /// Ends all waits; nil for connections that are not ended from outside.
  let stop: OnceSignal?
  /// Runs each call that waits.
  let waiting: (() -> Void) -> Void

  enum Outcome { case ready, late, stopped }

  /// - Parameters:
  ///   - events: the events of `poll`.
  ///   - end: the end of the wait; nil for no limit.
  func wait(
    for events: Int32, on descriptor: Int32, until end: ContinuousClock.Instant?
  ) -> Outcome {
    while true {
      let stopped = stop?.time.map { $0 + Self.grace }
      let now = ContinuousClock.now
      if let stopped, now >= stopped { return .stopped }
      if let end, now >= end { return .late }
      var waited = [pollfd(fd: descriptor, events: Int16(events), revents: 0)]
      // Once it is raised, it would end each wait immediately.
      if stopped == nil, let stop {
        waited.append(pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0))
      }
      let next = [stopped, end].compactMap { $0 }.min()
      let time = next.map { Self.milliseconds($0 - now) } ?? -1
      waiting { _ = unsafe poll(&waited, nfds_t(waited.count), time) }
      if waited[0].revents != 0 { return .ready }
    }
  }

  /// Rounded up, so that the time has certainly passed.
  static func milliseconds(_ time: Duration) -> Int32 {
    let (seconds, fraction) = time.components
    return Int32(clamping: max(0, seconds * 1_000 + fraction / 1_000_000_000_000_000) + 1)
  }
}
