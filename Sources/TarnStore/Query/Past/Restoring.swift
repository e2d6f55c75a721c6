/// Undoes changes in an open write: modified properties get their values at a past version, added
/// objects are deleted, and deleted ones are added again under their keys.
package struct Restoring {
  private let session: WriteSession
  /// The state before the changes.
  private let past: PastRows
  /// The changes to undo.
  package let changes: ChangeSet
  package var schema: SchemaView { session.schema }

  /// The conflicts of a single commit. If it is empty, `run` undoes only that commit.
  package private(set) var conflicts: [UndoConflict] = []

  /// Prepares to undo the commit that made a version.
  ///
  /// - Throws: `.invalidInput` if the version does not exist any more, or its old values or those
  ///   of a later version were not kept.
  package init(undoing version: Version, in session: WriteSession) throws(StorageError) {
    let base = session.base
    if version == .zero || version > base.version { throw Self.missing(version) }
    let former = Version(version.rawValue - 1)
    past = try Self.past(former, session)
    self.session = session
    changes = try ChangeLog.images(of: version, in: base.transaction).changes
    for entry in changes.classes { try past.check(entry.id) }
    let later = try ChangeLog.changes(
      after: version, upTo: base.version, in: base.transaction)
    conflicts = UndoConflict.conflicts(of: changes, with: later)
    try findTakenKeys()
  }

  /// Prepares to return to a version.
  ///
  /// - Throws: the same errors.
  package init(revertingTo version: Version, in session: WriteSession) throws(StorageError) {
    if version > session.base.version { throw Self.missing(version) }
    past = try Self.past(version, session)
    self.session = session
    changes = past.changes
    for entry in changes.classes { try past.check(entry.id) }
  }

  private static func missing(_ version: Version) -> StorageError {
    refusal("There is no version \(version.rawValue).")
  }

  private static func refusal(_ detail: String) -> StorageError {
    StorageError(.invalidInput, operation: "undo", path: "", detail: detail)
  }

  private static func past(
    _ version: Version, _ session: WriteSession
  ) throws(StorageError) -> PastRows {
    require(session.isEmpty, "an undo is a write of its own")
    let base = session.base
    let oldest = try ChangeLog.oldestVersion(in: base.transaction)
    guard version == base.version || oldest.map({ $0.rawValue <= version.rawValue + 1 }) == true
    else {
      throw refusal(
        "The change records after version \(version.rawValue) are no longer in the file.")
    }
    let past = try PastRows(at: version, from: SnapshotReader(base))
    if past.changes.schemaChanged { try past.check(ClassID(0)) }
    return past
  }

  /// Finds objects that have the primary keys of deleted ones.
  private mutating func findTakenKeys() throws(StorageError) {
    for entry in changes.classes {
      guard let primary = schema.primaryKey(of: entry.id), !primary.isObjectKey else { continue }
      for key in reborn(entry) {
        guard let value = try past.value(of: primary.column, at: key, in: entry.id),
          let holder = try session.find(primaryKey: value, in: entry.id), holder != key,
          !added(entry).contains(holder)
        else { continue }
        let object = ObjectRef(classID: entry.id, key: key)
        conflicts.append(UndoConflict(object: object, cause: .keyTaken(by: holder)))
      }
    }
  }

  /// The objects that the changes deleted for good.
  private func reborn(_ entry: ClassChanges) -> KeySet {
    gone(entry).subtracting(entry.inserted)
  }

  /// The objects that the changes added under new keys.
  private func added(_ entry: ClassChanges) -> KeySet { entry.inserted.subtracting(gone(entry)) }

  private func gone(_ entry: ClassChanges) -> KeySet {
    (past.images[entry.id]?.deleted ?? KeySet()).intersection(
      entry.isCleared ? KeySet(ObjectKey.smallest...ObjectKey.largest) : entry.deleted)
  }

  /// An object's primary key, now or before; nil without one.
  package func primaryKey(of object: ObjectRef) throws(StorageError) -> Value? {
    guard let primary = schema.primaryKey(of: object.classID) else { return nil }
    if let value = try session.value(of: primary.column, at: object.key, in: object.classID) {
      return value
    }
    return try past.value(of: primary.column, at: object.key, in: object.classID)
  }

  // MARK: - Running

  /// Undoes the changes, whatever the conflicts.
  package func run() throws(StorageError) {
    try session.changing { () throws(StorageError) in
      for entry in changes.classes { try detach(entry) }
      for entry in changes.classes {
        for key in reborn(entry) { try create(key, entry.id) }
      }
      for entry in changes.classes { try restore(entry) }
      for entry in changes.classes {
        try session.delete(Array(added(entry)), in: entry.id)
      }
    }
  }

  /// Removes owned objects from owners that lose them, before others get them, so that no object
  /// ever owns itself.
  private func detach(_ entry: ClassChanges) throws(StorageError) {
    for column in schema.owning(in: entry.id) {
      for key in entry.inserted.union(entry.touchedKeys(in: column.id)) {
        let place = SequencePlace(classID: entry.id, key: key, column: column.id)
        guard try session.location(of: key, in: entry.id) != nil else { continue }
        if column.collection != .none {
          if try session.sequence(at: place)?.count ?? 0 > 0 { try session.removeAll(in: place) }
        } else if try session.value(of: column.id, at: key, in: entry.id) != .null {
          try session.set(column.id, at: key, in: entry.id, to: .null)
        }
      }
    }
  }

  /// Adds a deleted object with its values, except links and values stored elsewhere.
  private func create(_ key: ObjectKey, _ id: ClassID) throws(StorageError) {
    guard try session.location(of: key, in: id) == nil else { return }
    let described = schema[id]
    if let primary = schema.primaryKey(of: id), !primary.isObjectKey,
      let value = try past.value(of: primary.column, at: key, in: id),
      let holder = try session.find(primaryKey: value, in: id)
    {
      try session.delete(holder, in: id)
    }
    let row = try session.insert(key, in: id)
    for column in described.columns where !column.isRemoved && column.collection == .none {
      if described.keyIsPrimary, column.id == described.primaryKey { continue }
      if column.type != .link, column.type != .any,
        let value = try past.value(of: column.id, at: key, in: id), value != .null
      {
        row.cluster.set(column.id, row.slot, value)
      }
      guard described.hasIndex(column), let value = try row.cluster.value(column, row.slot) else {
        continue
      }
      try session.insertIndexEntry(value, of: column.id, at: key, in: id)
    }
  }

  private func restore(_ entry: ClassChanges) throws(StorageError) {
    let columns = schema[entry.id].columns.filter {
      !$0.isRemoved && $0.id != schema[entry.id].primaryKey
    }
    for key in gone(entry) {
      try create(key, entry.id)
      for column in columns { try restore(column, key, entry.id) }
    }
    for touched in entry.touched {
      for key in touched.keys {
        guard try session.location(of: key, in: entry.id) != nil else {
          // Deleted since then: it is added again if that was requested.
          try create(key, entry.id)
          for column in columns { try restore(column, key, entry.id) }
          continue
        }
        try restore(schema[entry.id][touched.column], key, entry.id)
      }
    }
  }

  private func restore(
    _ column: ColumnSchema, _ key: ObjectKey, _ id: ClassID
  ) throws(StorageError) {
    guard !column.isRemoved, try past.contains(ObjectRef(classID: id, key: key)) else { return }
    let place = SequencePlace(classID: id, key: key, column: column.id)
    if column.collection != .none {
      let (values, keys) = try past.copies(of: place)
      let (kept, names) = try living(values, keys, column)
      if try session.holds(kept, keys: names, in: place) { return }
      try session.assign(kept, keys: names, in: place)
      return
    }
    guard let old = try past.copy(of: place) else { return }
    let copy = try living(old, column)
    if try session.holds(copy, at: place) { return }
    if let now = try session.value(of: column.id, at: key, in: id),
      try session.assign(copy, over: now, at: place) != nil
    {
      return
    }
    try session.set(column.id, at: key, in: id, to: session.make(copy, in: place))
  }

  // MARK: - Links

  /// The elements without links to objects that no longer exist, as when these were deleted.
  private func living(
    _ values: [CopiedValue], _ keys: [String], _ column: ColumnSchema
  ) throws(StorageError) -> (values: [CopiedValue], keys: [String]) {
    guard column.type == .link || column.type == .any else { return (values, keys) }
    let goes = column.collection == .set || column.collection == .list && column.type == .link
    var kept: [CopiedValue] = []
    for value in values {
      let alive = try living(value, column)
      if goes, alive != value { continue }
      kept.append(alive)
    }
    return (kept, keys)
  }

  private func living(
    _ copy: CopiedValue, _ column: ColumnSchema
  ) throws(StorageError) -> CopiedValue {
    switch copy {
    case .value(let value):
      guard let target = column.linkTarget(of: value),
        try session.location(of: target.key, in: target.classID) == nil
      else { return copy }
      return .value(.null)
    case .list(let items):
      var kept: [CopiedValue] = []
      for item in items { kept.append(try living(item, column)) }
      return .list(kept)
    case .map(let keys, let items):
      var kept: [CopiedValue] = []
      for item in items { kept.append(try living(item, column)) }
      return .map(keys: keys, values: kept)
    }
  }
}

