import TarnStore

/// The rows of one query on one instance, kept right as the shown version moves. All `Results`
/// values and observers of that query share it.
///
/// Once evaluated, its rows are an immutable root; a step makes the next root from the last one
/// and the step's changes, in time that depends on the changes and not on the rows. Roots share
/// their nodes, so an older one is kept (by a loop, by an observer who has not been told yet) at
/// the cost of the difference.
final class LiveResult: ObservedSource {
  /// One move of the shown version as it concerns this result.
  struct Step {
    let number: Int
    var made: ResultStep
  }

  unowned let core: RealmCore
  let query: CompiledQuery
  var observations: [CollectionObservation] = []
  private var steps: [Step] = []

  /// The rows at step `rootStep`; nil until somebody asks.
  private var root: OrderedRoot?
  private var rootStep = 0
  /// Somebody has been told of `root`: from then on every step that concerns it is logged.
  private(set) var isTracked = false
  /// First calls wait until a worker has evaluated the rows.
  var isAwaited = false
  /// The rows inside the open write, at a position of its journal.
  private var working: (root: OrderedRoot, serial: UInt64, position: ChangeRecorder.Position)?
  /// The rows of a frozen instance. Nothing else of one of its results changes.
  private let frozenRows: WorkedOutOnce<OrderedRoot>?

  init(_ core: RealmCore, _ query: CompiledQuery) {
    self.core = core
    self.query = query
    frozenRows = core.isFrozen ? WorkedOutOnce() : nil
  }

  var stepNumbers: [Int] { steps.map(\.number) }
  var isGone: Bool { false }

  // MARK: - Reading

  /// The rows now, an open write's changes included.
  func current() throws(StorageError) -> OrderedRoot {
    if let frozenRows {
      return try frozenRows.value { () throws(StorageError) in try query.evaluate(core.rows()) }
    }
    guard let session = core.session, !session.isEmpty else {
      working = nil
      return try published()
    }
    let serial = core.writeSerial
    let position = session.recorder.position
    let (root, seen): (OrderedRoot, ChangeRecorder.Position)
    if let working, working.serial == serial {
      if working.position == position { return working.root }
      (root, seen) = (working.root, working.position)
    } else {
      (root, seen) = (try published(), .start)
    }
    let changes = session.recorder.changes(since: seen)
    let next = try query.advance(root, over: changes, to: core.rows()).root
    working = (next, serial, position)
    return next
  }

  /// The rows at the shown version, without an open write, brought up from the last step that
  /// they were asked at.
  private func published() throws(StorageError) -> OrderedRoot {
    let rows = StoreRows(core.shown())
    let next: OrderedRoot
    switch missing() {
    case .nothing(let root): return root
    case .changes(let root, let missed): next = try query.bringUp(root, over: missed, to: rows)
    case .everything: next = try query.evaluate(rows)
    }
    root = next
    rootStep = core.step
    return next
  }

  private enum Missing {
    case nothing(OrderedRoot)
    case changes(OrderedRoot, ChangeSet)
    case everything
  }

  /// What the rows lack to be those at the shown version.
  private func missing() -> Missing {
    guard let root else { return .everything }
    if isTracked || rootStep == core.step { return .nothing(root) }
    if let missed = core.recentSteps.changes(after: rootStep, upTo: core.step) {
      return .changes(root, missed)
    }
    return .everything
  }

  /// How many rows a first call would have to read before it, in rows that a scan passes.
  func rowsBeforeFirstCall() -> Int {
    switch missing() {
    case .nothing: 0
    case .changes(let root, let missed): rows(toFollow: missed, root)
    case .everything:
      trapping { () throws(StorageError) in try StoreRows(core.shown()).count(of: query.classID) }
    }
  }

  /// The same for following `changes`; 0 while nobody has been told of any rows.
  func rows(toFollow changes: ChangeSet) -> Int {
    guard isTracked, let root else { return 0 }
    return rows(toFollow: changes, root)
  }

  func rows(toFollow changes: ChangeSet, _ root: OrderedRoot) -> Int {
    let lookups = query.lookups(for: changes, among: root.count)
    let (rows, overflow) = lookups.multipliedReportingOverflow(by: core.workLimits.rowsPerLookup)
    return overflow ? .max : rows
  }

  /// What a worker needs to follow changes of the rows that observers have been told of.
  var workItem: QueryWork.Item? {
    isTracked ? root.map { QueryWork.Item(query, before: $0) } : nil
  }

  /// Takes the rows over that a worker has evaluated, with what was missed since.
  func adopt(_ evaluated: OrderedRoot, missed: ChangeSet?) {
    root = evaluated
    if let missed {
      root = trapping { () throws(StorageError) in
        try query.bringUp(evaluated, over: missed, to: StoreRows(core.shown()))
      }
    }
    rootStep = core.step
    isAwaited = false
  }

  /// The number of rows if it is known without evaluating them: that of a whole class.
  func countWithoutRows() -> Int? {
    guard query.isUnfiltered, root == nil else { return nil }
    return trapping { () throws(StorageError) in try core.rows().count(of: query.classID) }
  }

  /// Evaluates the rows at the shown version, for an observer who is about to be told of them.
  /// Steps are logged from here on.
  func prepareForObserving() {
    _ = trapping { () throws(StorageError) in try published() }
    rootStep = core.step
    isTracked = true
    isAwaited = false
  }

  func baseline() -> ObservedBaseline {
    .rows(trapping { () throws(StorageError) in try current() })
  }

  // MARK: - Steps

  /// Logs the step that was just made. False if it leaves this result as it was.
  ///
  /// - Parameter prepared: what a worker has made of the same step.
  func logStep(_ changes: ChangeSet, _ prepared: ResultStep?, _ core: RealmCore) -> Bool {
    guard isTracked, let old = root else { return false }
    let made =
      prepared
      ?? trapping { () throws(StorageError) in
        try query.step(from: old, over: changes, to: core.rows())
      }
    root = made.after
    rootStep = core.step
    guard made.isNews else { return false }
    steps.append(Step(number: core.step, made: made))
    return true
  }

  /// The difference between the rows after step `seen` and those after step `last`.
  ///
  /// - Parameter baseline: the rows that the observer saw instead of those after step `seen`.
  func difference(
    after seen: Int, upTo last: Int, from baseline: ObservedBaseline?
  ) -> ObservedChanges {
    let merged = steps.indices.filter { steps[$0].number > seen && steps[$0].number <= last }
    guard let first = merged.first, let end = merged.last else {
      return .indices(IndexChanges())
    }
    if first == end, baseline == nil { return .indices(steps[first].made.difference()) }
    var touched = steps[first].made.touched
    for index in merged.dropFirst() { touched.formUnion(steps[index].made.touched) }
    var before = steps[first].made.before
    if case .rows(let root)? = baseline { before = root }
    return .indices(touched.difference(before, steps[end].made.after))
  }

  /// The last observer has gone: the rows are brought up to date only when they are asked for.
  func stopTracking() {
    isAwaited = false
    guard isTracked else { return }
    isTracked = false
    rootStep = core.step
    steps = []
  }

  /// Lets go of steps that everybody has been told of.
  func forgetSteps() {
    let oldest = observations.map(\.seen).min() ?? .max
    let told = steps.prefix { $0.number <= oldest }.map(\.made)
    steps.removeFirst(told.count)
    let touched = told.reduce(0) { $0 + $1.touched.count }
    if touched > 1_000, core.workLimits.usesWorker { QueryWork.letGo(of: told) }
  }
}
