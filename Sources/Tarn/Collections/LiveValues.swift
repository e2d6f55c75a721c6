import TarnStore

/// The elements of a list, set or map of values in an order of their own, on one instance. All
/// `Results` values and observers that ask for the same share it.
///
/// Rows are found by going through the whole collection. That happens when they are asked for and
/// the collection has changed since; for observers in each step that changes it. When the owner is
/// gone there are none.
final class LiveValues: OwnedSource {
  let place: SequencePlace
  let query: ValueQuery
  var observations: [CollectionObservation] = []
  /// Once observers have been told so, nothing comes any more.
  private(set) var isOwnerGone = false
  private unowned let core: RealmCore
  /// Of values of any type: all classes, for they may be objects of any.
  let elementClasses: Set<ClassID>

  /// The rows at step `rowsStep`; nil until somebody asks.
  private var rows: ValueRows?
  private var rowsStep = 0
  /// The rows inside the open write, at a position of its journal.
  private var working: (rows: ValueRows, serial: UInt64, position: ChangeRecorder.Position)?
  /// Somebody has been told of `rows`: from then on every step that concerns them is logged.
  private var isTracked = false
  /// While that is so, the number of elements.
  private var elementCount = 0
  private var steps: [(number: Int, script: SequenceScript)] = []
  /// The rows of a frozen instance. Nothing else of one of its results changes.
  private let frozenRows: WorkedOutOnce<ValueRows>?

  init(_ core: RealmCore, _ query: ValueQuery, at place: SequencePlace) {
    self.core = core
    self.query = query
    self.place = place
    frozenRows = core.isFrozen ? WorkedOutOnce() : nil
    let schema = core.shown().schema
    let isAny = schema[place.classID][place.column].type == .any
    elementClasses = isAny ? Set(schema.schema.classes.map(\.id)) : []
  }

  var isAwaited: Bool { false }
  /// Without its owner a result is empty, and who asks is told that.
  var isGone: Bool { false }
  var owner: LinkTarget? { LinkTarget(classID: place.classID, key: place.key) }
  var stepNumbers: [Int] { steps.map(\.number) }
  private var name: SequenceName {
    SequenceName(column: place.column, key: place.key, nested: place.nested)
  }

  // MARK: - Reading

  /// The rows now, an open write's changes included.
  func current() throws(StorageError) -> ValueRows {
    if let frozenRows {
      return try frozenRows.value { () throws(StorageError) in
        try self.evaluate(core.shown().sequence(at: place))
      }
    }
    guard let session = core.session, !session.isEmpty else {
      working = nil
      return try published()
    }
    let serial = core.writeSerial
    let position = session.recorder.position
    if let working, working.serial == serial, working.position == position { return working.rows }
    let made = try evaluate(session.sequence(at: place))
    working = (made, serial, position)
    return made
  }

  /// The rows at the shown version, without an open write.
  private func published() throws(StorageError) -> ValueRows {
    let reader = core.shown()
    if let rows, isTracked || rowsStep == core.step { return rows }
    let next: ValueRows
    if let rows, let missed = core.recentSteps.changes(after: rowsStep, upTo: core.step),
      !isConcerned(by: missed)
    {
      next = rows
    } else {
      next = try evaluate(reader.sequence(at: place))
    }
    rows = next
    rowsStep = core.step
    return next
  }

  /// False if the rows are after `all` what they were before.
  func isConcerned(by all: ChangeSet) -> Bool {
    if all.schemaChanged { return true }
    guard let changes = all[place.classID] else { return false }
    return isOwnerDeleted(by: changes) || changes.inserted.contains(place.key)
      || changes.touchedKeys(in: place.column).contains(place.key)
      || changes.script(of: name) != nil
  }

  private func isOwnerDeleted(by changes: ClassChanges) -> Bool {
    changes.isCleared || changes.deleted.contains(place.key)
  }

  /// The rows of the collection; none if it is gone.
  private func evaluate(
    _ sequence: (any SequenceReading)?
  ) throws(StorageError) -> ValueRows {
    made(of: try elements(sequence) ?? [])
  }

