import TarnStore

/// Leaves large steps and first evaluations to a worker, so that no turn takes long.
///
/// A turn estimates what it would have to read. If that is little, it reads it. If not, it pins the
/// newest version, has a worker compute the new content of every source there, and ends without
/// moving; when the worker is done, another turn moves to exactly that version with the prepared
/// content. It is used only if the instance is still at the step at which the work began: a refresh
/// or a write does not wait for it but computes the content itself, and moves on.
extension Advancer {
  /// The first half of a turn: moves to the newest version, or hands the work over.
  ///
  /// - Returns: true if the version changed.
  func followInTurn() throws(StorageError) -> Bool {
    let mayMove = host.autorefresh && (host.reader != nil || observers.wantsTurns)
    guard workLimits.usesWorker else { return mayMove ? try advance() : false }
    var moved = false
    if let ahead = workAhead, let end = ahead.work.end {
      workAhead = nil
      switch end {
      case .cancelled: break
      case .failed:
        // Without the worker, the turn ends here.
        observers.awaitNobody()
        return mayMove ? try advance() : false
      case .done(let changes, let answers):
        moved = try take(ahead, changes, answers, mayMove)
      }
    }
    if mayMove, !moved { moved = try advanceOrHandOver() }
    enqueueFirstCalls()
    return moved
  }

  /// Makes the first calls that are due, or has a worker prepare them if that takes long. The
  /// instance does not move.
  func deliverFirstCalls() {
    if workLimits.usesWorker { enqueueFirstCalls() }
    host.delivery.deliverRound()
  }

  /// Cancels the worker's task before the instance moves outside of a turn, which then computes
  /// the content on this thread.
  func cancelWorkAhead() {
    guard let workAhead else { return }
    workAhead.work.cancel()
    observers.awaitNobody()
  }

  // MARK: - Taking over

  private func take(
    _ ahead: WorkAhead, _ changes: ChangeSet, _ answers: [WorkResult], _ mayMove: Bool
  ) throws(StorageError) -> Bool {
    let moves = ahead.isMove && mayMove && ahead.step == host.step && host.reader != nil
    if moves {
      var prepared: PreparedSteps = [:]
      for (source, answer) in zip(ahead.sources, answers) where answer.isStep {
        prepared[ObjectIdentifier(source)] = answer
      }
      let concerned = observers.sources.with(ahead.concerned, arrivedAfter: ahead.arrivals)
      try move(
        PreparedMove(
          snapshot: ahead.work.snapshot, changes: changes, concerned: concerned,
          prepared: prepared))
      // Later commits are read in a separate turn.
      host.scheduleTurn()
    }
    try takeFirstRows(ahead, answers)
    return moves
  }

  /// Gives results the rows for their first calls. They may be of an older version than the current
  /// one: the changes since are read from the file, which has kept them for the work's snapshot.
  private func takeFirstRows(
    _ ahead: WorkAhead, _ answers: [WorkResult]
  ) throws(StorageError) {
    let first = zip(ahead.sources, answers).filter { $0.0.isAwaited }
    guard !first.isEmpty, let shown = host.reader?.snapshot else { return }
    let known = ahead.work.snapshot
    guard known.version <= shown.version else { return }
    var missed: ChangeSet?
    if known.version < shown.version {
      missed = try ChangeLog.changes(from: known, to: shown)
    }
    var late: [any ObservedSource] = []
    var items: [any WorkItem] = []
    var rows = 0
    for (source, answer) in first {
      if let missed {
        let cost = source.cost(ofFollowing: missed, from: answer)
        rows = saturatingSum(rows, workLimits.rows(of: cost))
        if rows > workLimits.rows, let item = source.followItem(from: answer) {
          late.append(source)
          items.append(item)
          continue
        }
      }
      source.adopt(answer, missed: missed)
    }
    guard let missed, !late.isEmpty else { return }
    start(LiveWork(shown, from: known, .known(missed), items), late)
  }

  // MARK: - Handing over

  private func advanceOrHandOver() throws(StorageError) -> Bool {
    guard let reader = host.reader, !host.state.needsReset, !observers.isEmpty else {
      return try advance()
    }
    if let workAhead, workAhead.isMove, workAhead.step == host.step { return false }
    let newest = try host.newestFittingSnapshot()
    let shown = reader.snapshot
    guard newest.version > shown.version else { return try advance(to: newest) }
    let isMuch = try host.store.isMuch(
      after: shown.version, upTo: newest, commits: workLimits.commits,
      bytes: workLimits.recordBytes)
    if isMuch {
      enqueueMove(from: shown, to: newest, .after(shown), observers.sources.all)
      return false
    }
    let changes = try ChangeLog.changes(from: shown, to: newest)
    let concerned = try observers.sources.concerned(by: changes, atMost: workLimits.routedRows) {
      () throws(StorageError) in
      LiveMove(changes, from: .version(shown), to: Rows(try SnapshotReader(newest)))
    }
    let rows = concerned.reduce(0) {
      saturatingSum($0, workLimits.rows(of: $1.cost(ofFollowing: changes)))
    }
    if rows <= workLimits.rows {
      try move(PreparedMove(snapshot: newest, changes: changes, concerned: concerned))
      return true
    }
    enqueueMove(from: shown, to: newest, .known(changes), concerned)
    return false
  }

