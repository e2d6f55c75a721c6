/// Writes records of variable length: little-endian words and varints (seven bits per byte, the
/// lowest first, the top bit set in all but the last).
struct RecordWriter {
  var bytes: [UInt8]

  init(capacity: Int) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// Continues with bytes that were written before.
  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func byte(_ value: UInt8) { bytes.append(value) }

  mutating func word<Word: FixedWidthInteger>(_ value: Word) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Overwrites a word written earlier.
  mutating func patch<Word: FixedWidthInteger>(_ value: Word, at offset: Int) {
    var rest = value
    for index in 0..<MemoryLayout<Word>.size {
      bytes[offset + index] = UInt8(truncatingIfNeeded: rest)
      rest >>= 8
    }
  }

  static func varintSize(_ value: UInt64) -> Int {
    value < 0x80 ? 1 : (70 - value.leadingZeroBitCount) / 7
  }
}