  private func made(of elements: [Value]) -> ValueRows {
    ValueRows(elements, ascending: query.ascending, isDistinct: query.isDistinct)
  }

  private func elements(
    _ sequence: (any SequenceReading)?
  ) throws(StorageError) -> [Value]? {
    guard let sequence else { return nil }
    var elements: [Value] = []
    elements.reserveCapacity(sequence.count)
    try sequence.forEach(in: 0..<sequence.count) { value throws(StorageError) in
      elements.append(value)
      return true
    }
    return elements
  }

  // MARK: - Observing

  func prepareForObserving() {
    if isTracked { return }
    trapping { () throws(StorageError) in
      let found = try elements(try core.shown().sequence(at: place))
      isOwnerGone = found == nil
      elementCount = found?.count ?? 0
      rows = made(of: found ?? [])
    }
    rowsStep = core.step
    isTracked = true
  }

  func baseline() -> ObservedBaseline {
    .count(trapping { () throws(StorageError) in try current().values.count })
  }

  func stopTracking() {
    guard isTracked else { return }
    isTracked = false
    rowsStep = core.step
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
    from old: ValueRows, _ changes: ChangeSet
  ) throws(StorageError) -> SequenceScript? {
    let own = changes[place.classID]
    let isDeleted = own.map(isOwnerDeleted) ?? false
    guard !isDeleted, let sequence = try core.shown().sequence(at: place) else {
      isOwnerGone = true
      rows = ValueRows()
      return .replacingAll(oldCount: old.values.count, newCount: 0)
    }
    let moves = own?.script(of: name)
    if moves == nil, !changes.schemaChanged {
      let touched = touchedPlaces(changes, old)
      if touched.isEmpty { return nil }
      return old.script(from: old, along: .identity(count: elementCount), touched: touched)
    }
    let now = try elements(sequence) ?? []
    let before = elementCount
    elementCount = now.count
    let next = made(of: now)
    rows = next
    guard let moves, !changes.schemaChanged, moves.oldCount == before, moves.newCount == now.count
    else { return .replacingAll(oldCount: old.values.count, newCount: next.values.count) }
    return next.script(from: old, along: moves, touched: touchedPlaces(changes, next))
  }

  /// What `changes` made of older rows of this query that nobody was told of.
  func difference(_ old: ValueRows, _ new: ValueRows, over changes: ChangeSet) -> IndexChanges {
    new.script(from: old, along: nil, touched: touchedPlaces(changes, new)).indexChanges()
  }

  /// Where the elements are that are objects with a touched property, or others under their keys.
  private func touchedPlaces(_ changes: ChangeSet, _ rows: ValueRows) -> KeySet {
    if elementClasses.isEmpty { return KeySet() }
    var changed: [ClassID: (changes: ClassChanges, touched: KeySet)] = [:]
    for own in changes.classes { changed[own.id] = (own, own.touchedKeys(in: .all)) }
    if changed.isEmpty { return KeySet() }
    var places: [ObjectKey] = []
    for (value, place) in zip(rows.values, rows.places) {
      guard case .object(let id, let key) = value, let own = changed[id] else { continue }
      if own.touched.contains(key) || own.changes.isReplaced(key) {
        places.append(ObjectKey(Int64(place)))
      }
    }
    return KeySet(places.sorted())
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

extension [(number: Int, script: SequenceScript)] {
  /// What those steps did to rows that are told by position.
  ///
  /// - Parameter baseline: how many rows the observer saw instead of those after step `seen`.
  func difference(
    after seen: Int, upTo last: Int, from baseline: ObservedBaseline?
  ) -> ObservedChanges {
    let merged = filter { $0.number > seen && $0.number <= last }
    guard var script = merged.first?.script else { return .indices(IndexChanges()) }
    for step in merged.dropFirst() { script = script.composing(step.script) }
    if case .count(let count)? = baseline {
      script = .replacingAll(oldCount: count, newCount: script.newCount)
    }
    return .indices(script.indexChanges())
  }
}
