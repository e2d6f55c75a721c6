/// Objects as the public API and the tools change them: rows together with their indexes, links and
/// change notes.
extension WriteSession {
  // MARK: - Finding

  /// The object with that primary key, or nil.
  package func find(
    primaryKey value: Value, in id: ClassID
  ) throws(StorageError) -> ObjectKey? {
    guard let primary = schema.primaryKey(of: id) else { return nil }
    if primary.isObjectKey {
      guard case .int(let number) = value else { return nil }
      let key = ObjectKey(number)
      if classes[id]?.isBeyondAll(key) == true { return nil }
      return try location(of: key, in: id) == nil ? nil : key
    }
    return try keys(in: id, where: primary.column, is: value).first
  }

  /// The objects whose indexed column has that value, in the order of their keys.
  package func keys(
    in id: ClassID, where column: ColumnID, is value: Value
  ) throws(StorageError) -> [ObjectKey] {
    guard let order = OrderKey(value, type: schema[id][column].type) else { return [] }
    let edit = classes[id]
    var found =
      edit?.isCleared != true && reader.schema.hasIndex(column, in: id)
      ? try reader.keys(in: id, under: order, of: column) : []
    if let delta = edit?.index(column) { found = delta.apply(to: found, for: order) }
    // Compared in the current rows: the write may have given one of them another long value.
    return try order.exact(found, value) { (key) throws(StorageError) in
      try self.value(of: column, at: key, in: id)
    }
  }

  /// One property's value; nil if the object does not exist.
  package func value(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> Value? {
    guard let (cluster, slot) = try location(of: key, in: id) else { return nil }
    return try value(of: column, at: key, in: id, cluster, slot)
  }

  /// The values of several properties, or nil if the object does not exist.
  package func values(
    of columns: [ColumnID], at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> [Value]? {
    guard let (cluster, slot) = try location(of: key, in: id) else { return nil }
    var values: [Value] = []
    values.reserveCapacity(columns.count)
    for column in columns {
      values.append(try value(of: column, at: key, in: id, cluster, slot))
    }
    return values
  }

  private func value(
    of column: ColumnID, at key: ObjectKey, in id: ClassID,
    _ cluster: RowCluster, _ slot: Int
  ) throws(StorageError) -> Value {
    if let inline = try cluster.value(schema[id][column], slot) {
      return try schema.checked(inline)
    }
    return try readLong(column, key, id)
  }

  private func readLong(
    _ column: ColumnID, _ key: ObjectKey, _ id: ClassID
  ) throws(StorageError) -> Value {
    let bytes = try longBytes(of: column, at: key, in: id)
    return try unsafe withBytes(of: bytes) { bytes throws(StorageError) in
      try schema.checked(unsafe Value(cell: bytes, of: schema[id][column]))
    }
  }

  /// A long value: from this write if it set one, otherwise from the file.
  package func longBytes(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> [UInt8] {
    let name = LongValueID(classID: id, key: key, column: column)
    if let mine = madeLongValues?[name] { return mine }
    return try reader.longBytes(of: column, at: key, in: id)
  }

  // MARK: - Changing

  /// Adds an object with that primary key (nil for a class without one) and adds it to the index.
  /// The caller has checked that no object has the key, and indexes the values of other indexed
  /// columns once it has written them.
  ///
  /// - Parameter key: a free object key for the object; nil for the next one. Ignored if the
  ///   primary key is the object key.
  package func create(
    primaryKey value: Value?, at key: ObjectKey? = nil, in id: ClassID
  ) throws(StorageError) -> (key: ObjectKey, cluster: WorkingCluster, slot: Int) {
    guard let primary = schema.primaryKey(of: id), let value else { return try insert(key, in: id) }
    if primary.isObjectKey, case .int(let number) = value {
      return try insert(ObjectKey(number), in: id)
    }
    let row = try insert(key, in: id)
    row.cluster.set(primary.column, row.slot, value)
    try insertIndexEntry(value, of: primary.column, at: row.key, in: id)
    return row
  }

  /// Adds an object with these values, which have their columns' types; missing ones get their
  /// default. The caller has checked that no object has the primary key.
  @discardableResult
  package func create(
    _ values: [ColumnID: Value], in id: ClassID
  ) throws(StorageError) -> ObjectKey {
    try create(in: id) { values[$0] }
  }

  /// The same; `value` gives the value of a column, or nil.
  ///
  /// - Parameter key: a free object key for the object; nil for the next one. `continueKeys` keeps
  ///   later objects from getting it.
  @discardableResult
  package func create(
    in id: ClassID, at key: ObjectKey? = nil, _ value: (ColumnID) -> Value?
  ) throws(StorageError) -> ObjectKey {
    let described = schema[id]
    let row = try create(primaryKey: described.primaryKey.flatMap(value), at: key, in: id)
    // By index: a loop over the elements copies each with its name.
    for index in described.columns.indices where !described.columns[index].isRemoved {
      let column = described.columns[index].id
      if column == described.primaryKey { continue }
      let given = value(column)
      if let value = given {
        row.cluster.set(column, row.slot, value)
        adopt(value)
      }
      guard described.hasIndex(described.columns[index]),
        described.columns[index].collection == .none
      else { continue }
      let indexed: Value?
      if let value = given {
        indexed = value
      } else {
        indexed = try row.cluster.value(described.columns[index], row.slot)
      }
      if let value = indexed { try insertIndexEntry(value, of: column, at: row.key, in: id) }
    }
    return row.key
  }

  /// From now on objects of the class that are added without a key get larger ones than that.
  package func continueKeys(of id: ClassID, after key: ObjectKey) throws(StorageError) {
    try classEdit(id).continueKeys(after: key)
  }

  /// Sets a property to a value of its column's type, and records it as touched even if it is
  /// equal. False if the object does not exist.
  @discardableResult
  package func set(
    _ column: ColumnID, at key: ObjectKey, in id: ClassID, to value: Value
  ) throws(StorageError) -> Bool {
    let described = schema[id]
    guard described.hasIndex(described[column]) else {
      guard let (cluster, slot) = try edit(column, at: key, in: id) else { return false }
      cluster.set(column, slot, value)
      return true
    }
    return try changing { () throws(StorageError) in
      try setFiled(column, at: key, in: id, to: value)
    }
  }

  private func setFiled(
    _ column: ColumnID, at key: ObjectKey, in id: ClassID, to value: Value
  ) throws(StorageError) -> Bool {
    let described = schema[id]
    guard let old = try self.value(of: column, at: key, in: id) else { return false }
    if value.isLink, old != value {
      _ = try take([value], for: SequencePlace(classID: id, key: key, column: column))
    }
    guard let (cluster, slot) = try edit(column, at: key, in: id) else { return false }
    cluster.set(column, slot, value)
    if old == value { return true }
    if described[column].type == .any {
      try drop(old, at: SequencePlace(classID: id, key: key, column: column))
      adopt(value)
    }
    try removeIndexEntry(old, of: column, at: key, in: id)
    try insertIndexEntry(value, of: column, at: key, in: id)
    abandon(old, described[column])
    return true
  }
}
