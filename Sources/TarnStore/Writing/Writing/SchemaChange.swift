/// The changes of a migration other than those of rows, made in the same transaction.
package struct SchemaChange {
  var schema: StoreSchema
  /// The schema version that the program gives to its model.
  package var version: UInt64
  /// Indexes to remove.
  var droppedIndexes: [(ClassID, ColumnID)] = []
  /// Indexes to rebuild from all rows.
  var builtIndexes: [(ClassID, ColumnID)] = []
  /// Columns to remove that may have values in pieces.
  var droppedBytes: [(ClassID, ColumnID)] = []
  /// The records of the change for replicas.
  var records = ReplicaRecords()
  /// Whether classes and properties are only added.
  private(set) var isAddition = false

  /// Classes and properties that a write adds for its own objects.
  init(adding after: StoreSchema, to before: StoreSchema, version: UInt64) {
    self.init(from: before, to: after, version: version, rebuilt: [])
    isAddition = true
  }

  /// The changes from rows of `before` to rows of `after`. Classes in `rebuilt` are written from
  /// scratch.
  init(
    from before: StoreSchema, to after: StoreSchema, version: UInt64, rebuilt: Set<ClassID>
  ) {
    schema = after
    self.version = version
    for old in before.classes where !rebuilt.contains(old.id) {
      guard let new = after[old.id] else { continue }
      for column in new.columns {
        let former = column.id.index < old.columns.count ? old[column.id] : nil
        let had = former.map { old.hasIndex($0) } ?? false
        let has = new.hasIndex(column)
        if had, !has { droppedIndexes.append((new.id, column.id)) }
        // Links have been indexed from the first one on.
        let hadAll = had && former?.filesAll == true
        if has, column.filesAll != hadAll { builtIndexes.append((new.id, column.id)) }
        if let former, !former.isRemoved, column.isRemoved,
          [.string, .data, .any].contains(former.type), former.collection == .none
        {
          droppedBytes.append((new.id, column.id))
        }
      }
    }
  }

  /// Drops the write's changes of indexes that are rebuilt or removed. Links in mixed values stay,
  /// because nothing else records them.
  func forgetIndexes(of session: WriteSession) {
    let builtAnew = builtIndexes.filter { schema[$0.0]?[$0.1].type != .any }
    for (id, column) in droppedIndexes + builtAnew {
      session.classes[id]?.setIndex(column, nil)
    }
  }

  func put(
    _ session: WriteSession, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    for (id, column) in droppedIndexes { try transaction.deleteIndex(id, column) }
    for (id, column) in builtIndexes { try session.buildIndex(id, column, in: transaction) }
    for (id, column) in droppedBytes {
      try session.reader.removeLongValues(of: column, in: id, transaction)
    }
    try records.put(transaction)
    FaultPoint.hit("migration.rows")
    try SchemaCodec.write(schema, in: transaction)
    FaultPoint.hit("migration.schema")
  }
}

/// A value for all objects of a class that lack a new property.
package struct PropertyFill: Equatable, Sendable {
  package var classID: ClassID
  package var column: ColumnID
  package var value: Value
}

extension SnapshotReader {
  /// The keys of all rows of the class, in order.
  package func allKeys(in id: ClassID) throws(StorageError) -> [ObjectKey] {
    var keys: [ObjectKey] = []
    try forEachCluster(in: id) { found throws(StorageError) in
      for slot in 0..<found.image.rowCount { keys.append(found.image.key(at: slot)) }
      return true
    }
    return keys
  }

  /// Removes the pieces of a column's long values; the rows change at their next edit.
  fileprivate func removeLongValues(
    of column: ColumnID, in id: ClassID, _ transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var keys: [ObjectKey] = []
    try forEachCluster(in: id) { found throws(StorageError) in
      for slot in 0..<found.image.rowCount {
        guard case .long = try found.image.bytes(column, slot) else { continue }
        keys.append(found.image.key(at: slot))
      }
      return true
    }
    for key in keys { try LongValues(id, column).delete(key, in: transaction) }
  }
}

extension WriteSession {
  /// Builds an index from all rows of this write, replacing a former one. Entries of links in a
  /// mixed column stay: the contents of collections are not read.
  func buildIndex(
    _ id: ClassID, _ column: ColumnID, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    let index = PackedIndex(id, column)
    var changes = PackedIndexChanges()
    if schema[id][column].type == .any {
      try index.forEachPlainEntry(in: transaction) { changes.remove($0, $1) }
    } else {
      try transaction.deleteIndex(id, column)
    }
    if schema[id][column].filesAll { try addValues(of: column, in: id, to: &changes) }
    changes.sort()
    try index.apply(changes, in: transaction)
  }

  /// Gives existing objects a value for a property that they lack.
  func fill(_ fill: PropertyFill) throws(StorageError) {
    try forEachRow(in: fill.classID) { key throws(StorageError) in
      try set(fill.column, at: key, in: fill.classID, to: fill.value)
    }
  }

  private func addValues(
    of column: ColumnID, in id: ClassID, to changes: inout PackedIndexChanges
  ) throws(StorageError) {
    let type = schema[id][column].type
    try forEachRow(in: id) { key throws(StorageError) in
      let value = try self.value(of: column, at: key, in: id) ?? .null
      if let order = OrderKey(value, type: type) { changes.add(order, key) }
    }
  }

  /// The keys of all rows of the class, in order. Rows may be edited meanwhile.
  func forEachRow(
    in id: ClassID, _ body: (ObjectKey) throws(StorageError) -> Void
  ) throws(StorageError) {
    for key in try allKeys(in: id) { try body(key) }
  }

  /// The keys of all rows of the class, in order.
  package func allKeys(in id: ClassID) throws(StorageError) -> [ObjectKey] {
    var keys: [ObjectKey] = []
    try forEachImage(in: id) { image throws(StorageError) in
      for slot in 0..<image.rowCount { keys.append(image.key(at: slot)) }
      return true
    }
    return keys
  }
}

extension PackedIndex {
  /// The entries of an index over mixed values, without those of links.
  fileprivate func forEachPlainEntry(
    in transaction: borrowing WriteTransaction, _ body: (OrderKey, ObjectKey) -> Void
  ) throws(StorageError) {
    var cursor = try Cursor(transaction)
    for range in [PackedIndexRange.equal(.null), .anyTypeValues] {
      try unsafe forEach(in: range, &cursor) { bytes, key in
        body(unsafe OrderKey(encoded: bytes), key)
        return true
      }
    }
  }
}
