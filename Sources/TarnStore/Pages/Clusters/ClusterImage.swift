import CTarn

/// A view of a cluster's bytes. `init(validating:)` checks the header and the columns' descriptors
/// once, in time independent of the rows; data that a row points to is checked when it is read. So
/// no read leaves the bytes, whatever they contain.
///
/// The view does not own the bytes: neither it nor any buffer that it returns may be used after the
/// memory is freed. Any thread may use it.
@safe package struct ClusterImage {
  let base: UnsafeRawPointer
  /// Rows in this cluster; slots are `0..<rowCount`.
  package let rowCount: Int
  /// The number of columns in the image; later ones read as the default.
  package let columnCount: Int

  /// Throws `.corrupted` if the descriptors are inconsistent or point outside of the bytes,
  /// `.newerFormat` for an unsupported format.
  package init(validating bytes: UnsafeRawBufferPointer) throws(StorageError) {
    guard let base = bytes.baseAddress,
      bytes.count >= ClusterFormat.headerBytes + ClusterFormat.paddingBytes
    else { throw Self.corrupted("it is too short") }
    let format = unsafe base.load(as: UInt8.self)
    let flags = unsafe base.load(fromByteOffset: 1, as: UInt8.self)
    guard format == UInt8(TARN_CLUSTER_FORMAT), flags == 0 else {
      if format == 0 { throw Self.corrupted("it has no format") }
      throw StorageError(
        .newerFormat, operation: "read cluster", path: "",
        detail: "a cluster has format \(format).\(flags), which this version does not support")
    }
    unsafe self.base = unsafe base
    rowCount = unsafe Little.u16(base, 2)
    columnCount = unsafe Little.u16(base, 4)
    guard unsafe Little.u16(base, 6) == bytes.count else {
      throw Self.corrupted("its length differs from the stated one")
    }
    try validate(limit: bytes.count - ClusterFormat.paddingBytes)
  }

  /// The image of a cluster without rows and columns.
  package static var empty: ClusterImage { unsafe ClusterImage(trusting: tarn_cluster_empty()) }

  /// For bytes that were valid when they were copied, or that this process created.
  init(trusting base: UnsafeRawPointer) {
    unsafe self.base = unsafe base
    rowCount = unsafe Little.u16(base, 2)
    columnCount = unsafe Little.u16(base, 4)
  }

  /// All bytes of the image.
  package var bytes: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: base, count: Little.u16(base, 6))
  }

  static func corrupted(_ detail: String) -> StorageError {
    StorageError(
      .corrupted, operation: "read cluster", path: "", detail: "a cluster is damaged: \(detail)")
  }

  /// Compares the checksum with the bytes. Not part of validation, because it reads every byte.
  package func verifyChecksum() throws(StorageError) {
    guard unsafe PageSeal.isWhole(base, byteCount: bytes.count) else {
      throw Self.corrupted("its checksum is wrong")
    }
  }
}

// MARK: - Keys

extension ClusterImage {
  package func key(at slot: Int) -> ObjectKey {
    require(slot >= 0 && slot < rowCount, "no such row")
    return unsafe ObjectKey(tarn_cluster_key(base, UInt32(truncatingIfNeeded: slot)))
  }

  /// True if each row's key is that of the row before plus one.
  var hasDenseKeys: Bool { unsafe base.load(fromByteOffset: 12, as: UInt8.self) == 0 }

  /// The first slot whose key is not less than `key`; `rowCount` without one.
  package func slot(atOrAfter key: ObjectKey) -> Int {
    guard hasDenseKeys else { return (0..<rowCount).partitioningIndex { self.key(at: $0) >= key } }
    // Dense keys: the slot is the distance to the first key.
    guard rowCount > 0, key > self.key(at: 0) else { return 0 }
    let first = self.key(at: 0).rawValue
    let distance = UInt64(bitPattern: key.rawValue &- first)
    return distance < UInt64(rowCount) ? Int(distance) : rowCount
  }

  /// The slot of the row with that key, or nil.
  package func slot(of key: ObjectKey) -> Int? {
    let slot = slot(atOrAfter: key)
    return slot < rowCount && self.key(at: slot) == key ? slot : nil
  }
}

// MARK: - Validation

extension ClusterImage {
  /// Checks the header and descriptors, but not the data that they point to: that would cost a
  /// cache miss per column. `limit` is where the padding starts.
  private func validate(limit: Int) throws(StorageError) {
    let tableEnd = ClusterFormat.headerBytes + columnCount * ClusterFormat.descriptorBytes
    guard tableEnd <= limit else { throw Self.corrupted("its columns do not fit") }
    let width = unsafe Int(base.load(fromByteOffset: 12, as: UInt8.self))
    let offsets = unsafe Little.u16(base, 14)
    guard width == 0 || Self.isWidth(width) && offsets + rowCount * width <= limit else {
      throw Self.corrupted("its keys do not fit")
    }
    for index in 0..<columnCount {
      let column = unsafe tarn_cluster_column(base, UInt32(truncatingIfNeeded: index))
      guard fits(column, limit) else { throw Self.corrupted("column \(index) does not fit") }
    }
  }

  @inline(__always)
  private static func isWidth(_ width: Int) -> Bool {
    width <= 2 || width == 4 || width == 8
  }

  /// A scan checks this for every column of every cluster. Sums of two 16-bit numbers and a product
  /// of two cannot overflow.
  @inline(__always)
  private func fits(_ column: tarn_column, _ limit: Int) -> Bool {
    let bitmap = Little.bitmapBytes(rowCount)
    let width = Int(column.width)
    let data = Int(column.data)
    let aux = Int(column.aux)
    if column.nulls != 0, Int(column.nulls) &+ bitmap > limit { return false }
    switch Int(column.kind) {
    case TARN_KIND_ABSENT, TARN_KIND_KEY:
      return column.nulls == 0
    case TARN_KIND_INT:
      return Self.isWidth(width) && aux &+ 8 <= limit && data &+ width &* rowCount <= limit
    case TARN_KIND_BOOL:
      return data &+ bitmap <= limit
    case TARN_KIND_FIXED:
      let isKnown = width == 4 || width == 8 || width == 12 || width == 16
      return isKnown && data &+ width &* rowCount <= limit
    case TARN_KIND_DATE:
      let fine = width >> 4
      return Self.isWidth(width & 15) && (fine == 0 || fine == 4)
        && aux &+ 12 &+ fine &* rowCount <= limit && data &+ (width & 15) &* rowCount <= limit
    case TARN_KIND_BYTES:
      guard width == 0 || width == Int(TARN_LONG_BITMAP) && data >= bitmap else { return false }
      return data &+ 2 &* rowCount &+ 2 <= limit && aux <= limit
    case TARN_KIND_DICTIONARY:
      return data &+ rowCount <= limit && aux &+ 2 &* width &+ 2 <= limit
    default:
      return false
    }
  }
}
