/// Single values and index look-ups in a snapshot.
extension SnapshotReader {
  /// One property's value; nil if the object does not exist.
  package func value(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> Value? {
    guard let (image, slot) = try row(key, in: id) else { return nil }
    let described = schema[id][column]
    if let value = try image.value(described, slot) { return try schema.checked(value) }
    let bytes = try longBytes(of: column, at: key, in: id)
    return try unsafe withBytes(of: bytes) { bytes throws(StorageError) in
      try schema.checked(unsafe Value(cell: bytes, of: described))
    }
  }

  /// A value that is too long for its cluster.
  package func longBytes(
    of column: ColumnID, at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> [UInt8] {
    guard let (image, slot) = try row(key, in: id),
      case .long(let byteCount) = try image.bytes(column, slot)
    else { return [] }
    return try withCursor { cursor throws(StorageError) in
      try LongValues(id, column).read(key, byteCount: byteCount, &cursor)
    }
  }

  /// The objects whose indexed column has that value, in the order of their keys.
  package func keys(
    in id: ClassID, where column: ColumnID, is value: Value
  ) throws(StorageError) -> [ObjectKey] {
    guard let order = OrderKey(value, type: schema[id][column].type) else { return [] }
    return try order.exact(keys(in: id, under: order, of: column), value) {
      (key) throws(StorageError) in try self.value(of: column, at: key, in: id)
    }
  }

  /// The objects that an index has under an order key. If the key is truncated, these include
  /// objects with other values that have the same key.
  func keys(
    in id: ClassID, under order: OrderKey, of column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    try withCursor { cursor throws(StorageError) in
      try PackedIndex(id, column).lookup(order, &cursor)
    }
  }

  /// The object with that primary key, or nil.
  package func find(primaryKey value: Value, in id: ClassID) throws(StorageError) -> ObjectKey? {
    let described = schema[id]
    guard let column = described.primaryKey else { return nil }
    guard described.keyIsPrimary else {
      return try keys(in: id, where: column, is: value).first
    }
    guard case .int(let number) = value else { return nil }
    return try row(ObjectKey(number), in: id) == nil ? nil : ObjectKey(number)
  }
}

extension OrderKey {
  /// The objects under this key that have that value. An index stores only the first bytes of long
  /// values, so these are compared in the rows, as bytes.
  func exact(
    _ found: [ObjectKey], _ value: Value, _ stored: (ObjectKey) throws(StorageError) -> Value?
  ) throws(StorageError) -> [ObjectKey] {
    guard isTruncated else { return found }
    var exact: [ObjectKey] = []
    for key in found where try stored(key) == value { exact.append(key) }
    return exact
  }
}
