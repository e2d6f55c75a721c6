import TarnStore

/// One of a session's progress notifications.
struct WeakFollower: Sendable {
  weak let follower: ProgressFollower?
}

/// Reports a transfer's progress to one receiver, in order.
actor ProgressFollower {
  nonisolated let direction: SyncSession.ProgressDirection
  private nonisolated let isEnded = Lock(false)
  private let endsWithWork: Bool
  private let tell: @Sendable (Double) -> Void
  private var meter: TransferMeter
  private var told: Double?

  init(
    _ meter: TransferMeter, _ direction: SyncSession.ProgressDirection, endsWithWork: Bool,
    _ tell: @escaping @Sendable (Double) -> Void
  ) {
    self.meter = meter
    self.direction = direction
    self.endsWithWork = endsWithWork
    self.tell = tell
  }

  nonisolated func end() { isEnded.withLock { $0 = true } }

  /// Reports the progress if it has changed.
  ///
  /// - Returns: the meter of further progress; nil if there will be none.
  func update() throws -> TransferMeter? {
    let isOver = endsWithWork && told == 1
    if isOver || isEnded.withLock({ $0 }) { return nil }
    let share = try meter.next()
    if share != told {
      told = share
      tell(share)
    }
    return endsWithWork && share == 1 ? nil : meter
  }

  /// Reports the progress until it is over, or the task is cancelled, or the file cannot be read.
  nonisolated func run() async {
    do {
      while let meter = try await update() {
        try await FileWait(store: meter.store).until {
          var next = meter
          return try next.next() != meter.last
        }
      }
    } catch {
      // No receiver accepts an error: the session reports the problem of the file.
    }
  }
}
