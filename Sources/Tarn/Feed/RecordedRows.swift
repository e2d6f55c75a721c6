import TarnStore

/// Reads the objects of one version as data. One thread at a time.
struct RecordedRows {
  let core: RealmCore
  let rows: PastRows

  init(_ core: RealmCore, _ rows: PastRows) {
    self.core = core
    self.rows = rows
  }

  func identity(_ object: ObjectRef) throws(StorageError) -> ObjectIdentity {
    let primaryKey = try rows.primaryKey(of: object).flatMap { ObjectIdentity.PrimaryKey($0) }
    return ObjectIdentity(
      rows.schema[object.classID].name, object.key, primaryKey: primaryKey)
  }

  /// The values of some columns of an object, by the names of their properties.
  func values(
    of key: ObjectKey, _ columns: [ColumnID], _ binding: ClassBinding
  ) throws(StorageError) -> [String: RecordedValue] {
    var values: [String: RecordedValue] = [:]
    for column in columns {
      guard let property = binding.property(column) else { continue }
      values[property.name] = try value(of: binding.schema[column], key, in: binding.classID)
    }
    return values
  }

  private func value(
    of column: ColumnSchema, _ key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> RecordedValue {
    let place = SequencePlace(classID: id, key: key, column: column.id)
    guard column.collection != .none else {
      return try rows.copy(of: place).map { value throws(StorageError) in
        try recorded(value, column)
      } ?? .none
    }
    let (copies, keys) = try rows.copies(of: place)
    var values: [RecordedValue] = []
    for copy in copies { values.append(try recorded(copy, column)) }
    switch column.collection {
    case .set: return .set(values)
    case .map: return .dictionary(Dictionary(zip(keys, values)) { $1 })
    case .list, .none: return .list(values)
    }
  }

  private func recorded(
    _ copy: CopiedValue, _ column: ColumnSchema
  ) throws(StorageError) -> RecordedValue {
    switch copy {
    case .list(let items):
      var values: [RecordedValue] = []
      for item in items { values.append(try recorded(item, column)) }
      return .list(values)
    case .map(let keys, let items):
      var values: [String: RecordedValue] = [:]
      for (key, item) in zip(keys, items) { values[key] = try recorded(item, column) }
      return .dictionary(values)
    case .value(let value): return try recorded(value, column)
    }
  }

  private func recorded(
    _ value: Value, _ column: ColumnSchema
  ) throws(StorageError) -> RecordedValue {
    if let scalar = RecordedValue(scalar: value) { return scalar }
    guard let target = column.linkTarget(of: value) else { return .none }
    let described = rows.schema[target.classID]
    guard described.isEmbedded else { return .object(try identity(target)) }
    var values: [String: RecordedValue] = [:]
    for column in described.columns where !column.isRemoved {
      values[column.name] = try self.value(of: column, target.key, in: target.classID)
    }
    return .embedded(values)
  }
}
