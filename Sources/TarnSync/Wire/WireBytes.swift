/// Writes numbers in network order, as PostgreSQL's binary format has them.
struct WireWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write<Number: FixedWidthInteger>(_ number: Number) {
    for place in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> Number(place)))
    }
  }

  mutating func write(_ more: [UInt8]) { bytes += more }
}

/// Reads numbers in network order. What a server sends may end anywhere.
struct WireReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  /// The next number; nil if the bytes end before.
  mutating func read<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
    let size = Number.bitWidth / 8
    guard rest.count >= size else { return nil }
    defer { rest = rest.dropFirst(size) }
    return rest.prefix(size).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
  }
}
