// How queries read rows. These are protocols without existentials: all code that uses them is
// generic and specialized.
//
// A scan walks the clusters of a class itself and passes each `ClusterImage` to `PredicateScan` or
// `SortBuffer`. The source only provides what is elsewhere: the row behind a link, and long values.
// Row by row (a changed row, rows under edit) the source provides the row as well.

/// One version of a store, or a write's view of it: finds rows by key. Used on one thread at a
/// time; must give the same results as long as a scan or a comparator that uses it lives.
package protocol RowSource {
  associatedtype Rows: RowReading

  /// Calls `body` with the cluster that has the row and the row's slot, and returns its result; nil
  /// if the object does not exist. `body` may call this again, to follow a link.
  func withRow<R>(
    _ classID: ClassID, _ key: ObjectKey,
    _ body: (_ rows: Rows, _ slot: Int) throws(StorageError) -> R
  ) throws(StorageError) -> R?

  /// Calls `body` with a string or data value that is stored outside of its cluster.
  func withLongValue<R>(
    _ classID: ClassID, _ key: ObjectKey, _ column: ColumnID,
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R
  ) throws(StorageError) -> R

  /// The number of elements of a collection.
  func elementCount(of place: SequencePlace) throws(StorageError) -> Int

  /// Calls `body` with each element of a collection, or each value of a map, until it returns
  /// false.
  func forEachElement(
    of place: SequencePlace, _ body: (Value) throws(StorageError) -> Bool
  ) throws(StorageError)

  /// Calls `body` with each key of a map until it returns false.
  func forEachKey(
    of place: SequencePlace, _ body: (String) throws(StorageError) -> Bool
  ) throws(StorageError)

  /// One element of a collection, or one value of a map; nil if it does not exist, or the step does
  /// not fit the kind of collection.
  func element(of place: SequencePlace, at step: ValueStep) throws(StorageError) -> Value?

  /// The objects whose column links to that one, each as often as it does.
  func origins(
    of target: ObjectRef, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey]

  /// An object as a mixed value.
  func object(_ target: ObjectRef) -> Value
}

extension RowSource {
  package func object(_ target: ObjectRef) -> Value { .object(target.classID, target.key) }
}

/// Rows of one of two kinds, for a source with both stored and edited clusters.
package enum EitherRows<First: RowReading, Second: RowReading>: RowReading {
  case first(First)
  case second(Second)

  @inline(__always)
  private func read<R>(_ first: (First) -> R, _ second: (Second) -> R) -> R {
    switch self {
    case .first(let rows): first(rows)
    case .second(let rows): second(rows)
    }
  }

  package var rowCount: Int { read({ $0.rowCount }, { $0.rowCount }) }
  package func key(at slot: Int) -> ObjectKey {
    read({ $0.key(at: slot) }, { $0.key(at: slot) })
  }
  package func isNull(_ column: ColumnID, _ slot: Int) -> Bool {
    read({ $0.isNull(column, slot) }, { $0.isNull(column, slot) })
  }
  package func int(_ column: ColumnID, _ slot: Int) -> Int64 {
    read({ $0.int(column, slot) }, { $0.int(column, slot) })
  }
  package func bool(_ column: ColumnID, _ slot: Int) -> Bool {
    read({ $0.bool(column, slot) }, { $0.bool(column, slot) })
  }
  package func float(_ column: ColumnID, _ slot: Int) -> Float {
    read({ $0.float(column, slot) }, { $0.float(column, slot) })
  }
  package func double(_ column: ColumnID, _ slot: Int) -> Double {
    read({ $0.double(column, slot) }, { $0.double(column, slot) })
  }
  package func date(_ column: ColumnID, _ slot: Int) -> Timestamp {
    read({ $0.date(column, slot) }, { $0.date(column, slot) })
  }
  package func bytes12(_ column: ColumnID, _ slot: Int) -> Bytes12 {
    read({ $0.bytes12(column, slot) }, { $0.bytes12(column, slot) })
  }
  package func bytes16(_ column: ColumnID, _ slot: Int) -> Bytes16 {
    read({ $0.bytes16(column, slot) }, { $0.bytes16(column, slot) })
  }
  package func bytes(_ column: ColumnID, _ slot: Int) throws(StorageError) -> ClusterBytes {
    switch self {
    case .first(let rows): try rows.bytes(column, slot)
    case .second(let rows): try rows.bytes(column, slot)
    }
  }
}

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
