/// The values of an object under a unique rule as bytes: two objects have equal combinations if and
/// only if these are equal.
///
/// Strings and data are preceded by their length (u32, most significant byte first); every other
/// value is its `OrderKey`, whose length depends on its type. So strings are compared bytewise, NaN
/// equals itself, -0 equals 0, and 1.0 equals 1.00.
package struct UniqueKey: Equatable {
  package let bytes: [UInt8]
  /// Combinations up to this length are indexed unchanged.
  package static let byteCountMax = 96
  private static let keptByteCount = byteCountMax - 16

  /// Nil if one of the values is null: rules do not apply to such an object. The values have their
  /// columns' types.
  package init?(_ values: [Value], _ columns: [ColumnSchema]) {
    var bytes: [UInt8] = []
    for (value, column) in zip(values, columns) {
      switch value {
      case .null: return nil
      case .string(let text): Self.append(Array(text.utf8), to: &bytes)
      case .data(let data): Self.append(data, to: &bytes)
      default:
        guard let order = OrderKey(value, type: column.type) else {
          trap("internal error: a value of another type than its column's")
        }
        unsafe order.withBytes { unsafe bytes.append(contentsOf: $0) }
      }
    }
    self.bytes = bytes
  }

  private static func append(_ text: [UInt8], to bytes: inout [UInt8]) {
    let count = UInt32(truncatingIfNeeded: text.count)
    for shift in [24, 16, 8, 0] as [UInt32] {
      bytes.append(UInt8(truncatingIfNeeded: count >> shift))
    }
    bytes += text
  }

  /// The key in the index. A longer combination is its beginning and a hash of the whole: if two
  /// objects have the same entry, the combinations are compared.
  package var order: OrderKey {
    guard bytes.count > Self.byteCountMax else { return Self.order(of: bytes) }
    var kept = Array(bytes[..<Self.keptByteCount])
    let hash = Self.hash(bytes)
    for shift in stride(from: 120, through: 0, by: -8) {
      kept.append(UInt8(truncatingIfNeeded: hash >> UInt128(shift)))
    }
    return Self.order(of: kept)
  }

  private static func order(of bytes: [UInt8]) -> OrderKey {
    unsafe bytes.withUnsafeBytes { unsafe OrderKey(bytes: $0) }
  }

  /// FNV-1a of 128 bits: stored in files, so it must never change.
  static func hash(_ bytes: [UInt8]) -> UInt128 {
    var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    for byte in bytes {
      hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
    }
    return hash
  }
}
