/// Rows in which a change is traced back, along links, to the objects that it concerns.
protocol LinkedRows: RowSource {
  var schema: SchemaView { get }

  /// The objects from which a step leads to one of `keys`; nil if there are more than `most`.
  func before(
    _ keys: KeySet, through link: LinkStep, atMost most: Int
  ) throws(StorageError) -> KeySet?

  /// The object with a primary key.
  func object(
    in id: ClassID, withPrimaryKey value: Value, _ column: ColumnID
  ) throws(StorageError) -> ObjectKey?

  /// Announces about that many look-ups of rows of the class, in random order.
  func expect(lookups: Int, in id: ClassID)
}

extension StoreRows: LinkedRows {
  func object(
    in id: ClassID, withPrimaryKey value: Value, _ column: ColumnID
  ) throws(StorageError) -> ObjectKey? {
    try keys(in: id, where: column, is: value).first
  }
}
