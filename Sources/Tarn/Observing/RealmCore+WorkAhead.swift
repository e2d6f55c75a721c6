import TarnStore

/// How large steps and first evaluations are left to a worker, so that no turn is long.
///
/// A turn looks at what it would have to read. If that is little, it does so. If not, it pins the
/// newest version, asks a worker for what every result becomes there, and ends without having
/// moved; the worker's end is another turn, which moves to exactly that version with what is ready
/// by then. It is used only if the instance is still at the step that the work began from: a
/// refresh or a write does not wait for it but computes by itself, and moves on.
extension RealmCore {
  /// The first half of a turn: moves to the newest version, or hands the way there over.
  ///
  /// - Returns: true if the version changed.
  func followInTurn() throws(StorageError) -> Bool {
    let mayMove = autorefresh && (reader != nil || observers.wantsTurns)
    guard workLimits.usesWorker else { return mayMove ? try advance() : false }
    var moved = false
    if let ahead = workAhead, let end = ahead.work.end {
      workAhead = nil
      switch end {
      case .cancelled: break
      case .failed:
        // Here it ends as it would have without a worker.
        observers.awaitNobody()
        return mayMove ? try advance() : false
      case .done(let changes, let answers):
        moved = try take(ahead, changes, answers, mayMove)
      }
    }
    if mayMove, !moved { moved = try advanceOrHandOver() }
    handFirstRowsOver()
    return moved
  }

  /// Before the instance moves outside of a turn: what a worker was asked for is computed here.
  func takeWorkBack() {
    guard let workAhead else { return }
    workAhead.work.cancel()
    observers.awaitNobody()
  }

  // MARK: - Taking over

  private func take(
    _ ahead: WorkAhead, _ changes: ChangeSet, _ answers: [QueryWork.Answer], _ mayMove: Bool
  ) throws(StorageError) -> Bool {
    let moves = ahead.isMove && mayMove && ahead.step == step && reader != nil
    if moves {
      var prepared: PreparedSteps = [:]
      for (result, answer) in zip(ahead.results, answers) {
        if case .stepped(let step) = answer { prepared[ObjectIdentifier(result)] = step }
      }
      startsOver = false
      try move(to: ahead.work.snapshot, changes, prepared)
      // What was committed meanwhile comes in a turn of its own.
      scheduleTurn()
    }
    try takeFirstRows(ahead, answers)
    return moves
  }

  /// Gives results the rows for their first calls. They may be of an older version than the shown
  /// one: what lies in between is read from the file, which has kept it for the work's snapshot.
  private func takeFirstRows(
    _ ahead: WorkAhead, _ answers: [QueryWork.Answer]
  ) throws(StorageError) {
    let first = zip(ahead.results, answers).filter { $0.0.isAwaited }
    guard !first.isEmpty, let shown = reader?.snapshot else { return }
    let known = ahead.work.snapshot
    guard known.version <= shown.version else { return }
    var missed: ChangeSet?
    if known.version < shown.version {
      missed = try ChangeLog.changes(from: known, to: shown)
    }
    var late: [(result: LiveResult, root: OrderedRoot)] = []
    var rows = 0
    for (result, answer) in first {
      guard let root = answer.root else { continue }
      if let missed {
        rows = sum(rows, result.rows(toFollow: missed, root))
        if rows > workLimits.rows {
          late.append((result, root))
          continue
        }
      }
      result.adopt(root, missed: missed)
    }
    guard let missed, !late.isEmpty else { return }
    let items = late.map { QueryWork.Item($0.result.query, before: $0.root) }
    start(QueryWork(shown, .known(missed), items), late.map(\.result), isMove: false)
  }

  // MARK: - Handing over

  private func advanceOrHandOver() throws(StorageError) -> Bool {
    guard let reader, !startsOver, !observers.isEmpty else { return try advance() }
    if let workAhead, workAhead.isMove, workAhead.step == step { return false }
    let newest = try newestFittingSnapshot()
    let shown = reader.snapshot
    guard newest.version > shown.version else { return try advance(to: newest) }
    let isMuch = try store.isMuch(
      after: shown.version, upTo: newest, commits: workLimits.commits, bytes: workLimits.recordBytes
    )
    if isMuch {
      handMoveOver(to: newest, .after(shown), observers.results)
      return false
    }
    let changes = try ChangeLog.changes(from: shown, to: newest)
    let concerned = observers.results(concernedBy: changes)
    if concerned.reduce(0, { sum($0, $1.rows(toFollow: changes)) }) <= workLimits.rows {
      try move(to: newest, changes)
      return true
    }
    handMoveOver(to: newest, .known(changes), concerned)
    return false
  }

  private func handMoveOver(
    to newest: Snapshot, _ changes: QueryWork.Changes, _ concerned: [LiveResult]
  ) {
    // Work that came to nothing may run still; its end is a turn, which asks again.
    guard workAhead == nil else { return }
    var items: [QueryWork.Item] = []
    var results: [LiveResult] = []
    for result in concerned {
      guard let item = result.workItem else { continue }
      items.append(item)
      results.append(result)
    }
    for result in awaitLargeFirstRows() {
      items.append(QueryWork.Item(result.query))
      results.append(result)
    }
    start(QueryWork(newest, changes, items), results, isMove: true)
  }

  /// Rows for first calls that are too many for the turn.
  private func handFirstRowsOver() {
    let awaited = awaitLargeFirstRows()
    guard workAhead == nil, !awaited.isEmpty else { return }
    let snapshot = shown().snapshot
    let nothing = ChangeSet(from: snapshot.version, to: snapshot.version)
    let items = awaited.map { QueryWork.Item($0.query) }
    start(QueryWork(snapshot, .known(nothing), items), awaited, isMove: false)
  }

  /// Marks the results whose first calls have to wait for a worker: all but the smallest ones, as
  /// many as fit into a turn.
  private func awaitLargeFirstRows() -> [LiveResult] {
    let costs = observers.resultsBeforeFirstCall.map { ($0, $0.rowsBeforeFirstCall()) }
    var rows = 0
    for (result, cost) in costs.sorted(by: { $0.1 < $1.1 }) {
      rows = sum(rows, cost)
      result.isAwaited = rows > workLimits.rows
    }
    return costs.map(\.0).filter(\.isAwaited)
  }

  private func start(_ work: QueryWork, _ results: [LiveResult], isMove: Bool) {
    workAhead = WorkAhead(work: work, step: step, isMove: isMove, results: results)
    work.start(before: workLimits.willWork) { [weak wakeUp] in wakeUp?.schedule() }
  }

  private func sum(_ a: Int, _ b: Int) -> Int {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? .max : sum
  }
}
