/// Reads the bytes that a `RecordWriter` wrote, with bounds checks that throw `.corrupted`, because
/// the bytes come from a file.
@safe struct RecordReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset: Int
  private var end: Int

  init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 0) {
    unsafe self.bytes = bytes
    self.offset = offset
    end = bytes.count
  }

  var remaining: Int { end - offset }

  @inline(__always)
  mutating func byte() throws(StorageError) -> UInt8 {
    guard offset < end else { throw .damagedRecord("it ends early") }
    defer { offset += 1 }
    return unsafe bytes[offset]
  }

  @inline(__always)
  mutating func word<Word: FixedWidthInteger & BitwiseCopyable>(
    _ type: Word.Type = Word.self
  ) throws(StorageError) -> Word {
    guard remaining >= MemoryLayout<Word>.size else { throw .damagedRecord("it ends early") }
    defer { offset += MemoryLayout<Word>.size }
    return unsafe Word(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Word.self))
  }

  @inline(__always)
  mutating func varint() throws(StorageError) -> UInt64 {
    if offset < end {
      let first = unsafe bytes[offset]
      if first < 0x80 {
        offset += 1
        return UInt64(first)
      }
    }
    return try longVarint()
  }

  @inline(never)
  private mutating func longVarint() throws(StorageError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      if shift == 63 && next > 1 { throw .damagedRecord("a number is too large") }
      value |= UInt64(next & 0x7F) << shift
      if next < 0x80 { return value }
      shift += 7
      if shift > 63 { throw .damagedRecord("a number is too long") }
    }
  }

  /// A signed number, written with `RecordWriter.zigzag`.
  mutating func zigzag() throws(StorageError) -> Int64 {
    let number = try varint()
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  /// A varint that must fit the type.
  mutating func number<Number: FixedWidthInteger>(
    _ type: Number.Type = Number.self
  ) throws(StorageError) -> Number {
    guard let number = Number(exactly: try varint()) else {
      throw .damagedRecord("a number is too large")
    }
    return number
  }

  /// The next `count` bytes.
  mutating func rest(of count: Int) throws(StorageError) -> UnsafeRawBufferPointer {
    guard count >= 0 && count <= remaining else { throw .damagedRecord("it ends early") }
    defer { offset += count }
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  mutating func text() throws(StorageError) -> String {
    let count: Int = try number()
    return unsafe String(decoding: try rest(of: count), as: UTF8.self)
  }

  mutating func skip(_ count: Int) throws(StorageError) {
    guard count <= remaining else { throw .damagedRecord("it ends early") }
    offset += count
  }

  /// A reader of the next `count` bytes, which this one skips.
  mutating func part(_ count: Int) throws(StorageError) -> RecordReader {
    guard count >= 0 && count <= remaining else { throw .damagedRecord("it ends early") }
    var part = self
    part.end = offset + count
    offset += count
    return part
  }
}

extension StorageError {
  static func damagedRecord(_ detail: String) -> StorageError {
    StorageError(
      .corrupted, operation: "read record", path: "",
      detail: "A record is damaged: \(detail).")
  }

  static func newerRecord(_ detail: String) -> StorageError {
    StorageError(
      .newerFormat, operation: "read change record", path: "",
      detail: "A change record was written by a newer version of Tarn: \(detail).")
  }
}

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

  /// A signed number, as a varint that is short for numbers near zero on both sides.
  mutating func zigzag(_ value: Int64) { varint(Self.zigzag(value)) }

  static func zigzag(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: (value << 1) ^ (value >> 63))
  }

  mutating func text(_ text: String) {
    varint(UInt64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
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
