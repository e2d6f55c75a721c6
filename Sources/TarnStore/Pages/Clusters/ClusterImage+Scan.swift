import CTarn

// Decoding whole columns. Every target buffer needs room for `rowCount` elements, a bitmap for
// `bitmapWords` words; bits past the last row are zero. Rows without a value decode to arbitrary
// values: combine them with `decodeNulls`.

/// An integer column as stored in the image: `base` plus an unsigned number of `width` bytes per
/// row. A comparison can run over the stored bytes, or be decided for all rows by the range alone.
@safe package struct PackedInts {
  package let base: Int64
  /// 0, 1, 2, 4 or 8.
  package let width: Int
  /// The numbers, unaligned; empty if `width` is 0.
  package let data: UnsafeRawPointer
  /// Whether some rows may be null.
  package let hasNulls: Bool

  /// Bounds of all values; nil if they are not restricted.
  package var range: ClosedRange<Int64>? {
    guard width < 8 else { return nil }
    let span = (Int64(1) << (8 * Int64(width))) - 1
    let (end, overflow) = base.addingReportingOverflow(span)
    return base...(overflow ? Int64.max : end)
  }
}

/// The distinct values of a dictionary column, and each row's code.
@safe package struct ClusterDictionary {
  /// A code per row; that of a row without a value is meaningless.
  package let codes: UnsafePointer<UInt8>
  /// The number of entries; codes are below it unless the image is damaged.
  package let count: Int
  package let hasNulls: Bool
  let image: ClusterImage
  let ends: Int

  /// The bytes of an entry. Throws `.corrupted` if they extend past the image.
  package func entry(_ code: Int) throws(StorageError) -> UnsafeRawBufferPointer {
    require(code >= 0 && code < count, "no such entry")
    let start = unsafe Little.u16(image.base, ends + 2 * code)
    let end = unsafe Little.u16(image.base, ends + 2 * code + 2)
    let found = unsafe tarn_bytes_between(
      image.base.assumingMemoryBound(to: UInt8.self), UInt32(ends + 2 * (count + 1)),
      UInt32(start), UInt32(end))
    guard found.state == TARN_STATE_VALUE else {
      throw ClusterImage.corrupted("an entry of a dictionary is out of bounds")
    }
    return unsafe UnsafeRawBufferPointer(start: found.bytes, count: Int(found.length))
  }
}

extension ClusterImage {
  /// The number of 64-bit words in a bitmap of the rows.
  package var bitmapWords: Int { (rowCount + 63) >> 6 }

  /// The keys of all rows, ascending.
  package func decodeKeys(into target: UnsafeMutablePointer<Int64>) {
    let width = unsafe Int(base.load(fromByteOffset: 12, as: UInt8.self))
    let first = unsafe Int64(bitPattern: Little.u64(base, 16))
    if width == 0 {
      for slot in 0..<rowCount { unsafe target[slot] = first &+ Int64(slot) }
    } else {
      let data = unsafe base + Little.u16(base, 14)
      unsafe Self.unpack(data, width, first, rowCount, into: target)
    }
  }

  /// An integer or link column as stored, nil if it is absent or the key.
  package func packedInts(_ column: ColumnID) -> PackedInts? {
    let descriptor = descriptor(column)
    guard Int32(descriptor.kind) == Int32(TARN_KIND_INT) else { return nil }
    return unsafe PackedInts(
      base: Int64(bitPattern: Little.u64(base, Int(descriptor.aux))),
      width: Int(descriptor.width), data: base + Int(descriptor.data),
      hasNulls: descriptor.nulls != 0)
  }

  /// The values of an integer, link or key column.
  package func decodeInts(_ column: ColumnID, into target: UnsafeMutablePointer<Int64>) {
    if let packed = packedInts(column) {
      unsafe Self.unpack(packed.data, packed.width, packed.base, rowCount, into: target)
    } else if kind(column) == .key {
      unsafe decodeKeys(into: target)
    } else {
      unsafe target.update(repeating: 0, count: rowCount)
    }
  }

  /// The same for rows in some slots; `target` needs room for these.
  func decodeInts(
    _ column: ColumnID, in slots: Range<Int>, into target: UnsafeMutablePointer<Int64>
  ) {
    guard let packed = packedInts(column) else {
      for (index, slot) in slots.enumerated() { unsafe target[index] = int(column, slot) }
      return
    }
    let data = unsafe packed.data + packed.width * slots.lowerBound
    unsafe Self.unpack(data, packed.width, packed.base, slots.count, into: target)
  }

  /// The values of a bool column, one bit per row.
  package func decodeBools(_ column: ColumnID, into target: UnsafeMutablePointer<UInt64>) {
    let descriptor = descriptor(column)
    let isBool = Int32(descriptor.kind) == Int32(TARN_KIND_BOOL)
    unsafe decodeBitmap(isBool ? base + Int(descriptor.data) : nil, into: target)
  }

