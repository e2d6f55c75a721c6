/// Rows that lie over those of a snapshot, or that stand alone: an earlier version's, or objects in
/// memory. They are read one by one. An open write is an overlay, too, but `Rows` knows it, because
/// its rows are scanned and found by indexes.
package protocol RowOverlay: AnyObject {
  var schema: SchemaView { get }

  /// The row with that key; nil if the object does not exist.
  func location(
    of key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> (cluster: RowCluster, slot: Int)?

  /// A string or data value that is stored outside of its cluster.
  func longBytes(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> [UInt8]

  /// A list, set or map; nil if its owner does not exist.
  func glance(at place: SequencePlace) throws(StorageError) -> (any SequenceReading)?

  /// The objects whose column links to that one, each as often as it does.
  func origins(
    of target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey]

  /// The object with a primary key.
  func object(
    in id: ClassID, withPrimaryKey value: Value, _ column: ColumnID
  ) throws(StorageError) -> ObjectKey?

  /// An object as a mixed value.
  func object(_ target: ObjectRef) -> Value

  /// Announces about that many look-ups of rows of the class, in random order.
  func expect(lookups: Int, in id: ClassID)
}

extension RowOverlay {
  package func expect(lookups: Int, in id: ClassID) {}
  package func object(_ target: ObjectRef) -> Value { .object(target.classID, target.key) }
}
