/// CRC-32C, eight bytes a step from tables: change records are small, and it runs anywhere.
enum RecordChecksum {
  /// Eight tables of 256 entries: the effect of one byte that is 0 to 7 bytes before the end.
  private static let tables: ContiguousArray<UInt32> = {
    var tables = ContiguousArray<UInt32>(repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      var value = UInt32(byte)
      for _ in 0..<8 { value = (value >> 1) ^ (value & 1 == 1 ? 0x82F6_3B78 : 0) }
      tables[byte] = value
    }
    for index in 256..<(8 * 256) {
      let shorter = tables[index - 256]
      tables[index] = (shorter >> 8) ^ tables[Int(shorter & 0xFF)]
    }
    return tables
  }()

  /// The checksum of the bytes, continued from `seed`, which may be that of bytes before them.
  static func checksum(_ bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) -> UInt32 {
    unsafe tables.withUnsafeBufferPointer { table in
      var crc = ~seed
      var offset = 0
      while offset + 8 <= bytes.count {
        let word = unsafe UInt64(
          littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let mixed = word ^ UInt64(crc)
        crc = unsafe table[1792 + Int(mixed & 0xFF)] ^ table[1536 + Int((mixed >> 8) & 0xFF)]
        crc ^= unsafe table[1280 + Int((mixed >> 16) & 0xFF)]
        crc ^= unsafe table[1024 + Int((mixed >> 24) & 0xFF)]
        crc ^= unsafe table[768 + Int((mixed >> 32) & 0xFF)]
        crc ^= unsafe table[512 + Int((mixed >> 40) & 0xFF)]
        crc ^= unsafe table[256 + Int((mixed >> 48) & 0xFF)] ^ table[Int(mixed >> 56)]
        offset += 8
      }
      while offset < bytes.count {
        crc = unsafe (crc >> 8) ^ table[Int((crc ^ UInt32(bytes[offset])) & 0xFF)]
        offset += 1
      }
      return ~crc
    }
  }
}
