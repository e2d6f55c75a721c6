/// The columns of the rows of one cluster, stored (`ClusterImage`) or under edit. The value of a
/// row without one is arbitrary: check `isNull` first.
package protocol RowReading {
  var rowCount: Int { get }
  func key(at slot: Int) -> ObjectKey
  /// May be true for a column that is not optional: this means the type's zero.
  func isNull(_ column: ColumnID, _ slot: Int) -> Bool
  func int(_ column: ColumnID, _ slot: Int) -> Int64
  func bool(_ column: ColumnID, _ slot: Int) -> Bool
  func float(_ column: ColumnID, _ slot: Int) -> Float
  func double(_ column: ColumnID, _ slot: Int) -> Double
  func date(_ column: ColumnID, _ slot: Int) -> Timestamp
  func bytes12(_ column: ColumnID, _ slot: Int) -> Bytes12
  func bytes16(_ column: ColumnID, _ slot: Int) -> Bytes16
  func bytes(_ column: ColumnID, _ slot: Int) throws(StorageError) -> ClusterBytes
}

extension ClusterImage: RowReading {}
extension WorkingCluster: RowReading {}

/// A cluster that is either stored or under edit. No enumeration: copying one with two payloads
/// takes a call through its type's witness table.
package struct RowCluster: RowReading {
  /// Nil for a cluster under edit.
  package let image: ClusterImage?
  /// Nil for a stored cluster.
  package let working: WorkingCluster?

  @inline(__always)
  package static func image(_ image: ClusterImage) -> RowCluster {
    RowCluster(image: image, working: nil)
  }

  @inline(__always)
  package static func working(_ cluster: WorkingCluster) -> RowCluster {
    RowCluster(image: nil, working: cluster)
  }

  @inline(__always)
  private func read<R>(_ stored: (ClusterImage) -> R, _ edited: (WorkingCluster) -> R) -> R {
    if let image { return stored(image) }
    return edited(working!)
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
    if let image { return try image.bytes(column, slot) }
    return working!.bytes(column, slot)
  }
}

extension RowReading {
  /// The value in the form of any type, nil if it is long, which means stored elsewhere. For a
  /// collection its cell, as data. Not for hot paths.
  package func value(_ column: ColumnSchema, _ slot: Int) throws(StorageError) -> Value? {
    let id = column.id
    if column.collection != .none { return try bytesValue(.data, isOptional: false, id, slot) }
    if column.isOptional && isNull(id, slot) { return .null }
    switch column.type {
    case .int: return .int(int(id, slot))
    case .link: return .link(ObjectKey(int(id, slot)))
    case .bool: return .bool(bool(id, slot))
    case .float: return .float(float(id, slot))
    case .double: return .double(double(id, slot))
    case .date: return .date(date(id, slot))
    case .objectID: return .objectID(bytes12(id, slot))
    case .decimal: return .decimal(bytes16(id, slot))
    case .uuid: return .uuid(bytes16(id, slot))
    case .string, .data, .any:
      return try bytesValue(column.type, isOptional: column.isOptional, id, slot)
    }
  }

  private func bytesValue(
    _ type: ColumnType, isOptional: Bool, _ column: ColumnID, _ slot: Int
  ) throws(StorageError) -> Value? {
    switch try bytes(column, slot) {
    case .null where isOptional: return .null
    case .null: return try unsafe Value(cell: UnsafeRawBufferPointer(start: nil, count: 0), type)
    case .inline(let bytes): return try unsafe Value(cell: bytes, type)
    case .long: return nil
    }
  }
}

extension Value {
  /// The value of a cell of that column, which is stored as bytes. For a collection the cell
  /// itself, as data.
  package init(
    cell bytes: UnsafeRawBufferPointer, of column: ColumnSchema
  ) throws(StorageError) {
    self = try unsafe Value(cell: bytes, column.collection == .none ? column.type : .data)
  }

  /// The value of the bytes of a string, data or mixed cell.
  package init(cell bytes: UnsafeRawBufferPointer, _ type: ColumnType) throws(StorageError) {
    switch type {
    case .string: self = unsafe .string(String(decoding: bytes, as: UTF8.self))
    case .any: self = try unsafe Value(tagged: bytes)
    default: self = unsafe .data([UInt8](bytes))
    }
  }
}
