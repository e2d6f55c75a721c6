import Foundation
import TarnStore

/// The observers of properties of an instance's rows.
///
/// Confined to the instance's scheduler, as the instance is. Observations that were ended elsewhere
/// are skipped until they are removed.
final class PropertyTable {
  private var rows: [ClassID: [ObjectKey: [PropertyRegistration]]] = [:]
  /// The registrations for every change of a class.
  private var classes: [ClassID: [PropertyRegistration]] = [:]
  private var observations: [ObjectIdentifier: PropertyObservation] = [:]
  /// Observed objects have been deleted.
  private var mayHaveGone = false
  /// Where no turn can be scheduled, ended observations stay until they are many.
  private var cleanUpAt = 64

  var isEmpty: Bool { observations.isEmpty }

  // MARK: - Coming and going

  func add(_ observation: PropertyObservation) {
    if observations.count >= cleanUpAt { removeEnded() }
    observations[ObjectIdentifier(observation.state)] = observation
    observation.hook()
  }

  /// Hooks an observation to a row.
  func hook(_ hook: PropertyRegistration, to row: ObjectRef) {
    hook.observation.hook(to: RowHooks(self, row), hook)
  }

  /// Hooks an observation to everything that happens to objects of a class.
  func hook(_ hook: PropertyRegistration, to id: ClassID) {
    hook.observation.hook(to: ClassHooks(self, id), hook)
  }

  fileprivate func add(_ hook: PropertyRegistration, _ id: ClassID) {
    classes[id, default: []].append(hook)
  }

  fileprivate func remove(_ observation: PropertyObservation, _ id: ClassID) {
    classes[id]?.removeAll { $0.observation === observation }
    if classes[id]?.isEmpty == true { classes[id] = nil }
  }

  fileprivate func add(_ hook: PropertyRegistration, _ row: ObjectRef) {
    rows[row.classID, default: [:]][row.key, default: []].append(hook)
  }

  fileprivate func remove(_ observation: PropertyObservation, _ row: ObjectRef) {
    guard var there = rows[row.classID]?[row.key] else { return }
    there.removeAll { $0.observation === observation }
    rows[row.classID]?[row.key] = there.isEmpty ? nil : there
    if rows[row.classID]?.isEmpty == true { rows[row.classID] = nil }
  }

  func remove(_ state: ObservationState) {
    observations.removeValue(forKey: ObjectIdentifier(state))?.unhook()
  }

  func contains(_ state: ObjectIdentifier) -> Bool { observations[state] != nil }

  /// Ends the observations of objects that the write just committed has deleted.
  func endGone() {
    guard mayHaveGone else { return }
    for observation in observations.values where observation.isGone { observation.state.end() }
    removeEnded()
  }

  /// Removes observations that were ended elsewhere, or with their objects.
  func removeEnded() {
    for (id, observation) in observations where !observation.state.isActive {
      observation.unhook()
      observations[id] = nil
    }
    mayHaveGone = false
    cleanUpAt = max(64, 2 * observations.count)
  }

  // MARK: - Telling

  func watches(_ row: ObjectRef) -> Bool {
    rows[row.classID]?[row.key] != nil || watches(row.classID)
  }

  func watches(_ id: ClassID) -> Bool { classes[id] != nil }

  /// True if the property is observed, so that its change must be examined further.
  func watches(_ row: ObjectRef, _ column: ColumnID) -> Bool {
    watches(row.classID)
      || rows[row.classID]?[row.key]?.contains { $0.column == column } ?? false
  }

  /// Notifies the observations concerned before a change.
  ///
  /// - Parameter ids: classes with changes other than the effects.
  func begin(_ effects: [PropertyEffect], in ids: some Sequence<ClassID> = [])
    -> PropertyNotification
  {
    var concerned: [(PropertyRegistration, PropertyEffect.Kind)] = []
    for effect in effects {
      if effect.kind.isOfObject { mayHaveGone = true }
      for hook in rows[effect.row.classID]?[effect.row.key] ?? []
      where hook.concerns(effect.column, effect.kind) {
        concerned.append((hook, effect.kind))
      }
    }
    if !classes.isEmpty {
      for id in Set(effects.map(\.row.classID)).union(ids) {
        concerned += (classes[id] ?? []).map { ($0, .setting) }
      }
    }
    return PropertyNotification(concerned)
  }

