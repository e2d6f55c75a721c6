internal import CTarn

/// The checksum of everything in a file: CRC-32C. A record or page stores it as a seal, which is
/// written when the bytes are complete and checked before they are trusted.
enum Checksum {
  @inline(__always)
  static func of(_ bytes: UnsafeRawBufferPointer, after seed: UInt32 = 0) -> UInt32 {
    unsafe tarn_crc32c_after(seed, bytes.baseAddress, bytes.count)
  }

  static func of(_ bytes: [UInt8]) -> UInt32 {
    unsafe bytes.withUnsafeBytes { bytes in unsafe of(bytes) }
  }
}

/// The seal of a record: its last four bytes, the checksum of all before them.
enum RecordSeal {
  static let byteCount = 4

  /// The length without the seal; nil for a record that is too short for one, or whose seal is
  /// broken.
  @inline(__always)
  static func contentCount(_ bytes: UnsafeRawBufferPointer) -> Int? {
    let count = bytes.count - byteCount
    guard count >= 0 else { return nil }
    let seal = unsafe bytes.loadUnaligned(fromByteOffset: count, as: UInt32.self)
    let content = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
    return unsafe Checksum.of(content) == UInt32(littleEndian: seal) ? count : nil
  }

  /// Writes the seal into the last bytes.
  @inline(__always)
  static func close(_ bytes: UnsafeMutableRawBufferPointer) {
    let count = bytes.count - byteCount
    let sum = unsafe Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    unsafe bytes.storeBytes(of: sum.littleEndian, toByteOffset: count, as: UInt32.self)
  }
}

/// The seal of a page of rows, of index entries or of row counts: a word in its header, the
/// checksum of the bytes after that word.
enum PageSeal {
  static let offset = 8
  static let coveredFrom = 12

  @inline(__always)
  static func isWhole(_ page: UnsafeRawPointer, byteCount: Int) -> Bool {
    let seal = unsafe page.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    return unsafe sum(page, byteCount) == UInt32(littleEndian: seal)
  }

  @inline(__always)
  static func close(_ page: UnsafeMutableRawPointer, byteCount: Int) {
    let sum = unsafe sum(page, byteCount)
    unsafe page.storeBytes(of: sum.littleEndian, toByteOffset: offset, as: UInt32.self)
  }

  @inline(__always)
  private static func sum(_ page: UnsafeRawPointer, _ byteCount: Int) -> UInt32 {
    unsafe tarn_crc32c(page + coveredFrom, byteCount - coveredFrom)
  }
}

extension RecordWriter {
  /// Appends the seal of the record.
  mutating func seal() { word(Checksum.of(bytes)) }
}

extension RecordReader {
  /// A reader of a sealed record, after its format.
  static func sealed(
    _ bytes: UnsafeRawBufferPointer, formats: ClosedRange<UInt8>, _ what: String
  ) throws(StorageError) -> RecordReader {
    guard bytes.count > RecordSeal.byteCount + 1 else {
      throw .damagedRecord("\(what) is too short")
    }
    guard unsafe RecordSeal.contentCount(bytes) != nil else {
      throw .damagedRecord("the checksum of \(what) is wrong")
    }
    var reader = unsafe RecordReader(bytes)
    let found = try reader.byte()
    guard found <= formats.upperBound else {
      throw .newerRecord(
        "\(what) has format \(found), this library reads up to \(formats.upperBound)")
    }
    guard formats.contains(found) else { throw .damagedRecord("\(what) has an impossible format") }
    return reader
  }

  /// True if nothing but the seal is left.
  var isAtSeal: Bool { remaining == RecordSeal.byteCount }
}
