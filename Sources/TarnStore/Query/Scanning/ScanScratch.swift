/// Bitmaps of a cluster's rows and the scratch memory of a scan, sized by the largest cluster so
/// far. Bit i of word j is row 64 j + i; bits past the last row are zero.
///
/// It manages its memory instead of using arrays: a scan accesses it several times per cluster, and
/// an array would be checked for uniqueness and bounds each time.
@safe final class ScanScratch {
  /// The number of rows that fit; a multiple of 64.
  private(set) var capacity: Int
  /// One byte a row: 1 passes, 0 does not.
  private(set) var flags: UnsafeMutablePointer<UInt8>
  private(set) var ints: UnsafeMutablePointer<Int64>
  /// Nanoseconds of dates.
  private(set) var fines: UnsafeMutablePointer<Int32>
  private(set) var nulls: UnsafeMutablePointer<UInt64>
  /// As many bitmaps as the depth of the predicate's tree, one after another.
  private(set) var bitmaps: UnsafeMutablePointer<UInt64>
  private let bitmapCount: Int
  /// Strings in lower case, with room to read past the end.
  let text: UnsafeMutablePointer<UInt8>
  static let textBytes = ClusterFormat.imageBytesMax + 64

  init(bitmapCount: Int) {
    self.bitmapCount = bitmapCount
    capacity = 1024
    unsafe flags = .allocate(capacity: capacity)
    unsafe ints = .allocate(capacity: capacity)
    unsafe fines = .allocate(capacity: capacity)
    unsafe nulls = .allocate(capacity: capacity / 64)
    unsafe bitmaps = .allocate(capacity: capacity / 64 * bitmapCount)
    unsafe text = .allocate(capacity: Self.textBytes)
    unsafe flags.initialize(repeating: 0, count: capacity)
    unsafe text.initialize(repeating: 0, count: Self.textBytes)
  }

  deinit {
    unsafe flags.deallocate()
    unsafe ints.deallocate()
    unsafe fines.deallocate()
    unsafe nulls.deallocate()
    unsafe bitmaps.deallocate()
    unsafe text.deallocate()
  }

  /// Makes room; the contents of bitmaps are lost.
  @inline(__always)
  func reserve(rows: Int) {
    if rows > capacity { grow(rows) }
  }

  private func grow(_ rows: Int) {
    capacity = (rows + 63) & ~63
    unsafe flags.deallocate()
    unsafe ints.deallocate()
    unsafe fines.deallocate()
    unsafe nulls.deallocate()
    unsafe bitmaps.deallocate()
    unsafe flags = .allocate(capacity: capacity)
    unsafe ints = .allocate(capacity: capacity)
    unsafe fines = .allocate(capacity: capacity)
    unsafe nulls = .allocate(capacity: capacity / 64)
    unsafe bitmaps = .allocate(capacity: capacity / 64 * bitmapCount)
    unsafe flags.initialize(repeating: 0, count: capacity)
  }

  /// The bitmap of that number.
  @inline(__always)
  func bitmap(_ index: Int) -> UnsafeMutablePointer<UInt64> {
    assert(index < bitmapCount)
    return unsafe bitmaps + index * (capacity / 64)
  }
}
