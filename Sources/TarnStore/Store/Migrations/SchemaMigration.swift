/// A migration: the schema and the data change together, in one write that is committed as a whole
/// or not at all.
///
/// It has two views of the data. `old` is the snapshot, in the schema of the file. `session` is the
/// write, whose rows have the columns of both: removed ones are hidden, new ones have defaults or
/// copied values. Rows keep their keys while the program's block runs, so that both views of an
/// object are found by one key. `finish` then gives the rows of classes with a new integer primary
/// key their new keys.
package final class SchemaMigration {
  package let plan: MigrationPlan
  package let old: SnapshotReader
  package let session: WriteSession
  package let oldVersion: UInt64
  let version: UInt64
  private let path: String
  /// The columns from which new ones got their values.
  private(set) var taken: [ClassID: [ColumnID: ColumnID]] = [:]
  /// Classes deleted with their data.
  private(set) var deleted: Set<ClassID> = []

  /// Performs the steps that do not need the program. Writes nothing to the file.
  ///
  /// - Throws: `.schemaMismatch` if a link's class is missing.
  package init(
    _ snapshot: Snapshot, to version: UInt64, _ wanted: [ClassDefinition], path: String,
    rowsMoved: @escaping () -> Void
  ) throws(StorageError) {
    try ClassDefinition.requireNumbers(for: wanted, path: path)
    let plan = MigrationPlan(stored: snapshot.schema.schema, wanted: wanted)
    guard plan.problems.isEmpty else {
      throw StorageError(
        .schemaMismatch, operation: "migrate", path: path,
        detail: plan.problems.joined(separator: "\n"))
    }
    try plan.working.requireRoom(addingTo: plan.stored, path: path)
    self.plan = plan
    self.version = version
    self.path = path
    oldVersion = snapshot.head.schemaVersion
    old = try SnapshotReader(snapshot)
    session = WriteSession(
      try SnapshotReader(snapshot),
      schema: SchemaView(schema: plan.working, epoch: snapshot.schema.epoch + 1),
      rowsMoved: rowsMoved)
    session.recorder.changeSchema()
    for fill in plan.fills { try session.fill(fill) }
    for copy in plan.copies { try takeOver(copy.from, copy.to, in: copy.classID) }
    for id in plan.primaryKeys.keys where plan.stored[id]?.keyIsPrimary == true {
      try continueKeys(of: id)
    }
  }

  /// Copies the values or elements of an old column to a new one. Null becomes the type's zero in a
  /// column that is not optional. Links to objects that this migration deleted are omitted, as if
  /// they had existed when it deleted them.
  package func takeOver(
    _ from: ColumnID, _ to: ColumnID, in id: ClassID
  ) throws(StorageError) {
    taken[id, default: [:]][to] = from
    if session.schema[id][to].collection != .none { return try takeElements(from, to, in: id) }
    try session.forEachRow(in: id) { key throws(StorageError) in
      let value = try old.value(of: from, at: key, in: id) ?? .null
      guard value != .null else { return }
      let gone = try deletedTargets(from: from, at: key, in: id)
      let place = SequencePlace(classID: id, key: key, column: to)
      let column = session.schema[id][to]
      let copy = try CopiedValue(value, oldElements).mapping {
        column.linkTarget(of: $0).map(gone.contains) == true ? .null : $0
      }
      try session.set(to, at: key, in: id, to: session.make(copy, in: place))
    }
  }

  private func takeElements(
    _ from: ColumnID, _ to: ColumnID, in id: ClassID
  ) throws(StorageError) {
    try session.forEachRow(in: id) { key throws(StorageError) in
      let place = SequencePlace(classID: id, key: key, column: from)
      guard let parts = try old.sequence(at: place)?.parts() else { return }
      let column = session.schema[id][to]
      let gone = try deletedTargets(from: from, at: key, in: id)
      let shape = SequenceShape(column)
      var keys: [String] = []
      var copies: [CopiedValue] = []
      for (index, copy) in try CopiedValue.copies(parts.values, oldElements).enumerated() {
        let copy = copy.mapping { value in
          let isGone = column.linkTarget(of: value).map(gone.contains) == true
          return !isGone && shape.accepts(value) ? value : column.type.zero
        }
        if case .value(let value) = copy, !shape.accepts(value) { continue }
        copies.append(copy)
        if shape.isMap { keys.append(parts.keys[index]) }
      }
      let target = SequencePlace(classID: id, key: key, column: to)
      try session.assign(copies, keys: keys, in: target)
    }
  }

  /// The targets of the property that this migration has deleted.
  private func deletedTargets(
    from column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> Set<ObjectRef> {
    var gone: Set<ObjectRef> = []
    for target in try old.links(from: old.schema[id][column], at: key, in: id).keys
    where try session.location(of: target.key, in: target.classID) == nil {
      gone.insert(target)
    }
    return gone
  }

  /// The former elements of a nested list or map.
  private func oldElements(_ id: CollectionID) throws(StorageError) -> SequenceParts? {
    try old.nestedSequence(id)?.parts()
  }

  /// Rows of a class that loses its integer primary key keep their keys; new keys follow them.
  private func continueKeys(of id: ClassID) throws(StorageError) {
    guard let last = try old.cluster(for: .largest, in: id)?.image.lastKey else { return }
    guard last < .largest else {
      throw failure(
        "class '\(plan.working[id]?.name ?? "")' has an object with the primary key "
          + "\(Int64.max), the largest possible key. Change it before the migration.")
    }
    try session.classEdit(id).continueKeys(after: last)
  }

  func failure(_ detail: String) -> StorageError {
    StorageError(.invalidInput, operation: "migrate", path: path, detail: detail)
  }

  /// Deletes all objects of a class, and the class itself if the program does not have it. False if
  /// the file has no such class.
  package func deleteData(of name: String) throws(StorageError) -> Bool {
    guard let described = plan.working.named(name), !described.isVacant,
      !deleted.contains(described.id)
    else { return false }
    try session.clear(described.id)
    if !plan.wanted.contains(name) { deleted.insert(described.id) }
    return true
  }
}
