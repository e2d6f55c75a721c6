import TarnStore

/// A list, set or map that is observed. All its observers share this.
///
/// What a step means is read off when the step is made, while the snapshots of both its ends are
/// held: positions from the scripts in the change set, values of sets and keys of maps from the two
/// states. Nothing of a snapshot is kept beyond that.
final class LiveSequence: OwnedSource {
  /// One move of the shown version as it concerns this sequence.
  struct Step {
    var number: Int
    /// How positions moved; elements are set, too, where the objects that they are changed.
    var script: SequenceScript
    /// Sets: what went, at old positions, and what came, at new ones; ascending.
    var removed: [Placed] = []
    var added: [Placed] = []
    /// Maps.
    var keys = KeyChanges()
  }

  struct Placed {
    var position: Int
    var value: Value
  }

  let place: SequencePlace
  let kind: CollectionKind
  var observations: [CollectionObservation] = []
  private(set) var isGone = false
  private unowned let core: RealmCore
  /// Of objects: the query for all of their class, which knows what changes them.
  private let elements: CompiledQuery?
  /// Of values of any type: all classes, for they may be objects of any.
  private let classes: Set<ClassID>
  private var finder: ElementFinder
  private var steps: [Step] = []
  private var isTracked = false

  init(_ core: RealmCore, _ place: SequencePlace, _ kind: CollectionKind) {
    self.core = core
    self.place = place
    self.kind = kind
    let schema = core.shown().schema
    let column = schema[place.classID][place.column]
    classes = column.type == .any ? Set(schema.schema.classes.map(\.id)) : []
    finder = ElementFinder(target: column.target)
    elements = column.target.map { target in
      do {
        return try CompiledQuery(.constant(true), [], on: target, schema)
      } catch {
        trap("a query for everything: \(error): bug in this package")
      }
    }
  }

  var isAwaited: Bool { false }
  var owner: LinkTarget? { LinkTarget(classID: place.classID, key: place.key) }
  var elementClasses: Set<ClassID> { elements?.concerningClasses ?? classes }
  var stepNumbers: [Int] { steps.map(\.number) }

  func prepareForObserving() {
    isTracked = true
    if trapping({ () throws(StorageError) in try core.shown().sequence(at: place) }) == nil {
      isGone = true
    }
  }

  func baseline() -> ObservedBaseline {
    guard let sequence = core.sequence(at: place)?.reading else { return .count(0) }
    guard kind == .map else { return .count(sequence.count) }
    return trapping { () throws(StorageError) in
      var keys: [String] = []
      for position in 0..<sequence.count { keys.append(try sequence.key(at: position)) }
      return .keys(keys)
    }
  }

  func stopTracking() {
    isTracked = false
    steps = []
    finder.forget()
  }

  func forgetSteps() {
    let oldest = observations.map(\.seen).min() ?? .max
    steps.removeAll { $0.number <= oldest }
  }

  // MARK: - Logging

  func logStep(_ changes: ChangeSet, _ former: FormerState) -> Bool {
    guard isTracked, !isGone else { return false }
    let made = trapping { () throws(StorageError) in try step(changes, former) }
    guard let made, !made.script.isIdentity else { return false }
    steps.append(made)
    return true
  }

  private func step(_ changes: ChangeSet, _ former: FormerState) throws(StorageError) -> Step? {
    let own = changes[place.classID]
    let isDeleted = own.map { $0.isCleared || $0.deleted.contains(place.key) } ?? false
    guard !isDeleted, let now = try core.shown().sequence(at: place) else {
      isGone = true
      return try lastStep(former)
    }
    let name = SequenceName(column: place.column, key: place.key, nested: place.nested)
    var script = own?.script(of: name)
    var old: StoredSequence?
    if script != nil || changes.schemaChanged {
      old = try former.sequence(at: place)
      script = try checked(script, from: old, to: now, changes)
      finder.forget()
    }
    let modified = try modifiedPositions(changes, now)
    if script == nil, modified.isEmpty { return nil }
    let all = (script ?? .identity(count: now.count)).modifying(modified)
    var step = Step(number: core.step, script: all)
    switch kind {
    case .none, .list: break
    case .set: try noteValues(&step, from: old, to: now)
    case .map: try noteKeys(&step, from: old, to: now)
    }
    return step
  }

