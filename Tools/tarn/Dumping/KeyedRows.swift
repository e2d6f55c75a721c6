import TarnStore

/// Rows in which each link is the object key of its target, also where the target has a primary
/// key: a dump is read from start to end, and at a link most targets do not exist yet.
final class KeyedRows: RowOverlay {
  let schema: SchemaView
  private let reader: SnapshotReader

  init(_ reader: SnapshotReader) {
    self.reader = reader
    schema = SchemaView(
      schema: reader.schema.schema.withoutPrimaryKeys, epoch: reader.schema.epoch)
  }

  func location(
    of key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> (cluster: RowCluster, slot: Int)? {
    try reader.row(key, in: id).map { (.image($0.image), $0.slot) }
  }

  func longBytes(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> [UInt8] {
    try reader.longBytes(of: column, at: key, in: id)
  }

  func glance(at place: SequencePlace) throws(StorageError) -> (any SequenceReading)? {
    try reader.sequence(at: place)
  }

  func origins(
    of target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    try reader.origins(of: target, in: id, through: column)
  }

  func object(
    in id: ClassID, withPrimaryKey value: Value, _ column: ColumnID
  ) throws(StorageError) -> ObjectKey? { nil }
}

extension StoreSchema {
  /// The schema in which objects are named by their object keys.
  var withoutPrimaryKeys: StoreSchema {
    var schema = self
    for index in schema.classes.indices { schema.classes[index].primaryKey = nil }
    return schema
  }
}
