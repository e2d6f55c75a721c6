/// Objects as the public API and the tools change them: rows together with the indexes, links and
/// notes that belong to them.
extension WriteSession {
  // MARK: - Finding

  /// The object with that primary key, or nil.
  package func find(
    primaryKey value: Value, in id: ClassID
  ) throws(StorageError) -> ObjectKey? {
    let described = schema[id]
    guard let column = described.primaryKey else { return nil }
    if described.keyIsPrimary {
      guard case .int(let number) = value else { return nil }
      let key = ObjectKey(number)
      if classes[Int(id.rawValue)]?.isBeyondAll(key) == true { return nil }
      return try place(of: key, in: id) == nil ? nil : key
    }
    return try keys(in: id, where: column, is: value).first
  }

  /// The objects whose indexed column has that value, in the order of their keys.
  package func keys(
    in id: ClassID, where column: ColumnID, is value: Value
  ) throws(StorageError) -> [ObjectKey] {
    let edit = classes[Int(id.rawValue)]
    let stored =
      edit?.isCleared != true && reader.schema.hasIndex(column, in: id)
      ? try reader.keys(in: id, where: column, is: value) : []
    guard let delta = edit?.indexes[column.index] else { return stored }
    return delta.apply(to: stored, for: orderKey(value, id, column))
  }

