import TarnStore

/// Constants of a condition as SQL writes them.
enum SQLNumber {
  static func text(_ number: Double) -> String {
    number.isInfinite ? (number < 0 ? "'-Infinity'" : "'Infinity'") : "'\(number)'"
  }

  static func text(_ number: DecimalNumber) -> String {
    let text = number.isInfinite ? (number.isNegative ? "-Infinity" : "Infinity") : number.text
    return "'\(text)'::numeric"
  }

  /// A primary key.
  static func literal(_ value: Value) -> String? {
    switch value {
    case .int(let number): "\(number)"
    case .string(let text): text.utf8.contains(0) ? nil : SQLText.standardLiteral(text)
    case .objectID(let id): "'\\x\(id.hexadecimal)'::bytea"
    case .uuid(let id): "'\(id.uuidText)'::uuid"
    default: nil
    }
  }
}

extension [UInt8] {
  var hexadecimalDigits: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// A time of a condition, of which SQL has the microsecond.
struct SQLTime {
  let text: String
  /// Whether the time is the beginning of its microsecond.
  let isExact: Bool

  /// - Parameter time: the end of a range may have nanoseconds below 0 or of more than a second.
  init(_ time: Timestamp) {
    let nanoseconds = Int128(time.seconds) * 1_000_000_000 + Int128(time.nanoseconds)
    var (microseconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000)
    if rest < 0 { (microseconds, rest) = (microseconds - 1, rest + 1_000) }
    // SQL's infinity in the past is the first second that a property can have.
    isExact = rest == 0 || time.seconds == .min
    let since2000 = microseconds - Int128(PostgresTime.since1970)
    guard let number = Int64(exactly: since2000), PostgresTime.range.contains(number) else {
      text = since2000 < 0 ? "'-infinity'::timestamptz" : "'infinity'::timestamptz"
      return
    }
    text = "(timestamptz '2000-01-01 00:00:00+00' + interval '\(number) microseconds')"
  }
}