  /// The script, if it leads from the one state to the other; else the one that replaces all.
  private func checked(
    _ script: SequenceScript?, from old: StoredSequence?, to now: StoredSequence,
    _ changes: ChangeSet
  ) throws(StorageError) -> SequenceScript {
    let before = old?.count ?? 0
    let isKnown = !changes.schemaChanged
    if var script, isKnown, script.oldCount == before, script.newCount == now.count {
      if kind == .set, let old { script = try keepingRepeats(script, old, now, changes) }
      return script
    }
    return .replacingAll(oldCount: before, newCount: now.count)
  }

  /// The object is gone: everything goes, if there was anything.
  private func lastStep(_ former: FormerState) throws(StorageError) -> Step? {
    guard let old = try former.sequence(at: place), old.count > 0 else { return nil }
    var step = Step(
      number: core.step, script: .replacingAll(oldCount: old.count, newCount: 0))
    switch kind {
    case .none, .list: break
    case .set: try noteValues(&step, from: old, to: nil)
    case .map: try noteKeys(&step, from: old, to: nil)
    }
    return step
  }

  /// Where the objects are whose data changed, be it behind one link. Links of objects in values of
  /// any type are not followed.
  private func modifiedPositions(
    _ changes: ChangeSet, _ now: StoredSequence
  ) throws(StorageError) -> KeySet {
    if !classes.isEmpty {
      let touched = changes.classes.map { ($0.id, $0.touchedKeys(in: .all)) }
      return try finder.positions(of: Dictionary(uniqueKeysWithValues: touched), in: now)
    }
    guard let elements, now.count > 0, elements.isConcerned(by: changes) else { return KeySet() }
    let keys = try elements.modifiedRows(changes, StoreRows(core.shown())) {
      () throws(StorageError) in try ElementFinder.keys(in: now)
    }
    return try finder.positions(of: [elements.classID: keys], in: now)
  }

  // MARK: - Values and keys

  /// A value that went and came within the step stayed, unless it is an object that was deleted:
  /// one that has its key now is another.
  private func keepingRepeats(
    _ script: SequenceScript, _ old: StoredSequence, _ now: StoredSequence, _ changes: ChangeSet
  ) throws(StorageError) -> SequenceScript {
    let moved = script.indexChanges()
    if moved.deletions.isEmpty || moved.insertions.isEmpty { return script }
    let removed = try Self.values(at: moved.deletions, in: old)
    let added = try Self.values(at: moved.insertions, in: now)
    let kept = Self.common(removed, added).filter { !isReplaced(removed[$0.0].value, by: changes) }
    return script.keeping(kept.map { (removed[$0].position, added[$1].position) })
  }

  private func isReplaced(_ value: Value, by changes: ChangeSet) -> Bool {
    switch value {
    case .link(let key): elements.flatMap { changes[$0.classID] }?.isReplaced(key) == true
    case .object(let id, let key): changes[id]?.isReplaced(key) == true
    default: false
    }
  }

  private func noteValues(
    _ step: inout Step, from old: StoredSequence?, to now: StoredSequence?
  ) throws(StorageError) {
    let changes = step.script.indexChanges()
    if let old { step.removed = try Self.values(at: changes.deletions, in: old) }
    if let now { step.added = try Self.values(at: changes.insertions, in: now) }
  }

  private func noteKeys(
    _ step: inout Step, from old: StoredSequence?, to now: StoredSequence?
  ) throws(StorageError) {
    let changes = step.script.indexChanges()
    step.keys = KeyChanges(
      deletions: try Self.keys(at: changes.deletions, in: old),
      insertions: try Self.keys(at: changes.insertions, in: now),
      modifications: try Self.keys(at: changes.modificationsNew, in: now))
  }

