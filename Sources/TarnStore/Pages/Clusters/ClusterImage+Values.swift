import CTarn

// Reading single values. A column that the image does not describe, and a row without a value, read
// as the type's zero; `isNull` and the schema tell whether that means zero or null.
extension ClusterImage {
  /// The column's descriptor; an absent one beyond those in the image.
  func descriptor(_ column: ColumnID) -> tarn_column {
    guard column.index < columnCount else { return tarn_column() }
    return unsafe tarn_cluster_column(base, UInt32(column.rawValue))
  }

  /// The kind of the column in the image.
  package func kind(_ column: ColumnID) -> ClusterColumnKind {
    ClusterColumnKind(rawValue: descriptor(column).kind) ?? .absent
  }

  /// True if the row has no value in that column. Also true in every row of a column that is absent
  /// from the image, which means the type's zero for a column that is not optional.
  package func isNull(_ column: ColumnID, _ slot: Int) -> Bool {
    assert(slot >= 0 && slot < rowCount)
    let descriptor = descriptor(column)
    guard slot < rowCount, descriptor.kind != 0 else { return true }
    return unsafe tarn_is_null(
      base.assumingMemoryBound(to: UInt8.self), descriptor, UInt32(slot)) != 0
  }

  package func int(_ column: ColumnID, _ slot: Int) -> Int64 {
    unsafe tarn_cluster_int(base, UInt32(column.rawValue), UInt32(slot)).value
  }

  package func bool(_ column: ColumnID, _ slot: Int) -> Bool {
    unsafe tarn_cluster_bool(base, UInt32(column.rawValue), UInt32(slot)).value != 0
  }

  package func float(_ column: ColumnID, _ slot: Int) -> Float {
    unsafe tarn_cluster_float(base, UInt32(column.rawValue), UInt32(slot)).value
  }

  package func double(_ column: ColumnID, _ slot: Int) -> Double {
    unsafe tarn_cluster_double(base, UInt32(column.rawValue), UInt32(slot)).value
  }

  package func date(_ column: ColumnID, _ slot: Int) -> Timestamp {
    let date = unsafe tarn_cluster_date(base, UInt32(column.rawValue), UInt32(slot))
    return Timestamp(seconds: date.seconds, nanoseconds: date.nanoseconds)
  }

  package func bytes12(_ column: ColumnID, _ slot: Int) -> Bytes12 {
    let bytes = unsafe tarn_cluster_bytes12(base, UInt32(column.rawValue), UInt32(slot))
    return Bytes12(high: bytes.high, low: bytes.low)
  }

  package func bytes16(_ column: ColumnID, _ slot: Int) -> Bytes16 {
    let bytes = unsafe tarn_cluster_bytes16(base, UInt32(column.rawValue), UInt32(slot))
    return Bytes16(high: bytes.high, low: bytes.low)
  }

  /// The bytes of a string or data. Throws `.corrupted` if they extend past the image.
  package func bytes(_ column: ColumnID, _ slot: Int) throws(StorageError) -> ClusterBytes {
    let found = unsafe tarn_cluster_bytes(base, UInt32(column.rawValue), UInt32(slot))
    switch found.state {
    case TARN_STATE_VALUE:
      return unsafe .inline(UnsafeRawBufferPointer(start: found.bytes, count: Int(found.length)))
    case TARN_STATE_NULL:
      return .null
    case TARN_STATE_LONG:
      return .long(length: Int(truncatingIfNeeded: found.length & (.max >> 1)))
    default:
      if column.index >= columnCount { return .null }
      throw Self.corrupted("the bytes of column \(column.rawValue), row \(slot) are out of bounds")
    }
  }
}
