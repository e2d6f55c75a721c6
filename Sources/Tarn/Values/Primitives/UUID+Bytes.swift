import Foundation
import TarnStore

extension UUID {
  var bytes: Bytes16 {
    let halves = unsafe unsafeBitCast(uuid, to: (UInt64, UInt64).self)
    return Bytes16(high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
  }
  init(_ bytes: Bytes16) {
    let halves = (bytes.high.bigEndian, bytes.low.bigEndian)
    unsafe self.init(uuid: unsafeBitCast(halves, to: uuid_t.self))
  }
}
