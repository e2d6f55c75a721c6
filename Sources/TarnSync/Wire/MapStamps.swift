import TarnStore

/// When the values of a map were written, as stored next to its column: in runs, in the order of
/// the keys.
struct MapStamps {
  private static let format: UInt8 = 2

  static func bytes(_ entries: [(key: StoredText, stamp: Stamp)]) -> [UInt8] {
    var runs: [(stamp: Stamp, count: Int)] = []
    for (_, stamp) in entries.sorted(by: isBefore) {
      if runs.last?.stamp == stamp {
        runs[runs.count - 1].count += 1
      } else {
        runs.append((stamp, 1))
      }
    }
    var writer = BigEndianWriter()
    writer.write(format)
    for (stamp, count) in runs {
      writer.writeVariable(UInt64(bitPattern: stamp.time))
      writer.writeVariable(UInt64(stamp.writer))
      writer.write(count: count)
    }
    return writer.bytes
  }

  private static func isBefore(
    _ a: (key: StoredText, stamp: Stamp), _ b: (key: StoredText, stamp: Stamp)
  ) -> Bool {
    a.key.text.utf8.lexicographicallyPrecedes(b.key.text.utf8)
  }

  /// - Returns: a stamp for each key; nil if the bytes have another number of them.
  static func stamps(_ bytes: [UInt8], of keys: [StoredText]) -> [StoredText: Stamp]? {
    var reader = BigEndianReader(bytes)
    guard reader.read(UInt8.self) == format else { return nil }
    var rest = keys.sorted {
      $0.text.utf8.lexicographicallyPrecedes($1.text.utf8)
    }[...]
    var stamps: [StoredText: Stamp] = [:]
    while !reader.isAtEnd {
      guard let time = reader.readVariable(),
        let writer = reader.readVariable().flatMap({ UInt32(exactly: $0) }),
        let count = reader.readCount(), count <= rest.count
      else { return nil }
      for key in rest.prefix(count) {
        stamps[key] = Stamp(Int64(bitPattern: time), by: writer)
      }
      rest = rest.dropFirst(count)
    }
    return rest.isEmpty ? stamps : nil
  }
}
