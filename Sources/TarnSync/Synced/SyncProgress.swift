import TarnStore

extension SyncSession {
  /// How long progress is reported.
  public enum ProgressMode: Sendable {
    /// As long as the token is held.
    case reportIndefinitely
    /// Until everything is transferred that is to be at the beginning.
    case forCurrentlyOutstandingWork
  }

  /// The progress of a transfer.
  public struct Progress: Sendable, Equatable {
    /// The share that is done, from 0 to 1: of the commits to send, or of the objects to fetch. It
    /// may go back when more is to be done.
    public let progressEstimate: Double

    /// Whether everything is transferred.
    public var isTransferComplete: Bool { progressEstimate >= 1 }
    /// The same as ``progressEstimate``.
    public var fractionTransferred: Double { progressEstimate }
  }

  /// Ends a progress notification, at the latest when it is released. Threading: any.
  public final class ProgressNotificationToken: Sendable {
    private let task: Task<Void, Never>

    fileprivate init(_ task: Task<Void, Never>) { self.task = task }
    deinit { task.cancel() }

    /// Ends the notification. A call that has begun may still run.
    public func invalidate() { task.cancel() }
  }

  /// Calls `block` with the progress of a transfer now and whenever it changes, on any thread.
  ///
  /// - Returns: a token to hold; nil if the file cannot be read.
  public func addProgressNotification(
    for direction: ProgressDirection, mode: ProgressMode,
    block: @escaping @Sendable (Progress) -> Void
  ) -> ProgressNotificationToken? {
    let changes = progress(for: direction, mode: mode)
    return ProgressNotificationToken(
      Task { for await progress in changes { block(progress) } })
  }

  /// The progress of a transfer now and whenever it changes.
  public func progress(
    for direction: ProgressDirection, mode: ProgressMode
  ) -> AsyncStream<Progress> {
    let store = store
    return AsyncStream { continuation in
      let task = Task {
        try? await Self.follow(store, direction, mode) { continuation.yield($0) }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  private static func follow(
    _ store: Store, _ direction: ProgressDirection, _ mode: ProgressMode,
    _ tell: @Sendable (Progress) -> Void
  ) async throws {
    let start = try UploadProgress(store).done
    var last: Progress?
    while true {
      let now = try Self.progress(store, direction, from: start)
      if now != last { tell(now) }
      if now.isTransferComplete, mode == .forCurrentlyOutstandingWork { return }
      last = now
      try await FileWait(store: store).until {
        try progress(store, direction, from: start) != now
      }
    }
  }

  private static func progress(
    _ store: Store, _ direction: ProgressDirection, from start: UInt64
  ) throws -> Progress {
    switch direction {
    case .upload:
      let upload = try UploadProgress(store)
      let newest = try store.newestSnapshot().version
      if try upload.isSent(upTo: newest) { return Progress(progressEstimate: 1) }
      let (sent, all) = (upload.done - min(start, upload.done), newest.rawValue - start)
      return Progress(progressEstimate: min(0.99, Double(sent) / Double(max(1, all))))
    case .download:
      return Progress(progressEstimate: try DownloadProgress(store).share)
    }
  }
}

/// How many of the objects that a file is to have are there, as the file says.
struct DownloadProgress {
  let share: Double

  init(_ store: Store) throws(StorageError) {
    let snapshot = try store.newestSnapshot()
    let objects = ReplicaObjects(snapshot)
    guard try ReplicaReport.of(store)?.isComplete != true else {
      share = 1
      return
    }
    var (expected, fetched, isBegun) = (0, 0, false)
    for described in snapshot.schema.schema.classes {
      guard let progress = try objects.progress(of: described.id) else { continue }
      isBegun = true
      expected += progress.expected
      fetched += progress.isComplete ? progress.expected : progress.fetched
    }
    let known = expected == 0 ? 0 : Double(fetched) / Double(expected)
    share = isBegun ? min(0.99, known) : 0
  }
}
