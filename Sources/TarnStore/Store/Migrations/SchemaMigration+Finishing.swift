/// The steps after the program's block.
extension SchemaMigration {
  /// The write to commit.
  ///
  /// - Throws: `.invalidInput` if two objects have the same primary key, or an object of a class
  ///   that becomes embedded does not have exactly one owner.
  package func finish() throws(StorageError) -> WriteSession {
    let schema = plan.final(without: deleted)
    for id in plan.embedding { try checkOwners(of: id) }
    try deleteOrphans()
    var newKeys: NewKeys = [:]
    for (id, column) in plan.primaryKeys.sorted(by: { $0.key < $1.key }) {
      guard let column, let described = schema[id] else { continue }
      let keys = try uniqueKeys(of: described, column)
      if described.keyIsPrimary { newKeys[id] = keys }
    }
    let rebuilt = Set(newKeys.keys)
    try dropRemovedCollections()
    let result = WriteSession(
      session.reader, schema: SchemaView(schema: schema, epoch: session.schema.epoch),
      recorder: session.recorder)
    result.longValues = session.longValues.copy(without: rebuilt)
    result.linkCounts = session.linkCounts
    result.sequences = session.sequences
    for edit in session.classes.all where !rebuilt.contains(edit.schema.id) {
      result.classes.insert(edit)
    }
    try rekey(newKeys, in: result)
    result.schemaChange = SchemaChange(
      from: plan.stored, to: schema, version: version, rebuilt: rebuilt)
    result.schemaChange?.records = try ColumnOrigins.records(
      adding: taken, in: session.base.transaction)
    return result
  }

  // MARK: - Embedded objects

  private func ownerCount(of key: ObjectKey, in id: ClassID) throws(StorageError) -> Int {
    var count = 0
    for link in session.schema.incoming(to: id) {
      count += try session.origins(
        of: ObjectRef(classID: id, key: key), in: link.origin, through: link.column
      ).count
    }
    return count
  }

  private func checkOwners(of id: ClassID) throws(StorageError) {
    try session.forEachRow(in: id) { key throws(StorageError) in
      let count = try ownerCount(of: key, in: id)
      guard count != 1 else { return }
      throw failure(
        "class '\(session.schema[id].name)' becomes embedded, but one of its objects is linked to "
          + "by \(count == 0 ? "no object" : "\(count) objects"), not by exactly one. Delete or "
          + "copy such objects in the migration's block. The file is unchanged.")
    }
  }

  /// Embedded objects are deleted with the property that owned them.
  private func deleteOrphans() throws(StorageError) {
    var losing: Set<ClassID> = []
    for described in plan.stored.classes {
      for column in described.columns where !column.isRemoved {
        guard let target = column.target, plan.stored[target]?.isEmbedded == true,
          session.schema[target].isEmbedded,
          session.schema[described.id][column.id].isRemoved
        else { continue }
        losing.insert(target)
      }
    }
    for id in losing.sorted() {
      try session.forEachRow(in: id) { key throws(StorageError) in
        if try ownerCount(of: key, in: id) == 0 { try session.delete(key, in: id) }
      }
    }
  }

  /// Removes values stored outside of the rows for removed columns: the rows change at their next
  /// edit.
  private func dropRemovedCollections() throws(StorageError) {
    var going = plan.stored
    for index in going.classes.indices {
      for column in going.classes[index].columns.indices {
        let isGoing = session.schema.schema.classes[index].columns[column].isRemoved
        if !isGoing { going.classes[index].columns[column].isRemoved = true }
        going.classes[index].columns[column].deleteRule = .nullify
      }
      going.classes[index].primaryKey = nil
      // Objects owned by such a collection have been handled already.
      going.classes[index].isEmbedded = false
    }
    let view = SchemaView(schema: going, epoch: 0)
    let before = WriteSession(session.reader, schema: view)
    before.sequences = session.sequences
    before.linkCounts = session.linkCounts
    for described in going.classes { try before.dropSequences(in: described.id) }
  }
}
