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
  private var told: TransferMeter.Step?

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

  /// Reports the progress if it has changed, or if another transfer is complete.
  ///
  /// - Returns: the meter of further progress; nil if there will be none.
  func update() throws -> TransferMeter? {
    let isOver = endsWithWork && told?.share == 1
    if isOver || isEnded.withLock({ $0 }) { return nil }
    let step = try meter.next()
    if step != told {
      told = step
      tell(step.share)
    }
    return endsWithWork && step.share == 1 ? nil : meter
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
