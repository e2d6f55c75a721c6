/// Writes numbers with their most significant byte first: the order of networks, in which
/// PostgreSQL sends values, and that of a replica's records in the file.
struct BigEndianWriter {
  private(set) var bytes: [UInt8] = []

  /// - Parameter capacity: the expected number of bytes.
  init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  mutating func write<Number: FixedWidthInteger>(_ number: Number) {
    unsafe withUnsafeBytes(of: number.bigEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  mutating func write(_ more: [UInt8]) { bytes += more }

  /// Writes small numbers in few bytes: seven bits each, the lowest first.
  mutating func writeVariable(_ number: UInt64) {
    var rest = number
    while rest > 0x7f {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func write(count: Int) { writeVariable(UInt64(count)) }

  /// Writes a text after its length.
  mutating func write(text: String) {
    write(count: text.utf8.count)
    write(Array(text.utf8))
  }

  /// Writes texts after their number.
  mutating func write(texts: [String]) {
    write(count: texts.count)
    for text in texts { write(text: text) }
  }
}

/// Reads numbers with their most significant byte first. The bytes of a server may end anywhere.
struct BigEndianReader {
  private let bytes: [UInt8]
  /// The position of the next number.
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { place == bytes.count }

  /// The next number; nil if the bytes end before.
  mutating func read<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
    let size = Number.bitWidth / 8
    guard bytes.count - place >= size else { return nil }
    defer { place += size }
    return unsafe bytes.withUnsafeBytes {
      Number(bigEndian: unsafe $0.loadUnaligned(fromByteOffset: place, as: Number.self))
    }
  }

  /// Reads a number of `writeVariable`; nil if the bytes end before, or for more than 64 bits.
  mutating func readVariable() -> UInt64? {
    var number: UInt64 = 0
    for place in stride(from: 0, to: 64, by: 7) {
      guard let byte: UInt8 = read() else { return nil }
      let bits = UInt64(byte & 0x7f)
      guard (bits << UInt64(place)) >> UInt64(place) == bits else { return nil }
      number |= bits << UInt64(place)
      if byte < 0x80 { return number }
    }
    return nil
  }

  mutating func readCount() -> Int? { readVariable().flatMap { Int(exactly: $0) } }

  /// Bytes after their length; nil if they end before.
  mutating func readBytes() -> [UInt8]? {
    guard let count = readCount(), count <= bytes.count - place else { return nil }
    defer { place += count }
    return Array(bytes[place..<place + count])
  }

  /// Reads a text of `write(text:)`; nil if the bytes end before.
  mutating func readText() -> String? { readBytes().map { String(decoding: $0, as: UTF8.self) } }

  /// Reads texts of `write(texts:)`; nil if the bytes end before.
  mutating func readTexts() -> [String]? {
    guard let count = readCount() else { return nil }
    var texts: [String] = []
    for _ in 0..<count {
      guard let text = readText() else { return nil }
      texts.append(text)
    }
    return texts
  }
}
