import CTarn

// One test over one column of a cluster: every kernel sets a bit in `hits` for each row whose
// stored value passes. The caller handles nulls and negation. Loops are plain and branch-free, so
// that the compiler vectorizes them.

extension ScanScratch {
  /// Rows whose integer, link or key is in the domain.
  func testInts(
    _ image: ClusterImage, _ column: ColumnID, _ domain: Domain<Int64>,
    _ hits: UnsafeMutablePointer<UInt64>
  ) {
    let words = image.bitmapWords
    guard case .range(let low, let high) = domain else {
      unsafe image.decodeInts(column, into: ints)
      for slot in 0..<image.rowCount { unsafe flags[slot] = domain.contains(ints[slot]) ? 1 : 0 }
      unsafe Bitmap.pack(flags, words, into: hits)
      return
    }
    guard let packed = image.packedInts(column) else {
      unsafe image.decodeInts(column, into: ints)
      for slot in 0..<image.rowCount {
        unsafe flags[slot] = (ints[slot] >= low ? 1 : 0) & (ints[slot] <= high ? 1 : 0)
      }
      unsafe Bitmap.pack(flags, words, into: hits)
      return
    }
    unsafe testPacked(packed, image.rowCount, low, high, hits)
  }

  /// Compares the stored offsets with the domain minus the base, without unpacking them.
  private func testPacked(
    _ packed: PackedInts, _ rows: Int, _ low: Int64, _ high: Int64,
    _ hits: UnsafeMutablePointer<UInt64>
  ) {
    let words = (rows + 63) >> 6
    // Offsets of eight bytes wrap around: a row changed in place may be less than the base.
    if packed.width == 8, low <= high {
      let first = UInt64(bitPattern: low &- packed.base)
      unsafe testRange(packed.data, rows, first, UInt64(bitPattern: high &- low))
      return unsafe Bitmap.pack(flags, words, into: hits)
    }
    let widest: UInt64 = (1 << UInt64(8 * packed.width)) &- 1
    guard low <= high, high >= packed.base else {
      for index in 0..<words { unsafe hits[index] = 0 }
      return
    }
    // Differences of two Int64 fit a UInt64 once their order is known.
    let first = low <= packed.base ? 0 : UInt64(bitPattern: low &- packed.base)
    let last = min(UInt64(bitPattern: high &- packed.base), widest)
    guard first <= last else {
      for index in 0..<words { unsafe hits[index] = 0 }
      return
    }
    if first == 0 && last == widest {
      unsafe Bitmap.fill(hits, rows: rows)
      return
    }
    let data = unsafe packed.data
    let span = last - first
    switch packed.width {
    case 1: unsafe testRange(data, rows, UInt8(first), UInt8(span))
    case 2: unsafe testRange(data, rows, UInt16(first), UInt16(span))
    default: unsafe testRange(data, rows, UInt32(first), UInt32(span))
    }
    unsafe Bitmap.pack(flags, words, into: hits)
  }

