import TarnStore

/// What results go over: a collection of objects that belongs to an object, of which they are those
/// that match, or all of them in another order; or a class, for what no order of rows alone gives.
enum DerivedOrigin: Hashable {
  /// All objects of the query's class.
  case objects
  case sequence(SequencePlace)
  /// What links to an object through a column of a class.
  case backlinks(to: LinkTarget, from: ClassID, ColumnID)

  var owner: LinkTarget? {
    switch self {
    case .objects: nil
    case .sequence(let place): LinkTarget(classID: place.classID, key: place.key)
    case .backlinks(let target, _, _): target
    }
  }
}

/// The rows of one query over a collection that belongs to an object, or of one with distinct
/// values over a class, on one instance. All `Results` values and observers that ask for the same
/// share it.
///
/// Rows are found by going through all of the collection's elements. That happens when they are
/// asked for and something that may concern them has changed since; for observers in each step
/// that may concern them. When the owner is gone there are none.
final class DerivedResult: OwnedSource {
  private unowned let core: RealmCore
  let query: CompiledQuery
  let origin: DerivedOrigin
  var observations: [CollectionObservation] = []
  /// Once observers have been told so, nothing comes any more.
  private(set) var isOwnerGone = false

  /// The rows at step `rowsStep`; nil until somebody asks.
  private var rows: DerivedRows?
  private var rowsStep = 0
  /// The rows inside the open write, at a position of its journal.
  private var working: (rows: DerivedRows, serial: UInt64, position: ChangeRecorder.Position)?
  /// Somebody has been told of `rows`: from then on every step that concerns them is logged.
  private var isTracked = false
  /// While that is so, the elements of the collection.
  private var elements: [ObjectKey?] = []
  private var steps: [(number: Int, script: SequenceScript)] = []
  /// The rows of a frozen instance. Nothing else of one of its results changes.
  private let frozenRows: WorkedOutOnce<DerivedRows>?

  init(_ core: RealmCore, _ query: CompiledQuery, _ origin: DerivedOrigin) {
    self.core = core
    self.query = query
    self.origin = origin
    frozenRows = core.isFrozen ? WorkedOutOnce() : nil
  }

  var isAwaited: Bool { false }
  /// Without its owner a result is empty, and who asks is told that.
  var isGone: Bool { false }
  var owner: LinkTarget? { origin.owner }
  var elementClasses: Set<ClassID> { query.concerningClasses }
  var stepNumbers: [Int] { steps.map(\.number) }

  // MARK: - Reading

  /// The rows now, an open write's changes included.
  func current() throws(StorageError) -> DerivedRows {
    if let frozenRows {
      return try frozenRows.value { () throws(StorageError) in
        let reader = core.shown()
        return try evaluate(try elements(reader) ?? [], StoreRows(reader))
      }
    }
    guard let session = core.session, !session.isEmpty else {
      working = nil
      return try published()
    }
    let serial = core.writeSerial
    let position = session.recorder.position
    if let working, working.serial == serial, working.position == position { return working.rows }
    let made = try evaluate(try elements(session) ?? [], core.rows())
    working = (made, serial, position)
    return made
  }

  /// The rows at the shown version, without an open write.
  private func published() throws(StorageError) -> DerivedRows {
    let reader = core.shown()
    if let rows, isTracked || rowsStep == core.step { return rows }
    let next: DerivedRows
    if let rows, let missed = core.recentSteps.changes(after: rowsStep, upTo: core.step),
      !isConcerned(by: missed)
    {
      next = rows
    } else {
      next = try evaluate(try elements(reader) ?? [], StoreRows(reader))
    }
    rows = next
    rowsStep = core.step
    return next
  }

  private func evaluate(
    _ elements: [ObjectKey?], _ rows: StoreRows
  ) throws(StorageError) -> DerivedRows {
    if case .objects = origin { return try query.evaluateStages(rows) }
    return try query.evaluate(elements, rows)
  }

  func isConcerned(by changes: ChangeSet) -> Bool {
    changes.schemaChanged || owner.map { changes[$0.classID] != nil } == true
      || query.concerningClasses.contains { changes[$0] != nil }
  }

  /// The elements at the shown version; nil if the owner is gone. Of a class none are kept.
  private func elements(_ reader: SnapshotReader) throws(StorageError) -> [ObjectKey?]? {
    switch origin {
    case .objects: return []
    case .sequence(let place): return try elements(of: try reader.sequence(at: place))
    case .backlinks(let target, let id, let column):
      guard try reader.row(target.key, in: target.classID) != nil else { return nil }
      return try reader.origins(of: target, in: id, through: column)
    }
  }

  /// The elements in the open write; nil if the owner is gone.
  private func elements(_ session: WriteSession) throws(StorageError) -> [ObjectKey?]? {
    switch origin {
    case .objects: return []
    case .sequence(let place): return try elements(of: try session.sequence(at: place))
    case .backlinks(let target, let id, let column):
      guard try session.place(of: target.key, in: target.classID) != nil else { return nil }
      return try session.origins(of: target, in: id, through: column)
    }
  }

  private func elements(
    of sequence: (any SequenceReading)?
  ) throws(StorageError) -> [ObjectKey?]? {
    guard let sequence else { return nil }
    var elements: [ObjectKey?] = []
    elements.reserveCapacity(sequence.count)
    try sequence.forEach(in: 0..<sequence.count) { value throws(StorageError) in
      if case .link(let key) = value { elements.append(key) } else { elements.append(nil) }
      return true
    }
    return elements
  }

