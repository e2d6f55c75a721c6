import CTarn

extension ClusterImage {
  /// Checks every row: keys ascend, strings are inside the image, codes have entries, nothing
  /// overlaps, and the kinds match the schema. Throws `.corrupted` otherwise. Called before rows
  /// are edited, so that damage is not written back and a value written in place cannot change
  /// another, and when a file is checked.
  package func checkRows(_ schema: ClassSchema) throws(StorageError) {
    let key = schema.keyIsPrimary ? schema.primaryKey : nil
    try checkRows(columnCount: schema.columns.count) { index in
      ColumnStorage(schema.columns[index], isKey: key?.index == index)
    }
  }

  /// The same for columns whose storage the caller knows.
  @inline(__always)
  func checkRows(
    columnCount known: Int, storage: (Int) -> ColumnStorage
  ) throws(StorageError) {
    try checkKeys()
    var end = ClusterFormat.headerBytes + columnCount * ClusterFormat.descriptorBytes
    let keyWidth = unsafe Int(base.load(fromByteOffset: 12, as: UInt8.self))
    if keyWidth != 0 {
      let offsets = unsafe Little.u16(base, 14)
      guard offsets >= end else { throw Self.corrupted("its keys overlap its columns") }
      end = offsets + keyWidth * rowCount
    }
    for index in 0..<columnCount {
      let descriptor = unsafe tarn_cluster_column(base, UInt32(index))
      if descriptor.kind == 0 { continue }
      guard pass(descriptor, &end) else { throw Self.corrupted("column \(index) overlaps") }
      guard index < known else { throw Self.corrupted("it has more columns than its class") }
      let storage = storage(index)
      if storage == .none { continue }
      guard storage.accepts(descriptor) else {
        throw Self.corrupted("column \(index) has another type than in the schema")
      }
      if storage == .bytes { try checkBytes(descriptor, index) }
    }
  }

  private func checkKeys() throws(StorageError) {
    guard rowCount > 0 else { return }
    if unsafe base.load(fromByteOffset: 12, as: UInt8.self) == 0 {
      guard key(at: rowCount - 1) >= key(at: 0) else { throw Self.corrupted("keys overflow") }
      return
    }
    var last = key(at: 0)
    for slot in 1..<max(1, rowCount) {
      let key = unsafe ObjectKey(tarn_cluster_key(base, UInt32(truncatingIfNeeded: slot)))
      guard last < key else { throw Self.corrupted("its keys do not ascend") }
      last = key
    }
  }

  /// Moves `end` past the column's parts. False if they are not in order after `end` and before the
  /// padding.
  private func pass(_ column: tarn_column, _ end: inout Int) -> Bool {
    let limit = unsafe bytes.count - ClusterFormat.paddingBytes
    if column.nulls != 0 {
      guard Int(column.nulls) >= end else { return false }
      end = Int(column.nulls) + Little.bitmapBytes(rowCount)
    }
    let parts = parts(column)
    if parts.isEmpty { return true }
    guard parts.first >= end, parts.middle <= parts.second, parts.end <= limit else { return false }
    end = parts.end
    return true
  }

  private func checkBytes(_ descriptor: tarn_column, _ index: Int) throws(StorageError) {
    let id = ColumnID(UInt16(truncatingIfNeeded: index))
    // The last end was checked with the column's parts.
    if Int32(descriptor.kind) == Int32(TARN_KIND_BYTES) {
      guard unsafe Self.ascend(base + Int(descriptor.data), rowCount) else {
        throw Self.corrupted("the strings of column \(index) overlap")
      }
      guard descriptor.width != 0 else { return }
      for slot in 0..<rowCount { _ = try bytes(id, slot) }
      return
    }
    guard unsafe Self.ascend(base + Int(descriptor.aux), Int(descriptor.width)) else {
      throw Self.corrupted("the dictionary of column \(index) overlaps")
    }
    let codes = unsafe base + Int(descriptor.data)
    var highest: UInt8 = 0
    for slot in 0..<rowCount {
      unsafe highest = max(highest, codes.load(fromByteOffset: slot, as: UInt8.self))
    }
    if highest < descriptor.width { return }
    for slot in 0..<rowCount where !isNull(id, slot) {
      guard unsafe codes.load(fromByteOffset: slot, as: UInt8.self) < descriptor.width else {
        throw Self.corrupted("column \(index) has a code without an entry")
      }
    }
  }

  /// True if `count` offsets of 16 bits and the one after them never decrease. Eight at a time:
  /// every query on strings checks every cluster.
  static func ascend(_ offsets: UnsafeRawPointer, _ count: Int) -> Bool {
    var wrong = SIMD8<UInt16>()
    var index = 0
    while index &+ 8 <= count {
      let starts = unsafe offsets.loadUnaligned(fromByteOffset: 2 &* index, as: SIMD8<UInt16>.self)
      let ends = unsafe offsets.loadUnaligned(
        fromByteOffset: 2 &* index &+ 2, as: SIMD8<UInt16>.self)
      wrong |= pointwiseMax(starts, ends) ^ ends
      index &+= 8
    }
    while index < count {
      if unsafe Little.u16(offsets, 2 &* index) > Little.u16(offsets, 2 &* index &+ 2) {
        return false
      }
      index &+= 1
    }
    let words = unsafe unsafeBitCast(wrong, to: SIMD2<UInt64>.self)
    return words[0] | words[1] == 0
  }
}
