import CTarn
import TarnStore

/// A number for everything that a state of a store has: each key and its value, in order.
enum StoreDigest {
  static func of(_ transaction: ReadTransaction) throws -> UInt64 {
    var sum: UInt64 = 0
    var cursor = try Cursor(transaction)
    while try cursor.next() {
      let key = UInt64(tarn_crc32c(cursor.key.baseAddress, cursor.key.count))
      let value = UInt64(tarn_crc32c(cursor.value.baseAddress, cursor.value.count))
      sum = (sum ^ (key << 32 | value)) &* 0x9E37_79B9_7F4A_7C15
      sum ^= sum >> 29
    }
    return sum
  }
}