  // MARK: - Observing

  func prepareForObserving() {
    if isTracked { return }
    trapping { () throws(StorageError) in
      let found = try elements(core.shown())
      isOwnerGone = found == nil
      elements = found ?? []
      rows = try evaluate(elements, StoreRows(core.shown()))
    }
    rowsStep = core.step
    isTracked = true
  }

  func baseline() -> ObservedBaseline {
    .count(trapping { () throws(StorageError) in try current().keys.count })
  }

  func stopTracking() {
    guard isTracked else { return }
    isTracked = false
    rowsStep = core.step
    elements = []
    steps = []
  }

  func forgetSteps() {
    let oldest = observations.map(\.seen).min() ?? .max
    steps.removeAll { $0.number <= oldest }
  }

  func logStep(_ changes: ChangeSet, _ former: FormerState) -> Bool {
    guard isTracked, !isOwnerGone, let old = rows else { return false }
    let script = trapping { () throws(StorageError) in try step(from: old, changes) }
    guard let script, !script.isIdentity else { return false }
    steps.append((core.step, script))
    return true
  }

  /// What the step did to the rows; nil if it cannot have done anything.
  private func step(
    from old: DerivedRows, _ changes: ChangeSet
  ) throws(StorageError) -> SequenceScript? {
    guard let owner else { return try stepOfClass(from: old, changes) }
    let own = changes[owner.classID]
    let isDeleted = own.map { $0.isCleared || $0.deleted.contains(owner.key) } ?? false
    let reader = core.shown()
    guard !isDeleted, let moves = try moveElements(changes, reader) else {
      isOwnerGone = true
      elements = []
      rows = DerivedRows()
      return .replacingAll(oldCount: old.keys.count, newCount: 0)
    }
    let modified = try modifiedElements(changes, reader)
    if query.staysInRow, moves.script?.isIdentity == true, modified.isEmpty { return nil }
    let next = try query.advance(
      old, along: changes.schemaChanged ? nil : moves.script, to: elements, touched: modified,
      StoreRows(reader))
    rows = next
    if changes.schemaChanged {
      return .replacingAll(oldCount: old.keys.count, newCount: next.keys.count)
    }
    let changed = changes[query.classID]
    return next.script(from: old, along: moves.script, modified: modified) {
      changed?.isReplaced($0) == true
    }
  }

  /// The same where the rows are those of a class. They are found anew only if some of them may
  /// have come, gone or moved.
  private func stepOfClass(
    from old: DerivedRows, _ changes: ChangeSet
  ) throws(StorageError) -> SequenceScript? {
    let now = StoreRows(core.shown())
    if changes.schemaChanged {
      let next = try query.evaluateStages(now)
      rows = next
      return .replacingAll(oldCount: old.keys.count, newCount: next.keys.count)
    }
    let modified = try query.modifiedRows(changes, now) { KeySet(old.keys.sorted()) }
    if !query.mayRearrange(changes) { return old.script(modified: modified) }
    let next = try query.evaluateStages(now)
    rows = next
    let changed = changes[query.classID]
    return next.script(from: old, along: nil, modified: modified) {
      changed?.isReplaced($0) == true
    }
  }

  /// Brings the elements up to the step. The result is nil if the owner is gone, its script if
  /// nobody has written down how the elements moved.
  private func moveElements(
    _ changes: ChangeSet, _ reader: SnapshotReader
  ) throws(StorageError) -> (script: SequenceScript?, Void)? {
    let own = owner.flatMap { changes[$0.classID] }
    var script: SequenceScript?
    let mayHaveMoved: Bool
    switch origin {
    case .objects: mayHaveMoved = false
    case .sequence(let place):
      script = own?.script(
        of: SequenceName(column: place.column, key: place.key, nested: place.nested))
      mayHaveMoved = script != nil
    case .backlinks(let target, let id, let column):
      mayHaveMoved = own?.backTouchedKeys(from: id, column).contains(target.key) == true
    }
    guard mayHaveMoved || changes.schemaChanged else {
      return (.identity(count: elements.count), ())
    }
    guard let now = try elements(reader) else { return nil }
    let before = elements.count
    elements = now
    let fits = script?.oldCount == before && script?.newCount == now.count
    return (fits ? script : nil, ())
  }

  /// The elements whose data changed, be it behind one link.
  private func modifiedElements(
    _ changes: ChangeSet, _ reader: SnapshotReader
  ) throws(StorageError) -> KeySet {
    guard !elements.isEmpty, query.isConcerned(by: changes) else { return KeySet() }
    let all = elements
    let modified = try query.modifiedRows(changes, StoreRows(reader)) {
      KeySet(Set(all.compactMap { $0 }).sorted())
    }
    if modified.isEmpty { return modified }
    let isHit = all.contains { $0.map(modified.contains) == true }
    return isHit ? modified : KeySet()
  }

  /// The difference between the rows after step `seen` and those after step `last`.
  ///
  /// - Parameter baseline: how many rows the observer saw instead of those after step `seen`.
  func difference(
    after seen: Int, upTo last: Int, from baseline: ObservedBaseline?
  ) -> ObservedChanges {
    steps.difference(after: seen, upTo: last, from: baseline)
  }
}