  private func enqueueMove(
    from shown: Snapshot, to newest: Snapshot, _ changes: LiveWork.Changes,
    _ concerned: [any ObservedSource]
  ) {
    // Abandoned work may still be running; when it ends, a turn asks again.
    guard workAhead == nil else { return }
    var items: [any WorkItem] = []
    var sources: [any ObservedSource] = []
    for source in concerned {
      guard let item = source.stepItem else { continue }
      items.append(item)
      sources.append(source)
    }
    for source in awaitLargeFirstCalls() {
      items.append(source.firstItem)
      sources.append(source)
    }
    start(LiveWork(newest, from: shown, changes, items), sources, concerned)
  }

  /// Hands over first calls that are too large for the turn.
  private func enqueueFirstCalls() {
    let awaited = awaitLargeFirstCalls()
    guard workAhead == nil, !awaited.isEmpty else { return }
    let snapshot = host.shown().snapshot
    let nothing = ChangeSet(from: snapshot.version, to: snapshot.version)
    let items = awaited.map(\.firstItem)
    start(LiveWork(snapshot, from: snapshot, .known(nothing), items), awaited)
  }

  /// Marks the sources whose first calls have to wait for a worker: all except the smallest ones,
  /// as many of these as fit into a turn.
  private func awaitLargeFirstCalls() -> [any ObservedSource] {
    let costs = observers.sourcesBeforeFirstCall.map {
      ($0, workLimits.rows(of: $0.costOfFirstCall()))
    }
    var rows = 0
    for (source, cost) in costs.sorted(by: { $0.1 < $1.1 }) {
      rows = saturatingSum(rows, cost)
      source.isAwaited = rows > workLimits.rows
    }
    return costs.map(\.0).filter(\.isAwaited)
  }

  /// - Parameter concerned: for a move, the sources that it can concern.
  private func start(
    _ work: LiveWork, _ sources: [any ObservedSource], _ concerned: [any ObservedSource]? = nil
  ) {
    workAhead = WorkAhead(
      work: work, step: host.step, isMove: concerned != nil, sources: sources,
      concerned: concerned ?? [], arrivals: observers.sources.arrivals)
    work.start(before: workLimits.willWork) { [weak wakeUp = host.wakeUp] in wakeUp?.schedule() }
  }
}

/// Work that a worker does for an instance before the turn that needs it. An instance has at most
/// one; commits made meanwhile are merged into the next.
struct WorkAhead {
  /// The limits up to which a turn computes by itself.
  struct Limits {
    /// False if every turn computes by itself: the caller that pumps a manual scheduler has chosen
    /// the moment, and expects one turn to do everything.
    var usesWorker: Bool
    /// The rows that all sources of a turn read together, in rows that a scan passes.
    var rows = 20_000
    /// The cost of looking up and sorting in one changed row, in rows that a scan passes.
    var rowsPerLookup = 50
    /// The maximum number of affected rows by which a turn finds the sources concerned.
    var routedRows = 4_096
    /// The maximum number of commits whose records a turn merges, and of bytes in these records.
    var commits = 500
    var recordBytes = 32_768
    /// Called on the worker's thread before it begins; tests delay it here.
    var willWork: (@Sendable () -> Void)?

    init(on scheduler: Scheduler) {
      if case .manual = scheduler { usesWorker = false } else { usesWorker = true }
    }

    /// The cost in rows that a scan passes.
    func rows(of cost: LiveCost) -> Int {
      let (lookups, overflow) = cost.lookedUp.multipliedReportingOverflow(by: rowsPerLookup)
      return saturatingSum(cost.scanned, overflow ? .max : lookups)
    }
  }

  let work: LiveWork
  /// The step of the instance at which it began.
  let step: Int
  /// True for a move to a newer version, false for the rows of first calls only.
  let isMove: Bool
  /// The sources of the items, in their order.
  let sources: [any ObservedSource]
  /// For a move: the sources that it can concern, also those that were not followed yet.
  let concerned: [any ObservedSource]
  /// The number of sources that had arrived.
  let arrivals: Int
}
