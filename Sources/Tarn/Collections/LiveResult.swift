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
    var number: Int
    var before: OrderedRoot
    var after: OrderedRoot
    /// Rows that came, went, or were put anew; rows whose data changed.
    var touched: CompiledQuery.TouchedRows
  }

  unowned let core: RealmCore
  let query: CompiledQuery
  var observations: [CollectionObservation] = []
  private var steps: [Step] = []

  /// The rows at step `rootStep`; nil until somebody asks.
  private var root: OrderedRoot?
  private var rootStep = 0
  /// Somebody has been told of `root`: from then on every step that concerns it is logged.
  private var isTracked = false
  /// The rows inside the open write, at a position of its journal.
  private var working: (root: OrderedRoot, serial: UInt64, position: ChangeRecorder.Position)?

  init(_ core: RealmCore, _ query: CompiledQuery) {
    self.core = core
    self.query = query
  }

  var stepNumbers: [Int] { steps.map(\.number) }
  var owner: ObservedOwner? { nil }
  var concerningClasses: Set<ClassID> { query.concerningClasses }
  var isGone: Bool { false }

  // MARK: - Reading

  /// The rows now, an open write's changes included.
  func current() throws(StorageError) -> OrderedRoot {
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
    if let root {
      if isTracked || rootStep == core.step { return root }
      if let missed = core.recentSteps.changes(after: rootStep, upTo: core.step) {
        let isConcerned = query.isConcerned(by: missed)
        let next = isConcerned ? try query.advance(root, over: missed, to: rows).root : root
        self.root = next
        rootStep = core.step
        return next
      }
    }
    let fresh = try query.evaluate(rows)
    root = fresh
    rootStep = core.step
    return fresh
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
  }

  func baseline() -> ObservedBaseline {
    .rows(trapping { () throws(StorageError) in try current() })
  }

  // MARK: - Steps

  /// Logs the step that was just made. False if it leaves this result as it was.
  func logStep(_ changes: ChangeSet, _ former: FormerState) -> Bool {
    guard isTracked, let old = root else { return false }
    let applied = trapping { () throws(StorageError) in
      try query.advance(old, over: changes, to: core.rows())
    }
    root = applied.root
    rootStep = core.step
    guard applied.touched.all.contains(where: { old.contains($0) || applied.root.contains($0) })
    else {
      return false
    }
    steps.append(
      Step(number: core.step, before: old, after: applied.root, touched: applied.touched))
    return true
  }

  /// The difference between the rows after step `seen` and those after step `last`.
  ///
  /// - Parameter baseline: the rows that the observer saw instead of those after step `seen`.
  func difference(
    after seen: Int, upTo last: Int, from baseline: ObservedBaseline?
  ) -> ObservedChanges {
    let merged = steps.filter { $0.number > seen && $0.number <= last }
    guard let first = merged.first, let end = merged.last else {
      return .indices(IndexChanges())
    }
    var touched = first.touched
    for step in merged.dropFirst() { touched.formUnion(step.touched) }
    var before = first.before
    if case .rows(let root)? = baseline { before = root }
    return .indices(touched.difference(before, end.after))
  }

  /// The last observer has gone: the rows are brought up to date only when they are asked for.
  func stopTracking() {
    guard isTracked else { return }
    isTracked = false
    rootStep = core.step
    steps = []
  }

  /// Lets go of steps that everybody has been told of.
  func forgetSteps() {
    let oldest = observations.map(\.seen).min() ?? .max
    steps.removeAll { $0.number <= oldest }
  }
}