  /// Notifies all observations that their objects are about to be invalidated, which ends them.
  func beginEnd() -> PropertyNotification {
    begin(
      rows(of: Array(rows.keys)).map { PropertyEffect($0, .leaving(forGood: true)) },
      in: classes.keys)
  }

  func endAll() {
    endStates()
    removeEnded()
  }

  /// Ends all observations. The table must not be used afterwards.
  func endStates() { for observation in observations.values { observation.state.end() } }

  // MARK: - What is observed

  /// The observed rows of these classes.
  func rows(of ids: [ClassID]) -> [ObjectRef] {
    ids.flatMap { id in (rows[id] ?? [:]).keys.map { ObjectRef(classID: id, key: $0) } }
  }

  /// The observed properties, each once.
  var properties: [(row: ObjectRef, column: ColumnID)] {
    rows.flatMap { id, byKey in
      byKey.flatMap { key, hooks in
        Set(hooks.compactMap(\.column)).map { (ObjectRef(classID: id, key: key), $0) }
      }
    }
  }

  /// The effects on observed properties when the instance moves.
  func effects(of changes: ChangeSet) -> [PropertyEffect] {
    if changes.schemaChanged { return properties.map { PropertyEffect($0.row, $0.column) } }
    var effects: [PropertyEffect] = []
    for change in changes.classes {
      for (key, hooks) in rows[change.id]?.concerned(by: change) ?? [] {
        let row = ObjectRef(classID: change.id, key: key)
        if change.isCleared || change.deleted.contains(key) {
          effects.append(PropertyEffect(row, .leaving(forGood: true)))
          continue
        }
        for column in Set(hooks.compactMap(\.column))
        where change.touchedKeys(in: column).contains(key) {
          let script = change.script(of: SequenceName(column: column, key: key))
          effects.append(PropertyEffect(row, column, script?.effect ?? .setting))
        }
      }
    }
    return effects
  }

  /// The effects of cancelling a write on observed properties.
  ///
  /// - Parameter script: the edits that led to the collection's present content.
  func effects(
    ofCancelling changes: ChangeSet, script: (ObjectRef, ColumnID) -> EditScript?
  ) -> [PropertyEffect] {
    var effects: [PropertyEffect] = []
    for change in changes.classes {
      for (key, hooks) in rows[change.id] ?? [:] {
        let row = ObjectRef(classID: change.id, key: key)
        let isNew = change.inserted.contains(key)
        if isNew { effects.append(PropertyEffect(row, .leaving(forGood: true))) }
        if change.isCleared || change.deleted.contains(key) {
          effects.append(PropertyEffect(row, .returning))
        }
        if isNew { continue }
        for column in Set(hooks.compactMap(\.column))
        where change.touchedKeys(in: column).contains(key) {
          let kind = script(row, column)?.effectOfUndoing ?? .setting
          effects.append(PropertyEffect(row, column, kind))
        }
      }
    }
    return effects
  }
}

/// The registrations for one class.
private final class ClassHooks: PropertyHooks {
  private unowned let table: PropertyTable
  private let id: ClassID

  init(_ table: PropertyTable, _ id: ClassID) {
    self.table = table
    self.id = id
  }

  func add(_ hook: PropertyRegistration) { table.add(hook, id) }
  func remove(_ observation: PropertyObservation) { table.remove(observation, id) }
}

/// The registrations for one row.
private final class RowHooks: PropertyHooks {
  private unowned let table: PropertyTable
  private let row: ObjectRef

  init(_ table: PropertyTable, _ row: ObjectRef) {
    self.table = table
    self.row = row
  }

  func add(_ hook: PropertyRegistration) { table.add(hook, row) }
  func remove(_ observation: PropertyObservation) { table.remove(observation, row) }
}

extension EditScript {
  /// The script as a change of a list, with positions if all edits are of one kind.
  fileprivate var effect: PropertyEffect.Kind {
    let changes = indexChanges()
    switch (changes.deletions, changes.insertions, changes.modifications) {
    case ([], let insertions, []) where !insertions.isEmpty: return .insertion(IndexSet(insertions))
    case (let deletions, [], []) where !deletions.isEmpty: return .removal(IndexSet(deletions))
    case ([], [], let set) where !set.isEmpty: return .replacement(IndexSet(set))
    default: return .setting
    }
  }

  /// The same for undoing the script.
  fileprivate var effectOfUndoing: PropertyEffect.Kind {
    switch effect {
    case .insertion(let indexes): .removal(indexes)
    case .removal(let indexes): .insertion(indexes)
    case let other: other
    }
  }
}
