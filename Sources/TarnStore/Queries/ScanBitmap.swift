/// Bitmaps of a cluster's rows and the scratch memory of a scan, sized by the largest cluster
/// that it met. Bit i of word j is row 64 j + i; bits past the last row are zero.
///
/// Memory of its own instead of arrays: a scan touches it several times a cluster, and an array
/// would be checked for uniqueness and bounds each time.
@safe final class ScanScratch {
  /// Rows for which there is room; a multiple of 64.
  private(set) var capacity: Int
  /// One byte a row: 1 passes, 0 does not.
  private(set) var flags: UnsafeMutablePointer<UInt8>
  private(set) var ints: UnsafeMutablePointer<Int64>
  /// Nanoseconds of dates.
  private(set) var fines: UnsafeMutablePointer<Int32>
  private(set) var nulls: UnsafeMutablePointer<UInt64>
  /// As many bitmaps as the predicate's tree is deep, one after the other.
  private(set) var bitmaps: UnsafeMutablePointer<UInt64>
  private let bitmapCount: Int
  /// Text in lower case, with room to read past its end.
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

  /// Makes room; bitmaps lose what they held.
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

/// What can be done with bitmaps of some words.
enum Bitmap {
  /// Sets the first `rows` bits and clears the rest of the last word.
  static func fill(_ target: UnsafeMutablePointer<UInt64>, rows: Int) {
    let full = rows >> 6
    for index in 0..<full { unsafe target[index] = .max }
    if rows & 63 != 0 { unsafe target[full] = (1 << UInt64(rows & 63)) - 1 }
  }

  static func isEmpty(_ bits: UnsafeMutablePointer<UInt64>, _ words: Int) -> Bool {
    var seen: UInt64 = 0
    for index in 0..<words { unsafe seen |= bits[index] }
    return seen == 0
  }

  static func count(_ bits: UnsafeMutablePointer<UInt64>, _ words: Int) -> Int {
    var count = 0
    for index in 0..<words { unsafe count += bits[index].nonzeroBitCount }
    return count
  }

  /// Calls `body` with the number of each set bit, ascending.
  @inline(__always)
  static func forEach<E: Error>(
    _ bits: UnsafePointer<UInt64>, _ words: Int, _ body: (Int) throws(E) -> Void
  ) throws(E) {
    for index in 0..<words {
      var word = unsafe bits[index]
      while word != 0 {
        try body(index << 6 + word.trailingZeroBitCount)
        word &= word - 1
      }
    }
  }

  /// Moves the elements with a set bit to the front, in order, and returns how many they are.
  static func compact(
    _ values: UnsafeMutablePointer<Int64>, _ bits: UnsafePointer<UInt64>, _ words: Int
  ) -> Int {
    var kept = 0
    for index in 0..<words {
      var word = unsafe bits[index]
      if word == .max {
        if kept != index << 6 {
          for slot in 0..<64 { unsafe values[kept &+ slot] = values[index << 6 &+ slot] }
        }
        kept &+= 64
        continue
      }
      while word != 0 {
        unsafe values[kept] = values[index << 6 &+ word.trailingZeroBitCount]
        kept &+= 1
        word &= word - 1
      }
    }
    return kept
  }

  /// Gathers a byte a row, each 0 or 1, into bits. Reads whole groups of 64 rows.
  static func pack(
    _ flags: UnsafeMutablePointer<UInt8>, _ words: Int, into target: UnsafeMutablePointer<UInt64>
  ) {
    let raw = UnsafeRawPointer(flags)
    for index in 0..<words {
      var word: UInt64 = 0
      for group in 0..<8 {
        let offset = index &* 64 &+ group &* 8
        let bytes = unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        // Byte i times 2^(56 - 7 i) puts its lowest bit at 56 + i; no two terms meet.
        word |= ((bytes &* 0x0102_0408_1020_4080) >> 56) << UInt64(group &* 8)
      }
      unsafe target[index] = word
    }
  }
}
