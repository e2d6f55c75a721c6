import TarnStore

/// Notifies observers of properties of local changes.
///
/// They are called before and after each change, in the middle of the write. Calls before a change,
/// and calls for parts of a larger change, must not end the write.
extension Instance {
  /// Makes a change with these effects.
  ///
  /// - Parameter ids: classes with other changes than those.
  func telling<R, E: Error>(
    _ effects: [PropertyEffect], in ids: [ClassID] = [], _ table: PropertyTable,
    _ change: () throws(E) -> R
  ) throws(E) -> R {
    let telling = delivery.telling { table.begin(effects, in: ids) }
    let result = try change()
    if write.isInLargerChange { delivery.telling { telling.finish() } } else { telling.finish() }
    return result
  }

  /// Assigns a value in stored form; null for one that is not stored yet.
  func assigning<E: Error>(
    _ row: ObjectRef, _ column: ColumnID, _ value: Value, _ store: () throws(E) -> Void
  ) throws(E) {
    guard let properties else { return try store() }
    let effects = properties.effects(ofSetting: column, of: row, to: value, in: session)
    try telling(effects, properties, store)
  }

  // MARK: - Deleting

  /// Deletes objects of this instance.
  func deleting(_ objects: @autoclosure () -> [ObjectRef], _ delete: () -> Void) {
    guard let properties else { return delete() }
    telling(properties.effects(ofDeleting: objects(), in: session), properties, delete)
  }

  /// Deletes all objects of these classes.
  func clearing(_ ids: [ClassID], _ clear: () -> Void) {
    guard let properties, let session else { return clear() }
    let owned = trapping { () throws(StorageError) in try session.owned(byAllOf: ids) }
    let (cleared, gone) = (Set(ids), Set(owned))
    func goes(_ row: ObjectRef) -> Bool { cleared.contains(row.classID) || gone.contains(row) }
    var effects = (properties.rows(of: ids) + owned).map {
      PropertyEffect($0, .leaving(forGood: false))
    }
    for (row, column) in properties.properties where !goes(row) {
      let effect = properties.effect(on: row, column, in: session, ofLosing: goes)
      if let effect { effects.append(effect) }
    }
    telling(effects, in: ids, properties, clear)
  }

  /// Makes new objects of a class.
  func inserting<R, E: Error>(into id: ClassID, _ insert: () throws(E) -> R) throws(E) -> R {
    guard let properties, properties.watches(id) else { return try insert() }
    return try telling([], in: [id], properties, insert)
  }

  // MARK: - Adding and removing

  /// Adds an observation. Assignments that skipped the check for observers so far make it from now
  /// on.
  func add(_ observation: PropertyObservation) {
    let table = properties ?? PropertyTable()
    properties = table
    table.add(observation)
    if session != nil, tracking == nil { rowsMoved() }
  }

  /// Removes observations whose objects were permanently deleted. Call it when no write is open.
  func endProperties() {
    properties?.endGone()
    if properties?.isEmpty == true { properties = nil }
  }

  func endProperty(_ state: ObservationState) {
    properties?.remove(state)
    if properties?.isEmpty == true { properties = nil }
  }
}
