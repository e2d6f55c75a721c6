import TarnStore

/// The objects that link to one object through one property, observed.
///
/// They are in the order of their keys, each as often as it links, so what a step did follows from
/// the keys before and after it.
final class LiveBacklinks: OwnedSource {
  let target: LinkTarget
  var owner: LinkTarget? { target }
  var observations: [CollectionObservation] = []
  private(set) var isGone = false
  private unowned let core: RealmCore
  private let column: ColumnID
  /// The query for all objects of the origins' class, which knows what changes them.
  private let origins: CompiledQuery
  private var keys: [ObjectKey] = []
  private var steps: [(number: Int, script: SequenceScript)] = []
  private var isTracked = false

  init(_ core: RealmCore, to owner: LinkTarget, from origin: ClassID, _ column: ColumnID) {
    self.core = core
    target = owner
    self.column = column
    do {
      origins = try CompiledQuery(.constant(true), [], on: origin, core.shown().schema)
    } catch {
      trap("a query for everything: \(error): bug in this package")
    }
  }

  var isAwaited: Bool { false }
  var elementClasses: Set<ClassID> { origins.concerningClasses }
  var stepNumbers: [Int] { steps.map(\.number) }

  func prepareForObserving() {
    if isTracked { return }
    isTracked = true
    trapping { () throws(StorageError) in
      isGone = try core.shown().row(target.key, in: target.classID) == nil
      keys = try current()
    }
  }

  private func current() throws(StorageError) -> [ObjectKey] {
    try core.shown().origins(of: target, in: origins.classID, through: column)
  }

  func baseline() -> ObservedBaseline {
    guard let session = core.session else { return .count(keys.count) }
    return trapping { () throws(StorageError) in
      .count(try session.origins(of: target, in: origins.classID, through: column).count)
    }
  }

  func stopTracking() {
    isTracked = false
    steps = []
    keys = []
  }

  func forgetSteps() {
    let oldest = observations.map(\.seen).min() ?? .max
    steps.removeAll { $0.number <= oldest }
  }

  func logStep(_ changes: ChangeSet, _ former: FormerState) -> Bool {
    guard isTracked, !isGone else { return false }
    let script: SequenceScript = trapping { () throws(StorageError) in
      try self.script(changes)
    }
    if script.isIdentity { return false }
    steps.append((core.step, script))
    return true
  }

  private func script(_ changes: ChangeSet) throws(StorageError) -> SequenceScript {
    if let own = changes[target.classID], own.isCleared || own.deleted.contains(target.key) {
      isGone = true
      return .replacingAll(oldCount: keys.count, newCount: 0)
    }
    let moves = try moves(changes)
    return moves.modifying(try modifiedPositions(changes))
  }

  /// How the origins moved. Whatever begins or ceases to link is noted for the object.
  private func moves(_ changes: ChangeSet) throws(StorageError) -> SequenceScript {
    let own = changes[target.classID]
    guard
      own?.backTouchedKeys(from: origins.classID, column).contains(target.key) == true
        || changes.schemaChanged
    else { return .identity(count: keys.count) }
    let old = keys
    keys = try current()
    let replaced = changes[origins.classID]
    var builder = SequenceScript.Builder(oldCount: old.count)
    var place = 0
    for key in keys {
      while place < old.count, old[place] < key { place += 1 }
      if place < old.count, old[place] == key, replaced?.isReplaced(key) != true {
        builder.append(old: place)
        place += 1
      } else {
        builder.appendFresh()
      }
    }
    return builder.finish()
  }

  private func modifiedPositions(_ changes: ChangeSet) throws(StorageError) -> KeySet {
    guard !keys.isEmpty, origins.isConcerned(by: changes) else { return KeySet() }
    let all = keys
    let modified = try origins.modifiedRows(changes, StoreRows(core.shown())) {
      var seen: [ObjectKey] = []
      for key in all where key != seen.last { seen.append(key) }
      return KeySet(seen)
    }
    var positions: [ObjectKey] = []
    for key in modified {
      var place = keys.partitioningIndex { $0 >= key }
      while place < keys.count, keys[place] == key {
        positions.append(ObjectKey(Int64(place)))
        place += 1
      }
    }
    return KeySet(positions)
  }

  func difference(
    after seen: Int, upTo last: Int, from baseline: ObservedBaseline?
  ) -> ObservedChanges {
    let merged = steps.filter { $0.number > seen && $0.number <= last }
    guard var script = merged.first?.script else { return .indices(IndexChanges()) }
    for step in merged.dropFirst() { script = script.composing(step.script) }
    if case .count(let count)? = baseline {
      script = .replacingAll(oldCount: count, newCount: script.newCount)
    }
    return .indices(script.indexChanges())
  }
}
