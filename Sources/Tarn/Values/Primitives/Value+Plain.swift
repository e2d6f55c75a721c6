public import Foundation
import TarnStore

extension Value {
  /// The value in the type of a dynamic property: `Int` for every integer. Nil for null, for links,
  /// and for lists and maps.
  var plain: Any? {
    switch self {
    case .null, .link, .object, .list, .map: nil
    case .int(let number): Int(number)
    case .bool(let value): value
    case .float(let value): value
    case .double(let value): value
    case .string(let value): value
    case .data(let bytes): Data(bytes)
    case .date(let time): Date(time)
    case .objectID(let bytes): ObjectId(bytes)
    case .uuid(let bytes): UUID(bytes)
    case .decimal(let cell): Decimal128(cell)
    }
  }
}

extension Date {
  /// The seconds from 1970 to 2001, where Foundation's dates begin.
  @usableFromInline static var _epochSeconds: Int64 { 978_307_200 }

  @inlinable init(_seconds seconds: Int64, nanoseconds: Int32) {
    self.init(
      timeIntervalSinceReferenceDate: Double(seconds &- Date._epochSeconds)
        + Double(nanoseconds) / 1e9)
  }

  init(_ time: Timestamp) { self.init(_seconds: time.seconds, nanoseconds: time.nanoseconds) }

  /// The nearest nanosecond. A date further than about 17 minutes from 1 January 2001 is stored
  /// exactly: there a Double's steps are wider than the rounding. Traps for dates that are not
  /// finite, or do not fit 64-bit seconds.
  var timestamp: Timestamp {
    let interval = timeIntervalSinceReferenceDate
    let whole = interval.rounded(.down)
    guard let since2001 = Int64(exactly: whole), since2001 < Int64.max - Date._epochSeconds else {
      trap("A Date must be finite and within 292 billion years to be stored: \(interval)")
    }
    let seconds = since2001 + Date._epochSeconds
    let nanoseconds = Int32(((interval - whole) * 1e9).rounded())
    if nanoseconds == 1_000_000_000 {
      return Timestamp(seconds: seconds + 1, nanoseconds: 0)
    }
    return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
  }
}

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