  @inline(__always)
  private func testRange<T: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ data: UnsafeRawPointer, _ rows: Int, _ first: T, _ span: T
  ) {
    let flags = unsafe self.flags
    for slot in 0..<rows {
      let value = unsafe data.loadUnaligned(
        fromByteOffset: slot &* MemoryLayout<T>.size, as: T.self)
      unsafe flags[slot] = value &- first <= span ? 1 : 0
    }
  }

  /// Rows whose float or double passes; `nanPasses` tests for NaN instead of the range.
  func testFloats<T: BinaryFloatingPoint & BitwiseCopyable & Sendable>(
    _ image: ClusterImage, _ column: ColumnID, _ domain: Domain<T>,
    _ hits: UnsafeMutablePointer<UInt64>
  ) {
    let words = image.bitmapWords
    guard let data = unsafe fixedData(image, column, MemoryLayout<T>.size) else {
      unsafe fillAll(image, domain.contains(0), hits)
      return
    }
    let flags = unsafe self.flags
    switch domain {
    case .range(let low, let high):
      for slot in 0..<image.rowCount {
        let value = unsafe data.loadUnaligned(
          fromByteOffset: slot &* MemoryLayout<T>.size, as: T.self)
        unsafe flags[slot] = (value >= low ? 1 : 0) & (value <= high ? 1 : 0)
      }
    case .set:
      for slot in 0..<image.rowCount {
        let value = unsafe data.loadUnaligned(
          fromByteOffset: slot &* MemoryLayout<T>.size, as: T.self)
        unsafe flags[slot] = domain.contains(value) ? 1 : 0
      }
    }
    unsafe Bitmap.pack(flags, words, into: hits)
  }

  /// Rows whose float or double is NaN.
  func testNaN<T: BinaryFloatingPoint & BitwiseCopyable>(
    _ image: ClusterImage, _ column: ColumnID, _: T.Type, _ hits: UnsafeMutablePointer<UInt64>
  ) {
    guard let data = unsafe fixedData(image, column, MemoryLayout<T>.size) else {
      unsafe fillAll(image, false, hits)
      return
    }
    let flags = unsafe self.flags
    for slot in 0..<image.rowCount {
      let value = unsafe data.loadUnaligned(
        fromByteOffset: slot &* MemoryLayout<T>.size, as: T.self)
      unsafe flags[slot] = value == value ? 0 : 1
    }
    unsafe Bitmap.pack(flags, image.bitmapWords, into: hits)
  }

  func testDates(
    _ image: ClusterImage, _ column: ColumnID, _ domain: Domain<Timestamp>,
    _ hits: UnsafeMutablePointer<UInt64>
  ) {
    unsafe image.decodeDates(column, seconds: ints, nanoseconds: fines)
    let (flags, ints, fines) = unsafe (self.flags, self.ints, self.fines)
    switch domain {
    case .range(let low, let high):
      for slot in 0..<image.rowCount {
        let (seconds, fine) = unsafe (ints[slot], fines[slot])
        let isLow: UInt8 =
          (seconds > low.seconds ? 1 : 0)
          | ((seconds == low.seconds ? 1 : 0) & (fine >= low.nanoseconds ? 1 : 0))
        let isHigh: UInt8 =
          (seconds < high.seconds ? 1 : 0)
          | ((seconds == high.seconds ? 1 : 0) & (fine <= high.nanoseconds ? 1 : 0))
        unsafe flags[slot] = isLow & isHigh
      }
    case .set:
      for slot in 0..<image.rowCount {
        let date = unsafe Timestamp(seconds: ints[slot], nanoseconds: fines[slot])
        unsafe flags[slot] = domain.contains(date) ? 1 : 0
      }
    }
    unsafe Bitmap.pack(flags, image.bitmapWords, into: hits)
  }

  /// Any test, by a function of the slot.
  @inline(__always)
  func testEach<E: Error>(
    _ image: ClusterImage, _ hits: UnsafeMutablePointer<UInt64>,
    _ passes: (Int) throws(E) -> Bool
  ) throws(E) {
    for slot in 0..<image.rowCount { unsafe flags[slot] = try passes(slot) ? 1 : 0 }
    unsafe Bitmap.pack(flags, image.bitmapWords, into: hits)
  }

  func fillAll(_ image: ClusterImage, _ value: Bool, _ hits: UnsafeMutablePointer<UInt64>) {
    if value {
      unsafe Bitmap.fill(hits, rows: image.rowCount)
    } else {
      for index in 0..<image.bitmapWords { unsafe hits[index] = 0 }
    }
  }

  /// The address of the values of a column of fixed width, or nil if the image has none.
  private func fixedData(
    _ image: ClusterImage, _ column: ColumnID, _ width: Int
  ) -> UnsafeRawPointer? {
    let descriptor = image.descriptor(column)
    guard Int32(descriptor.kind) == Int32(TARN_KIND_FIXED), Int(descriptor.width) == width else {
      return nil
    }
    return unsafe image.base + Int(descriptor.data)
  }
}