/// A conflict that prevents undoing a commit: something that it changed was changed again since.
package struct UndoConflict: Hashable, Sendable {
  package enum Cause: Hashable, Sendable {
    /// The property was set again.
    case modified(ColumnID)
    /// The object was deleted.
    case deleted
    /// Another object replaced the object.
    case replaced
    /// A link to the object, which the commit added, was made or removed.
    case linked
    /// This object has the primary key of a deleted one.
    case keyTaken(by: ObjectKey)
  }

  package let object: ObjectRef
  package let cause: Cause
}

extension UndoConflict {
  /// Those of these changes that later ones changed again.
  static func conflicts(of changes: ChangeSet, with others: ChangeSet) -> [UndoConflict] {
    var found: [UndoConflict] = []
    for entry in changes.classes {
      guard let later = others[entry.id] else { continue }
      func note(_ keys: KeySet, _ cause: Cause) {
        for key in keys {
          found.append(
            UndoConflict(object: ObjectRef(classID: entry.id, key: key), cause: cause))
        }
      }
      // Objects that it added, and that still exist.
      let gone = later.isCleared ? entry.inserted : entry.inserted.intersection(later.deleted)
      note(gone.intersection(later.inserted), .replaced)
      for touched in later.touched {
        note(entry.inserted.intersection(touched.keys), .modified(touched.column))
      }
      let linked = later.backTouched.reduce(KeySet()) { $0.union($1.keys) }
      note(entry.inserted.intersection(linked), .linked)
      // Objects that it deleted.
      note(entry.deleted.subtracting(entry.inserted).intersection(later.inserted), .replaced)
      // Objects that it modified.
      for touched in entry.touched {
        let replaced = touched.keys.intersection(later.inserted)
        note(replaced, .replaced)
        let deleted = later.isCleared ? touched.keys : touched.keys.intersection(later.deleted)
        note(deleted.subtracting(replaced), .deleted)
        let again = touched.keys.intersection(later.touchedKeys(in: touched.column))
        note(again, .modified(touched.column))
      }
    }
    var known: Set<UndoConflict> = []
    return found.filter { known.insert($0).inserted }
  }
}