  /// A set bit for every row without a value; all set for an absent column. True if any bit is set.
  @discardableResult
  package func decodeNulls(
    _ column: ColumnID, into target: UnsafeMutablePointer<UInt64>
  ) -> Bool {
    let descriptor = descriptor(column)
    if descriptor.kind == 0 {
      unsafe target.update(repeating: .max, count: bitmapWords)
      unsafe clearPastRows(target)
      return rowCount > 0
    }
    unsafe decodeBitmap(descriptor.nulls == 0 ? nil : base + Int(descriptor.nulls), into: target)
    return descriptor.nulls != 0
  }

  package func decodeDoubles(_ column: ColumnID, into target: UnsafeMutablePointer<Double>) {
    let descriptor = descriptor(column)
    let isFixed = Int32(descriptor.kind) == Int32(TARN_KIND_FIXED)
    if isFixed, descriptor.width == 8 {
      unsafe UnsafeMutableRawPointer(target).copyMemory(
        from: base + Int(descriptor.data), byteCount: 8 * rowCount)
    } else {
      unsafe target.update(repeating: 0, count: rowCount)
    }
  }

  /// The two parts of a date column's values.
  package func decodeDates(
    _ column: ColumnID, seconds: UnsafeMutablePointer<Int64>,
    nanoseconds: UnsafeMutablePointer<Int32>
  ) {
    let descriptor = descriptor(column)
    guard Int32(descriptor.kind) == Int32(TARN_KIND_DATE) else {
      unsafe seconds.update(repeating: 0, count: rowCount)
      unsafe nanoseconds.update(repeating: 0, count: rowCount)
      return
    }
    let aux = unsafe base + Int(descriptor.aux)
    let first = unsafe Int64(bitPattern: Little.u64(aux, 0))
    let data = unsafe base + Int(descriptor.data)
    unsafe Self.unpack(data, Int(descriptor.width & 15), first, rowCount, into: seconds)
    let firstFine = unsafe aux.loadUnaligned(fromByteOffset: 8, as: Int32.self)
    if descriptor.width >> 4 == 0 {
      unsafe nanoseconds.update(repeating: firstFine, count: rowCount)
    } else {
      for slot in 0..<rowCount {
        let fine = unsafe aux.loadUnaligned(fromByteOffset: 12 + 4 * slot, as: Int32.self)
        unsafe nanoseconds[slot] = firstFine &+ fine
      }
    }
  }

  /// The dictionary of a string or data column, nil if the image stores the column differently.
  package func dictionary(_ column: ColumnID) -> ClusterDictionary? {
    let descriptor = descriptor(column)
    guard Int32(descriptor.kind) == Int32(TARN_KIND_DICTIONARY) else { return nil }
    let codes = unsafe (base + Int(descriptor.data)).assumingMemoryBound(to: UInt8.self)
    return unsafe ClusterDictionary(
      codes: codes, count: Int(descriptor.width),
      hasNulls: descriptor.nulls != 0, image: self, ends: Int(descriptor.aux))
  }
}

// MARK: - Loops

extension ClusterImage {
  /// Widens `count` numbers of `width` bytes and adds `base` to each.
  private static func unpack(
    _ data: UnsafeRawPointer, _ width: Int, _ base: Int64, _ count: Int,
    into target: UnsafeMutablePointer<Int64>
  ) {
    switch width {
    case 0: unsafe target.update(repeating: base, count: count)
    case 1: unsafe unpack(data, UInt8.self, base, count, into: target)
    case 2: unsafe unpack(data, UInt16.self, base, count, into: target)
    case 4: unsafe unpack(data, UInt32.self, base, count, into: target)
    default: unsafe unpack(data, UInt64.self, base, count, into: target)
    }
  }

  @inline(__always)
  private static func unpack<T: FixedWidthInteger & BitwiseCopyable>(
    _ data: UnsafeRawPointer, _: T.Type, _ base: Int64, _ count: Int,
    into target: UnsafeMutablePointer<Int64>
  ) {
    for slot in 0..<count {
      let offset = unsafe data.loadUnaligned(
        fromByteOffset: slot &* MemoryLayout<T>.size, as: T.self)
      unsafe target[slot] = base &+ Int64(truncatingIfNeeded: offset)
    }
  }

  private func decodeBitmap(_ bits: UnsafeRawPointer?, into target: UnsafeMutablePointer<UInt64>) {
    unsafe target.update(repeating: 0, count: bitmapWords)
    guard let bits = unsafe bits else { return }
    unsafe UnsafeMutableRawPointer(target).copyMemory(
      from: bits, byteCount: Little.bitmapBytes(rowCount))
    unsafe clearPastRows(target)
  }

  private func clearPastRows(_ target: UnsafeMutablePointer<UInt64>) {
    let used = rowCount & 63
    if used != 0 { unsafe target[bitmapWords - 1] &= (1 << UInt64(used)) - 1 }
  }
}
