import TarnStore

/// A value in PostgreSQL's binary format, and its exact bytes where that format holds less.
///
/// Text cannot have a NUL there, times have microseconds between 4713 BC and 294276, and numbers
/// have neither -0 nor exponents: `1E+3` is 1000. Then the column has a readable value, and the
/// exact one is stored next to it for replicas until SQL writes the column.
struct WireValue: Hashable, Sendable {
  let bytes: [UInt8]
  /// The exact value; nil if `bytes` have all of it.
  let exact: [UInt8]?

  var byteCount: Int { bytes.count + (exact?.count ?? 0) }

  init(_ bytes: [UInt8], exact: [UInt8]? = nil) {
    self.bytes = bytes
    self.exact = exact
  }

  /// - Returns: nil for `.null`, and for values without such a form: links by local keys and
  ///   collections.
  init?(_ value: Value) {
    switch value {
    case .null, .link, .object, .list, .map: return nil
    case .int(let number): self.init(Self.big(number))
    case .bool(let flag): self.init([flag ? 1 : 0])
    case .float(let number): self.init(Self.big(number.bitPattern))
    case .double(let number): self.init(Self.big(number.bitPattern))
    case .string(let text): self.init(text)
    case .data(let bytes): self.init(bytes)
    case .date(let time): self.init(time)
    case .objectID(let id): self.init(Self.big(id.high) + Self.big(id.low))
    case .uuid(let id): self.init(Self.big(id.high) + Self.big(id.low))
    case .decimal(let cell): self.init(DecimalNumber(cell))
    }
  }

  private static func big<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    var writer = BigEndianWriter()
    writer.write(number)
    return writer.bytes
  }

  private init(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.contains(0) else {
      self.init(bytes)
      return
    }
    // The symbol for NUL.
    let shown = bytes.flatMap { $0 == 0 ? Array("\u{2400}".utf8) : [$0] }
    self.init(shown, exact: bytes)
  }

  private init(_ time: Timestamp) {
    let exact = Self.big(time.seconds) + Self.big(time.nanoseconds)
    // Since 2000 first: SQL's last times do not fit 64-bit microseconds since 1970.
    let (seconds, exceeds) = time.seconds.subtractingReportingOverflow(
      PostgresTime.since1970 / 1_000_000)
    let (scaled, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let microseconds = scaled.addingReportingOverflow(Int64(time.nanoseconds) / 1_000)
    guard !overflows, !exceeds, !microseconds.overflow,
      PostgresTime.range.contains(microseconds.partialValue)
    else {
      let infinity = time.seconds < 0 ? PostgresTime.earliest : PostgresTime.latest
      self.init(Self.big(infinity), exact: exact)
      return
    }
    self.init(
      Self.big(microseconds.partialValue), exact: time.nanoseconds % 1_000 == 0 ? nil : exact)
  }

  private init(_ number: DecimalNumber) {
    let isExact =
      !number.isFinite
      || number.parts.exponent <= 0 && !(number.isNegative && number.isZero)
    let cell = number.cell
    self.init(
      PostgresNumeric.bytes(of: number),
      exact: isExact ? nil : Self.big(cell.high) + Self.big(cell.low))
  }
}

extension WireValue {
  /// Decodes the value; nil if the bytes do not fit the type, for example if SQL has written five
  /// bytes into a column for an object id of twelve.
  func value(_ type: ColumnType) -> Value? {
    switch type {
    case .string: String(utf8: exact ?? bytes).map { .string($0) }
    case .data: .data(bytes)
    case .date where exact != nil: date
    case .objectID: objectID
    case .uuid: Self.bytes16(bytes).map { .uuid($0) }
    case .decimal: decimal
    default: unsafe bytes.withUnsafeBytes { unsafe Self.value($0, type) }
    }
  }

  /// Drops the exact value if the bytes are not those that were sent with it: a trigger may have
  /// truncated the time to seconds, or the column may have rounded it.
  func confirmed(_ type: ColumnType) -> WireValue {
    guard exact != nil else { return self }
    let sent = value(type).flatMap { WireValue($0) }
    return sent == self ? self : WireValue(bytes)
  }

  /// Decodes the bytes of a value without exact bytes next to them.
  static func value(_ bytes: UnsafeRawBufferPointer, _ type: ColumnType) -> Value? {
    switch type {
    case .int: unsafe number(bytes).map { .int($0) }
    case .bool: unsafe bytes.count == 1 ? .bool(bytes[0] != 0) : nil
    case .float: unsafe number(bytes).map { .float(Float(bitPattern: $0)) }
    case .double: unsafe number(bytes).map { .double(Double(bitPattern: $0)) }
    case .string: unsafe String(utf8: bytes).map { .string($0) }
    case .date: unsafe number(bytes).map { .date(PostgresTime.timestamp($0)) }
    case .data, .objectID, .uuid, .decimal: unsafe WireValue(Array(bytes)).value(type)
    case .link, .any: nil
    }
  }

  /// The number in all of the bytes.
  static func number<Number: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer) -> Number? {
    guard bytes.count == Number.bitWidth / 8 else { return nil }
    return Number(bigEndian: unsafe bytes.loadUnaligned(as: Number.self))
  }

  private static func bytes16(_ bytes: [UInt8]) -> Bytes16? {
    var reader = BigEndianReader(bytes)
    guard let high: UInt64 = reader.read(), let low: UInt64 = reader.read(), reader.isAtEnd else {
      return nil
    }
    return Bytes16(high: high, low: low)
  }

  private var objectID: Value? {
    var reader = BigEndianReader(bytes)
    guard let high: UInt64 = reader.read(), let low: UInt32 = reader.read(), reader.isAtEnd else {
      return nil
    }
    return .objectID(Bytes12(high: high, low: low))
  }

  /// The exact time.
  private var date: Value? {
    var reader = BigEndianReader(exact ?? [])
    guard let seconds: Int64 = reader.read(), let nanoseconds: Int32 = reader.read(),
      (0..<1_000_000_000).contains(nanoseconds)
    else { return nil }
    return .date(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
  }

  private var decimal: Value? {
    if let exact { return Self.bytes16(exact).map { .decimal($0) } }
    return PostgresNumeric.number(bytes).map { .decimal($0.cell) }
  }
}

/// PostgreSQL's `timestamptz`: microseconds since 2000.
enum PostgresTime {
  /// From 1970 to 2000.
  static let since1970: Int64 = 946_684_800_000_000
  static let earliest = Int64.min
  static let latest = Int64.max
  /// From 4713 BC to before 294277.
  static let range: Range<Int64> = -211_813_488_000_000_000..<9_223_371_331_200_000_000

  /// SQL's infinity is the last time that a property can have.
  static func timestamp(_ microseconds: Int64) -> Timestamp {
    switch microseconds {
    case earliest: return Timestamp(seconds: .min, nanoseconds: 0)
    case latest: return Timestamp(seconds: .max, nanoseconds: 999_999_999)
    default: break
    }
    var (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    if rest < 0 { (seconds, rest) = (seconds - 1, rest + 1_000_000) }
    return Timestamp(
      seconds: seconds + since1970 / 1_000_000, nanoseconds: Int32(rest * 1_000))
  }
}