  private static func values(
    at positions: [Int], in sequence: StoredSequence
  ) throws(StorageError) -> [Placed] {
    var values: [Placed] = []
    values.reserveCapacity(positions.count)
    for position in positions {
      values.append(Placed(position: position, value: try sequence.value(at: position)))
    }
    return values
  }

  private static func keys(
    at positions: [Int], in sequence: StoredSequence?
  ) throws(StorageError) -> [String] {
    guard let sequence else { return [] }
    var keys: [String] = []
    for position in positions { keys.append(try sequence.key(at: position)) }
    return keys
  }

  /// The places in both of the values that are in both; both are in the order of a set.
  private static func common(_ a: [Placed], _ b: [Placed]) -> [(Int, Int)] {
    var pairs: [(Int, Int)] = []
    var (i, j) = (0, 0)
    while i < a.count, j < b.count {
      if ElementOrder.precedes(a[i].value, b[j].value) {
        i += 1
      } else if ElementOrder.precedes(b[j].value, a[i].value) {
        j += 1
      } else {
        pairs.append((i, j))
        i += 1
        j += 1
      }
    }
    return pairs
  }

  // MARK: - Telling

  func difference(
    after seen: Int, upTo last: Int, from baseline: ObservedBaseline?
  ) -> ObservedChanges {
    let merged = steps.filter { $0.number > seen && $0.number <= last }
    if case .keys(let keys)? = baseline {
      guard case .keys(let now) = self.baseline() else {
        return .keys(KeyChanges(from: keys, to: []))
      }
      return .keys(KeyChanges(from: keys, to: now))
    }
    if kind == .map {
      var changes = KeyChanges()
      for step in merged { changes.append(step.keys) }
      return .keys(changes)
    }
    guard var script = merged.first?.script else { return .indices(IndexChanges()) }
    for step in merged.dropFirst() { script = script.composing(step.script) }
    if case .count(let count)? = baseline {
      script = .replacingAll(oldCount: count, newCount: script.newCount)
    } else if kind == .set, merged.count > 1 {
      return .indices(Self.setDifference(script, merged))
    }
    return .indices(script.indexChanges())
  }

  /// Leaves out what went in one step and came back in a later one; an object that did may have
  /// changed meanwhile.
  private static func setDifference(_ script: SequenceScript, _ steps: [Step]) -> IndexChanges {
    var changes = script.indexChanges()
    if changes.deletions.isEmpty || changes.insertions.isEmpty { return changes }
    let removed = changes.deletions.map { Placed(position: $0, value: removedValue($0, steps)) }
    let added = changes.insertions.map { Placed(position: $0, value: addedValue($0, steps)) }
    for (old, new) in common(removed, added).reversed() {
      changes.deletions.remove(at: old)
      changes.insertions.remove(at: new)
      switch removed[old].value {
      case .link, .object: break
      default: continue
      }
      changes.modifications.append(removed[old].position)
      changes.modificationsNew.append(added[new].position)
    }
    changes.modifications.sort()
    changes.modificationsNew.sort()
    return changes
  }

  /// The element that was at a position before the steps and is not there after them.
  private static func removedValue(_ position: Int, _ steps: [Step]) -> Value {
    var position = position
    for step in steps {
      guard let next = step.script.newPosition(of: position) else {
        return step.removed.value(at: position)
      }
      position = next
    }
    trap("what went is there: bug in this package")
  }

  /// The element that is at a position after the steps and was not there before them.
  private static func addedValue(_ position: Int, _ steps: [Step]) -> Value {
    var position = position
    for step in steps.reversed() {
      guard let former = step.script.oldPosition(of: position) else {
        return step.added.value(at: position)
      }
      position = former
    }
    trap("what came was there: bug in this package")
  }
}

extension [LiveSequence.Placed] {
  fileprivate func value(at position: Int) -> Value {
    self[partitioningIndex { $0.position >= position }].value
  }
}
