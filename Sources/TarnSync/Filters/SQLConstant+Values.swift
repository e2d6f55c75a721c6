import TarnStore

extension SQLConstant {
  init(_ number: Int64) { self.init(kept: "\(number)", .bigint, Self.bytes(.int(number))) }

  init(_ number: Double) {
    self.init(kept: Self.quoted(number) + "::float8", .double, Self.bytes(.double(number)))
  }

  init(_ number: Float) {
    self.init(kept: Self.quoted(Double(number)) + "::real", .real, Self.bytes(.float(number)))
  }

  init(_ number: DecimalNumber) {
    let text = number.isInfinite ? (number.isNegative ? "-Infinity" : "Infinity") : number.text
    self.init(kept: "'\(text)'::numeric", .numeric, PostgresNumeric.bytes(of: number))
  }

  init(_ id: Bytes12) {
    self.init(kept: "'\\x\(id.hexadecimal)'::bytea", .bytea, Self.bytes(.objectID(id)))
  }

  init(_ id: Bytes16) {
    self.init(kept: "'\(id.uuidText)'::uuid", .uuid, Self.bytes(.uuid(id)))
  }

  /// A primary key; nil for a value of another type, and for a string that the server cannot have.
  init?(key value: Value) {
    switch value {
    case .int(let number): self.init(number)
    case .string(let text) where !text.utf8.contains(0): self.init(text: text)
    case .objectID(let id): self.init(id)
    case .uuid(let id): self.init(id)
    default: return nil
    }
  }

  private static func quoted(_ number: Double) -> String {
    number.isInfinite ? (number < 0 ? "'-Infinity'" : "'Infinity'") : "'\(number)'"
  }

  private static func bytes(_ value: Value) -> [UInt8]? { WireValue(value)?.bytes }
}

extension [UInt8] {
  var hexadecimalDigits: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// A time of a condition, which SQL stores in microseconds.
struct SQLTime {
  let constant: SQLConstant
  /// Whether the time is the start of its microsecond.
  let isExact: Bool

  /// - Parameter time: the end of a range may have nanoseconds below 0 or above a second.
  init(_ time: Timestamp) {
    let nanoseconds = Int128(time.seconds) * 1_000_000_000 + Int128(time.nanoseconds)
    var (microseconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000)
    if rest < 0 { (microseconds, rest) = (microseconds - 1, rest + 1_000) }
    // SQL's infinity in the past is the first second that a property can have.
    isExact = rest == 0 || time.seconds == .min
    let since2000 = microseconds - Int128(PostgresTime.since1970)
    guard let number = Int64(exactly: since2000), PostgresTime.range.contains(number) else {
      let isPast = since2000 < 0
      constant = Self.constant(
        isPast ? "'-infinity'::timestamptz" : "'infinity'::timestamptz",
        isPast ? PostgresTime.earliest : PostgresTime.latest)
      return
    }
    constant = Self.constant(
      "(timestamptz '2000-01-01 00:00:00+00' + interval '\(number) microseconds')", number)
  }

  private static func constant(_ kept: String, _ microseconds: Int64) -> SQLConstant {
    var writer = BigEndianWriter()
    writer.write(microseconds)
    return SQLConstant(kept: kept, .timestamp, writer.bytes)
  }
}
