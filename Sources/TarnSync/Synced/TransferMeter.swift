import TarnStore

/// Measures a transfer by the state of the file. The amount of work is fixed until it is done, so
/// that later commits do not decrease the share.
struct TransferMeter: Sendable {
  let store: Store
  /// The last measurement.
  private(set) var last: Step?
  private let classes: [String]
  private let direction: SyncSession.ProgressDirection
  private let mode: SyncSession.ProgressMode
  /// The versions between which uploads are measured; nil before they are known.
  private var work: (start: UInt64, end: Version)?

  init(
    _ store: Store, _ classes: [String], _ direction: SyncSession.ProgressDirection,
    _ mode: SyncSession.ProgressMode
  ) {
    (self.store, self.classes, self.direction, self.mode) = (store, classes, direction, mode)
  }

  /// A measurement.
  struct Step: Equatable, Sendable {
    let share: Double
    /// The last transfer, once everything is transferred: a later one may end before it is
    /// measured.
    let transfer: Transfer?
  }

  /// The last transfer of a direction.
  enum Transfer: Equatable, Sendable {
    case upload(CommitName)
    case download(ServerPosition)
  }

  mutating func next() throws -> Step {
    let share =
      switch direction {
      case .upload: try uploadShare()
      case .download: try DownloadProgress(store).share
      }
    // After the end, new work begins.
    let former = last?.share == 1 ? 0 : last?.share ?? 0
    let step = Step(
      share: max(share, former), transfer: share == 1 ? try lastTransfer() : nil)
    last = step
    return step
  }

  private func lastTransfer() throws(StorageError) -> Transfer? {
    let snapshot = try store.newestSnapshot()
    guard let bytes = try ReplicaRecords.bytes(ReplicaState.key, in: snapshot.transaction) else {
      return nil
    }
    let state = try ReplicaState(bytes, path: store.path)
    return direction == .upload ? .upload(state.sent) : .download(state.position)
  }

  private mutating func uploadShare() throws -> Double {
    let newest = try store.newestSnapshot().version
    let unsent = try UnsentCount(store, expecting: classes)
    let done = unsent?.done ?? 0
    var work = work ?? (done, newest)
    defer { self.work = work }
    if let unsent, try unsent.isNothing(upTo: work.end) {
      if mode == .forCurrentlyOutstandingWork { return 1 }
      if try unsent.isNothing(upTo: newest) {
        work = (newest.rawValue, newest)
        return 1
      }
      work.end = newest
      if last?.share == 1 { work.start = done }
    }
    let sent = done - min(work.start, done)
    let all = work.end.rawValue - min(work.start, work.end.rawValue)
    return min(0.99, Double(sent) / Double(max(1, all)))
  }
}

/// How many of the objects of a file's subscriptions it has, according to the file.
struct DownloadProgress {
  let share: Double

  init(_ store: Store) throws(StorageError) {
    let snapshot = try store.newestSnapshot()
    let objects = ReplicaObjects(snapshot)
    guard try !ReplicaReport.isComplete(store) else {
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
