import TarnStore

extension SyncSession {
  /// How long progress is reported.
  public enum ProgressMode: Sendable {
    /// As long as the token is held.
    case reportIndefinitely
    /// Until everything is transferred that was outstanding at the beginning.
    case forCurrentlyOutstandingWork
  }

  /// The progress of a transfer.
  public struct Progress: Sendable, Equatable {
    /// The share that is done, from 0 to 1: of the commits to send, or of the objects to fetch. It
    /// does not decrease before it is 1; later transfers begin at a smaller share.
    public let progressEstimate: Double

    /// Whether everything is transferred.
    public var isTransferComplete: Bool { progressEstimate >= 1 }
    /// The same as ``progressEstimate``.
    public var fractionTransferred: Double { progressEstimate }
  }

  /// Ends a progress notification when it is invalidated or released. Threading: any.
  public final class ProgressNotificationToken: Sendable {
    private let follower: ProgressFollower
    private let task: Task<Void, Never>

    fileprivate init(_ follower: ProgressFollower, _ task: Task<Void, Never>) {
      (self.follower, self.task) = (follower, task)
    }
    deinit { invalidate() }

    /// Ends the notification. A call that has begun may still be running.
    public func invalidate() {
      follower.end()
      task.cancel()
    }
  }

  /// Calls `block` with the progress of a transfer now and whenever it changes, on any thread, one
  /// call at a time. With ``ProgressMode/reportIndefinitely``, each later transfer is reported,
  /// too: at least its end, as 1.
  ///
  /// When ``wait(for:)`` returns, blocks have been called with 1 for everything transferred before.
  ///
  /// - Returns: a token to hold; nil if the file cannot be read.
  public func addProgressNotification(
    for direction: ProgressDirection, mode: ProgressMode,
    block: @escaping @Sendable (Progress) -> Void
  ) -> ProgressNotificationToken? {
    let follower = follower(direction, mode, block)
    return ProgressNotificationToken(follower, Task { await follower.run() })
  }

  /// The progress of a transfer now and whenever it changes.
  public func progress(
    for direction: ProgressDirection, mode: ProgressMode
  ) -> AsyncStream<Progress> {
    AsyncStream { continuation in
      let follower = follower(direction, mode) { continuation.yield($0) }
      let task = Task {
        await follower.run()
        continuation.finish()
      }
      continuation.onTermination = { _ in
        follower.end()
        task.cancel()
      }
    }
  }

  private func follower(
    _ direction: ProgressDirection, _ mode: ProgressMode,
    _ tell: @escaping @Sendable (Progress) -> Void
  ) -> ProgressFollower {
    let meter = TransferMeter(store, classes, direction, mode)
    let follower = ProgressFollower(meter, direction, endsWithWork: mode != .reportIndefinitely) {
      tell(Progress(progressEstimate: $0))
    }
    followers.withLock { followers in
      followers.removeAll { $0.follower == nil }
      followers.append(WeakFollower(follower: follower))
    }
    return follower
  }

  /// Makes all notifications of a direction report the current progress.
  func tellProgress(of direction: ProgressDirection) async {
    for follower in followers.withLock({ $0.compactMap(\.follower) }) {
      if follower.direction == direction { _ = try? await follower.update() }
    }
  }
}
