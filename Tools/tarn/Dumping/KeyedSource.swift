import TarnStore

/// Contents in which each link is the object key of its target, also where the target has a primary
/// key: a dump is read from start to end, and at a link most targets do not exist yet.
struct KeyedSource: ContentSource {
  let reader: SnapshotReader
  let schema: SchemaView

  init(_ reader: SnapshotReader) {
    self.reader = reader
    schema = SchemaView(
      schema: reader.schema.schema.withoutPrimaryKeys, epoch: reader.schema.epoch)
  }

  func value(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> Value? {
    try reader.value(of: column, at: key, in: id)
  }

  func sequence(at place: SequencePlace) throws(StorageError) -> StoredSequence? {
    try reader.sequence(at: place)
  }
}

extension StoreSchema {
  /// The schema in which objects are named by their object keys.
  var withoutPrimaryKeys: StoreSchema {
    var schema = self
    for index in schema.classes.indices { schema.classes[index].primaryKey = nil }
    return schema
  }
}
