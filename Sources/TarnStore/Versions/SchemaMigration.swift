/// A migration: the schema and the data change together, in one write that is committed as a whole
/// or not at all.
///
/// It works over two views of the data. `old` is the snapshot, in the schema of the file.
/// `session` is the write, whose rows have the columns of both: those that go are hidden, those
/// that come hold defaults or what was taken over. Rows keep their keys while the program's block
/// runs, so that both views of an object are found by one key. `finish` then gives the rows of
/// classes with a new integer primary key their new keys.
package final class SchemaMigration {
  package let plan: MigrationPlan
  package let old: SnapshotReader
  package let session: WriteSession
  package let oldVersion: UInt64
  private let version: UInt64
  private let path: String
  /// Classes that were deleted with their data.
  private var deleted: Set<ClassID> = []

  /// Prepares what can be done without the program. Writes nothing to the file.
  ///
  /// - Throws: `.schemaMismatch` if a link's class is missing.
  package init(
    _ snapshot: Snapshot, to version: UInt64, _ wanted: [ClassDefinition], path: String,
    rowsMoved: @escaping () -> Void
  ) throws(StorageError) {
    let plan = MigrationPlan(stored: snapshot.schema.schema, wanted: wanted)
    guard plan.problems.isEmpty else {
      throw StorageError(
        .schemaMismatch, operation: "migrate", path: path,
        detail: plan.problems.joined(separator: "\n"))
    }
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
    for copy in plan.copies { try takeOver(copy.from, copy.to, in: copy.classID) }
    for id in plan.primaryKeys.keys where plan.stored[id]?.keyIsPrimary == true {
      try continueKeys(of: id)
    }
  }

  /// Gives a column of the new side the values that another one has on the old side. Null becomes
  /// the type's zero where null is not allowed.
  package func takeOver(
    _ from: ColumnID, _ to: ColumnID, in id: ClassID
  ) throws(StorageError) {
    try session.forEachRow(in: id) { key throws(StorageError) in
      let value = try old.value(of: from, at: key, in: id) ?? .null
      if value != .null { try session.set(to, at: key, in: id, to: value) }
    }
  }

  /// The rows of a class that loses its integer primary key keep their keys; new ones follow them.
  private func continueKeys(of id: ClassID) throws(StorageError) {
    guard let last = try old.cluster(for: .largest, in: id)?.image.lastKey else { return }
    guard last < .largest else {
      throw failure(
        "class '\(plan.working[id]?.name ?? "")' has an object with the primary key "
          + "\(Int64.max), and no key is left beyond that. Change it before the migration.")
    }
    try session.classEdit(id).continueKeys(after: last)
  }

  private func failure(_ detail: String) -> StorageError {
    StorageError(.invalidInput, operation: "migrate", path: path, detail: detail)
  }

  /// Removes all objects of a class, and the class itself if the program does not have it. False
  /// if the file has no such class.
  package func deleteData(of name: String) throws(StorageError) -> Bool {
    guard let described = plan.working.named(name), !described.isVacant,
      !deleted.contains(described.id)
    else { return false }
    try session.clear(described.id)
    if !plan.wanted.contains(name) { deleted.insert(described.id) }
    return true
  }

  // MARK: - Finishing

  /// The write to be committed.
  ///
  /// - Throws: `.invalidInput` if two objects have one primary key, or an object of a class that
  ///   becomes embedded does not have exactly one owner.
  package func finish() throws(StorageError) -> WriteSession {
    let schema = plan.final(without: deleted)
    for id in plan.embedding { try checkOwners(of: id, schema) }
    var newKeys: [ClassID: [ObjectKey: ObjectKey]] = [:]
    for (id, column) in plan.primaryKeys.sorted(by: { $0.key < $1.key }) {
      guard let column, let described = schema[id] else { continue }
      let keys = try uniqueKeys(of: described, column)
      if described.keyIsPrimary { newKeys[id] = keys }
    }
    let result = WriteSession(
      session.reader, schema: SchemaView(schema: schema, epoch: session.schema.epoch),
      recorder: session.recorder)
    let rebuilt = Set(newKeys.keys)
    result.longValues = session.longValues.copy(without: rebuilt)
    for (index, edit) in session.classes.enumerated()
    where !rebuilt.contains(ClassID(UInt32(index))) {
      result.classes[index] = edit
    }
    for id in rebuilt.sorted() { try rebuild(id, newKeys, in: result) }
    for id in rebuilt.sorted() { try redirectLinks(to: id, newKeys, in: result) }
    result.schemaChange = SchemaChange(
      from: plan.stored, to: schema, version: version, rebuilt: rebuilt)
    return result
  }

  /// The new key of each row, if the primary key is the object key. Throws for a value that two
  /// rows have.
  private func uniqueKeys(
    of described: ClassSchema, _ column: ColumnID
  ) throws(StorageError) -> [ObjectKey: ObjectKey] {
    var seen: Set<Value> = []
    var keys: [ObjectKey: ObjectKey] = [:]
    try session.forEachRow(in: described.id) { key throws(StorageError) in
      let value = try session.value(of: column, at: key, in: described.id) ?? .null
      guard seen.insert(value).inserted else {
        throw failure(
          "two objects of class '\(described.name)' have \(value) as their primary key "
            + "'\(described[column].name)' after the migration. The file is as it was.")
      }
      if case .int(let number) = value { keys[key] = ObjectKey(number) }
    }
    return keys
  }

  private func rebuild(
    _ id: ClassID, _ newKeys: [ClassID: [ObjectKey: ObjectKey]], in result: WriteSession
  ) throws(StorageError) {
    let edit = try result.classEdit(id)
    edit.clear()
    result.recorder.clear(id)
    let columns = result.schema[id].columns.filter { !$0.isRemoved }
    for (oldKey, _) in newKeys[id]!.sorted(by: { $0.value < $1.value }) {
      var values: [ColumnID: Value] = [:]
      for column in columns {
        var value = try session.value(of: column.id, at: oldKey, in: id) ?? .null
        if case .link(let target) = value, let class_ = column.target,
          let moved = newKeys[class_]
        {
          value = moved[target].map { .link($0) } ?? .null
        }
        values[column.id] = value
      }
      try result.create(values, in: id)
    }
  }

  private func redirectLinks(
    to id: ClassID, _ newKeys: [ClassID: [ObjectKey: ObjectKey]], in result: WriteSession
  ) throws(StorageError) {
    for link in result.schema.incoming(to: id) where newKeys[link.origin] == nil {
      try result.forEachRow(in: link.origin) { key throws(StorageError) in
        let value = try result.value(of: link.column, at: key, in: link.origin)
        guard case .link(let target) = value else { return }
        let moved = newKeys[id]?[target]
        try result.set(
          link.column, at: key, in: link.origin, to: moved.map { .link($0) } ?? .null)
      }
    }
  }

  private func checkOwners(of id: ClassID, _ schema: StoreSchema) throws(StorageError) {
    var owners: [ObjectKey: Int] = [:]
    for link in SchemaView(schema: schema, epoch: 0).incoming(to: id) {
      try session.forEachRow(in: link.origin) { key throws(StorageError) in
        let value = try session.value(of: link.column, at: key, in: link.origin)
        if case .link(let target) = value { owners[target, default: 0] += 1 }
      }
    }
    try session.forEachRow(in: id) { key throws(StorageError) in
      let count = owners[key] ?? 0
      guard count != 1 else { return }
      throw failure(
        "class '\(schema[id]?.name ?? "")' becomes embedded, but one of its objects is linked to "
          + "by \(count == 0 ? "no object" : "\(count) objects"), not by exactly one. Delete or "
          + "copy such objects in the migration's block. The file is as it was.")
    }
  }
}
