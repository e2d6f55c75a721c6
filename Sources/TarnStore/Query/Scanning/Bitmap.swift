/// Operations on bitmaps.
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

  /// Moves the elements with a set bit to the front, in order, and returns their number.
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

  /// Packs one byte per row, each 0 or 1, into bits. Reads whole groups of 64 rows.
  static func pack(
    _ flags: UnsafeMutablePointer<UInt8>, _ words: Int, into target: UnsafeMutablePointer<UInt64>
  ) {
    let raw = UnsafeRawPointer(flags)
    for index in 0..<words {
      var word: UInt64 = 0
      for group in 0..<8 {
        let offset = index &* 64 &+ group &* 8
        let bytes = unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        // Byte i times 2^(56 - 7 i) moves its lowest bit to 56 + i; no two terms overlap.
        word |= ((bytes &* 0x0102_0408_1020_4080) >> 56) << UInt64(group &* 8)
      }
      unsafe target[index] = word
    }
  }
}
