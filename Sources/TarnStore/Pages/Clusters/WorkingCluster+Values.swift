// Reading values. As in an image, a row without a value reads as the type's zero, and `isNull` is
// true. For columns that are not optional `isNull` is meaningless.
extension WorkingCluster {
  /// The column's memory if it is decoded; nil if the image has the values or all are default.
  @inline(__always)
  private func loaded<T>(_ column: ColumnID, _: T.Type) -> UnsafeMutablePointer<T>? {
    assert(column.index < columnCount)
    let buffer = unsafe columns + column.index
    return unsafe buffer.pointee.state == .loaded ? unsafe buffer.pointee.typed(T.self) : nil
  }

  @inline(__always)
  private func isInImage(_ column: ColumnID) -> Bool {
    unsafe columns[column.index].state == .image
  }

  package func isNull(_ column: ColumnID, _ slot: Int) -> Bool {
    assert(slot >= 0 && slot < count)
    let buffer = unsafe columns + column.index
    switch unsafe buffer.pointee.state {
    case .absent: return unsafe buffer.pointee.isOptional
    case .image: return image.isNull(column, slot)
    case .loaded: return unsafe (buffer.pointee.nulls?[slot] ?? 0) != 0
    }
  }

  package func int(_ column: ColumnID, _ slot: Int) -> Int64 {
    assert(slot >= 0 && slot < count)
    if let cells = unsafe loaded(column, Int64.self) { return unsafe cells[slot] }
    if unsafe columns[column.index].storage == .key { return key(at: slot).rawValue }
    return isInImage(column) ? image.int(column, slot) : 0
  }

  package func bool(_ column: ColumnID, _ slot: Int) -> Bool {
    assert(slot >= 0 && slot < count)
    if let cells = unsafe loaded(column, UInt8.self) { return unsafe cells[slot] != 0 }
    return isInImage(column) && image.bool(column, slot)
  }

  package func float(_ column: ColumnID, _ slot: Int) -> Float {
    assert(slot >= 0 && slot < count)
    if let cells = unsafe loaded(column, Float.self) { return unsafe cells[slot] }
    return isInImage(column) ? image.float(column, slot) : 0
  }

  package func double(_ column: ColumnID, _ slot: Int) -> Double {
    assert(slot >= 0 && slot < count)
    if let cells = unsafe loaded(column, Double.self) { return unsafe cells[slot] }
    return isInImage(column) ? image.double(column, slot) : 0
  }

  package func date(_ column: ColumnID, _ slot: Int) -> Timestamp {
    assert(slot >= 0 && slot < count)
    if let cells = unsafe loaded(column, Timestamp.self) { return unsafe cells[slot] }
    return isInImage(column)
      ? image.date(column, slot) : Timestamp(seconds: 0, nanoseconds: 0)
  }

  package func bytes12(_ column: ColumnID, _ slot: Int) -> Bytes12 {
    assert(slot >= 0 && slot < count)
    if let cells = unsafe loaded(column, UInt8.self) {
      let cell = unsafe UnsafeRawPointer(cells + 12 * slot)
      let high = unsafe cell.loadUnaligned(as: UInt64.self)
      let low = unsafe cell.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
      return Bytes12(high: high.bigEndian, low: low.bigEndian)
    }
    return isInImage(column) ? image.bytes12(column, slot) : Bytes12(high: 0, low: 0)
  }

  package func bytes16(_ column: ColumnID, _ slot: Int) -> Bytes16 {
    assert(slot >= 0 && slot < count)
    if let cells = unsafe loaded(column, UInt64.self) {
      let high = unsafe cells[2 * slot]
      return unsafe Bytes16(high: high.bigEndian, low: cells[2 * slot + 1].bigEndian)
    }
    return isInImage(column) ? image.bytes16(column, slot) : Bytes16(high: 0, low: 0)
  }

  /// The bytes of a string or data. `.long` only for a value that is in the file and not here. The
  /// buffer is valid until the cluster is changed.
  package func bytes(_ column: ColumnID, _ slot: Int) -> ClusterBytes {
    assert(slot >= 0 && slot < count)
    guard let cells = unsafe loaded(column, ByteCell.self) else {
      guard isInImage(column) else { return .null }
      // The rows were checked when the image was copied, so this cannot fail.
      return (try? image.bytes(column, slot)) ?? .null
    }
    let buffer = unsafe columns + column.index
    if unsafe (buffer.pointee.nulls?[slot] ?? 0) != 0 { return .null }
    let cell = unsafe cells[slot]
    if !cell.isInMemory { return .long(length: cell.length) }
    return unsafe .inline(buffer.pointee.arena.bytes(cell))
  }
}