  /// One property's value, or nil if there is no such object.
  package func value(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> Value? {
    let inline: Value?
    switch try place(of: key, in: id) {
    case nil: return nil
    case .image(let image, let slot): inline = try image.value(schema[id][column], slot)
    case .working(let cluster, let slot): inline = try cluster.value(schema[id][column], slot)
    }
    if let inline { return inline }
    return try readLong(column, key, id)
  }

  private func readLong(
    _ column: ColumnID, _ key: ObjectKey, _ id: ClassID
  ) throws(StorageError) -> Value {
    let bytes = try longBytes(of: column, at: key, in: id)
    guard schema[id][column].type == .string else { return .data(bytes) }
    return .string(String(decoding: bytes, as: UTF8.self))
  }

  /// A long value: from this write if it set one, else from the file.
  package func longBytes(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> [UInt8] {
    let name = LongValueID(classID: id, key: key, column: column)
    if let mine = longValues[name] { return mine }
    return try reader.longBytes(of: column, at: key, in: id)
  }

  // MARK: - Changing

  /// Adds an object with that primary key (nil where the class has none) and files the key.
  /// The caller has made sure that no object has it, and files the values of other columns that
  /// have an index once it has written them.
  package func create(
    primaryKey value: Value?, in id: ClassID
  ) throws(StorageError) -> (key: ObjectKey, cluster: WorkingCluster, slot: Int) {
    let described = schema[id]
    guard let column = described.primaryKey, let value else { return try insert(nil, in: id) }
    if described.keyIsPrimary, case .int(let number) = value {
      return try insert(ObjectKey(number), in: id)
    }
    let row = try insert(nil, in: id)
    row.cluster.set(column, row.slot, value)
    try file(value, of: column, at: row.key, in: id)
    return row
  }

  /// Adds an object with these values, of their columns' types; what is missing takes its default.
  /// The caller has made sure that no object has the primary key among them.
  @discardableResult
  package func create(
    _ values: [ColumnID: Value], in id: ClassID
  ) throws(StorageError) -> ObjectKey {
    let described = schema[id]
    let row = try create(primaryKey: described.primaryKey.flatMap { values[$0] }, in: id)
    for column in described.columns where !column.isRemoved && column.id != described.primaryKey {
      if let value = values[column.id] { row.cluster.set(column.id, row.slot, value) }
      guard described.hasIndex(column) else { continue }
      let filed: Value?
      if let value = values[column.id] {
        filed = value
      } else {
        filed = try row.cluster.value(column, row.slot)
      }
      if let value = filed { try file(value, of: column.id, at: row.key, in: id) }
    }
    return row.key
  }

  /// Files a new object's value in the index of its column, and tells a link's target.
  package func file(
    _ value: Value, of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) {
    try fileEntry(value, column, key, id)
    noteTarget(of: value, id, column)
  }

  /// An index over links holds no entries for nil: it is there to find the origins of a target.
  private func fileEntry(
    _ value: Value, _ column: ColumnID, _ key: ObjectKey, _ id: ClassID
  ) throws(StorageError) {
    if value == .null, schema[id][column].type == .link { return }
    try delta(id, column).add(orderKey(value, id, column), key)
  }

  private func unfileEntry(
    _ value: Value, _ column: ColumnID, _ key: ObjectKey, _ id: ClassID
  ) throws(StorageError) {
    if value == .null, schema[id][column].type == .link { return }
    try delta(id, column).remove(orderKey(value, id, column), key)
  }

  private func orderKey(_ value: Value, _ id: ClassID, _ column: ColumnID) -> OrderKey {
    guard let key = OrderKey(value, type: schema[id][column].type) else {
      preconditionFailure("a value of another type than its column's: bug in this package")
    }
    return key
  }

  /// Sets a property to a value of its column's type, and notes it as touched even if it is
  /// equal. False if there is no such object.
  @discardableResult
  package func set(
    _ column: ColumnID, at key: ObjectKey, in id: ClassID, to value: Value
  ) throws(StorageError) -> Bool {
    let described = schema[id]
    let isFiled = described.hasIndex(described[column])
    let old = isFiled ? try self.value(of: column, at: key, in: id) : nil
    guard let (cluster, slot) = try edit(key, in: id) else { return false }
    cluster.set(column, slot, value)
    recorder.touch(id, key, column)
    guard isFiled, let old, old != value else { return true }
    try unfileEntry(old, column, key, id)
    try fileEntry(value, column, key, id)
    noteTarget(of: old, id, column)
    noteTarget(of: value, id, column)
    return true
  }

  /// Removes an object: links to it become null, its own entries leave their indexes. False if
  /// there is none.
  @discardableResult
  package func delete(_ key: ObjectKey, in id: ClassID) throws(StorageError) -> Bool {
    guard try place(of: key, in: id) != nil else { return false }
    for link in schema.incoming(to: id) {
      for origin in try keys(in: link.origin, where: link.column, is: .link(key)) {
        guard let (cluster, slot) = try edit(origin, in: link.origin) else { continue }
        cluster.setNull(link.column, slot)
        recorder.touch(link.origin, origin, link.column)
        try unfileEntry(.link(key), link.column, origin, link.origin)
      }
    }
    for column in schema.indexed(in: id) {
      guard let old = try value(of: column.id, at: key, in: id) else { continue }
      try unfileEntry(old, column.id, key, id)
      noteTarget(of: old, id, column.id)
    }
    try removeRow(key, in: id)
    return true
  }

  /// Removes every object of the class.
  package func clear(_ id: ClassID) throws(StorageError) {
    for link in schema.incoming(to: id) where link.origin != id {
      try forgetLinks(link)
    }
    for column in schema[id].columns where column.type == .link && !column.isRemoved {
      try noteTargets(of: column, in: id)
    }
    let edit = try classEdit(id)
    edit.clear()
    rowsMoved()
    longValues.clear(id)
    recorder.clear(id)
  }

  /// Sets every link of a column to null, because all of its targets go.
  private func forgetLinks(
    _ link: SchemaView.LinkColumn
  ) throws(StorageError) {
    var linking: [(ObjectKey, ObjectKey)] = []
    try forEachImage(in: link.origin) { image throws(StorageError) in
      for slot in 0..<image.rowCount where !image.isNull(link.column, slot) {
        linking.append((image.key(at: slot), ObjectKey(image.int(link.column, slot))))
      }
      return true
    }
    for (origin, _) in linking {
      try set(link.column, at: origin, in: link.origin, to: .null)
    }
  }

  /// Tells every target of a column that an origin goes.
  private func noteTargets(of column: ColumnSchema, in id: ClassID) throws(StorageError) {
    guard column.target != id else { return }
    try forEachImage(in: id) { image throws(StorageError) in
      for slot in 0..<image.rowCount where !image.isNull(column.id, slot) {
        noteTarget(of: .link(ObjectKey(image.int(column.id, slot))), id, column.id)
      }
      return true
    }
  }

  private func noteTarget(of value: Value, _ origin: ClassID, _ column: ColumnID) {
    guard case .link(let target) = value, let id = schema[origin][column].target else { return }
    recorder.backTouch(id, target, origin: origin, column: column)
  }

  private func delta(_ id: ClassID, _ column: ColumnID) throws(StorageError) -> IndexDelta {
    let edit = try classEdit(id)
    if let delta = edit.indexes[column.index] { return delta }
    let described = edit.schema[column]
    let delta = IndexDelta(isAsked: described.type == .link || column == edit.schema.primaryKey)
    edit.indexes[column.index] = delta
    return delta
  }
}
