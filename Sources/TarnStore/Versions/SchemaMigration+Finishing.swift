/// What is left to do once the program's block has run.
extension SchemaMigration {
  /// The write to be committed.
  ///
  /// - Throws: `.invalidInput` if two objects have one primary key, or an object of a class that
  ///   becomes embedded does not have exactly one owner.
  package func finish() throws(StorageError) -> WriteSession {
    let schema = plan.final(without: deleted)
    for id in plan.embedding { try checkOwners(of: id) }
    try deleteOrphans()
    var newKeys: [ClassID: [ObjectKey: ObjectKey]] = [:]
    for (id, column) in plan.primaryKeys.sorted(by: { $0.key < $1.key }) {
      guard let column, let described = schema[id] else { continue }
      let keys = try uniqueKeys(of: described, column)
      if described.keyIsPrimary { newKeys[id] = keys }
    }
    let rebuilt = Set(newKeys.keys)
    try checkCanMove(rebuilt, schema)
    try dropRemovedCollections()
    let result = WriteSession(
      session.reader, schema: SchemaView(schema: schema, epoch: session.schema.epoch),
      recorder: session.recorder)
    result.longValues = session.longValues.copy(without: rebuilt)
    result.linkCounts = session.linkCounts
    result.sequences = session.sequences
    for (index, edit) in session.classes.enumerated()
    where !rebuilt.contains(ClassID(UInt32(index))) {
      result.classes[index] = edit
    }
    for id in rebuilt.sorted() { try rebuild(id, newKeys, in: result) }
    for link in linkColumns(to: rebuilt, in: result.schema) where newKeys[link.origin] == nil {
      try redirect(link, newKeys, in: result)
    }
    result.schemaChange = SchemaChange(
      from: plan.stored, to: schema, version: version, rebuilt: rebuilt)
    return result
  }

  // MARK: - Objects that belong to others

  private func ownerCount(of key: ObjectKey, in id: ClassID) throws(StorageError) -> Int {
    var count = 0
    for link in session.schema.incoming(to: id) {
      count += try session.origins(
        of: LinkTarget(classID: id, key: key), in: link.origin, through: link.column
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
          + "copy such objects in the migration's block. The file is as it was.")
    }
  }

  /// Embedded objects go with the property that had them.
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

  /// What lies outside of the rows for columns that go: the rows are left to their next edit.
  private func dropRemovedCollections() throws(StorageError) {
    var going = plan.stored
    for index in going.classes.indices {
      for column in going.classes[index].columns.indices {
        let isGoing = session.schema.schema.classes[index].columns[column].isRemoved
        if !isGoing { going.classes[index].columns[column].isRemoved = true }
        going.classes[index].columns[column].deleteRule = .nullify
      }
      going.classes[index].primaryKey = nil
      // Objects that belonged to such a collection have been seen to.
      going.classes[index].isEmbedded = false
    }
    let view = SchemaView(schema: going, epoch: 0)
    let before = WriteSession(session.reader, schema: view)
    before.sequences = session.sequences
    before.linkCounts = session.linkCounts
    for described in going.classes { try before.dropSequences(in: described.id) }
  }

  // MARK: - New keys

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

  /// The columns through which objects of those classes may be linked to.
  private func linkColumns(
    to classes: Set<ClassID>, in schema: SchemaView
  ) -> [SchemaView.LinkColumn] {
    classes.isEmpty
      ? [] : classes.sorted().flatMap { schema.incoming(to: $0) } + schema.anyColumns
  }

  /// Rows cannot get other keys where collections belong to them or hold links to them.
  private func checkCanMove(
    _ classes: Set<ClassID>, _ schema: StoreSchema
  ) throws(StorageError) {
    func refuse(_ described: ClassSchema, _ column: ColumnSchema) throws(StorageError) {
      throw failure(
        "the primary key of a class cannot become another integer while "
          + "'\(described.name).\(column.name)', a collection or a value of any type, belongs to "
          + "its objects or may link to them. Copy the objects to a new class instead. The file "
          + "is as it was.")
    }
    for id in classes.sorted() {
      guard let described = schema[id] else { continue }
      for column in described.columns
      where !column.isRemoved && (column.collection != .none || column.type == .any) {
        try refuse(described, column)
      }
    }
    let view = SchemaView(schema: schema, epoch: 0)
    for link in linkColumns(to: classes, in: view) {
      let column = view[link.origin][link.column]
      guard column.collection != .none || column.type == .any else { continue }
      try refuse(view[link.origin], column)
    }
  }

  private func moved(
    _ value: Value, _ column: ColumnSchema, _ newKeys: [ClassID: [ObjectKey: ObjectKey]]
  ) -> Value {
    guard let target = column.linkTarget(of: value), let keys = newKeys[target.classID] else {
      return value
    }
    return keys[target.key].map { .link($0) } ?? .null
  }

  private func rebuild(
    _ id: ClassID, _ newKeys: [ClassID: [ObjectKey: ObjectKey]], in result: WriteSession
  ) throws(StorageError) {
    let edit = try result.classEdit(id)
    edit.clear()
    result.linkCounts.clear(id)
    result.recorder.clear(id)
    let columns = result.schema[id].columns.filter { !$0.isRemoved }
    for (oldKey, _) in newKeys[id]!.sorted(by: { $0.value < $1.value }) {
      var values: [ColumnID: Value] = [:]
      for column in columns {
        let value = try session.value(of: column.id, at: oldKey, in: id) ?? .null
        values[column.id] = moved(value, column, newKeys)
      }
      try result.create(values, in: id)
    }
  }

  private func redirect(
    _ link: SchemaView.LinkColumn, _ newKeys: [ClassID: [ObjectKey: ObjectKey]],
    in result: WriteSession
  ) throws(StorageError) {
    let column = result.schema[link.origin][link.column]
    try result.forEachRow(in: link.origin) { key throws(StorageError) in
      let value = try result.value(of: link.column, at: key, in: link.origin) ?? .null
      let new = moved(value, column, newKeys)
      if new != value { try result.set(link.column, at: key, in: link.origin, to: new) }
    }
  }
}
