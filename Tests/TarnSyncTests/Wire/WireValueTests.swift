import TarnStore
import TestSupport
import Testing

@testable import TarnSync

@Suite struct WireValueTests {
  private func random(_ type: ColumnType, _ random: inout SeededRandom) -> Value {
    switch type {
    case .int: return .int(Int64(bitPattern: random.next()) >> Int64(random.below(64)))
    case .bool: return .bool(random.chance(50))
    case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
    case .double: return .double(Double(bitPattern: random.next()))
    case .string:
      return .string(
        random.pick(["", "a", "ä\u{0}b", "\u{0}", "\u{2400}", "日本", "'\\\""]))
    case .data: return .data(random.bytes(random.below(9)))
    case .date:
      let seconds = Int64(bitPattern: random.next()) >> Int64(random.below(64))
      let nanoseconds =
        random.chance(50) ? random.below(1_000_000) * 1_000 : random.below(1_000_000_000)
      return .date(Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds)))
    case .objectID:
      return .objectID(
        Bytes12(high: random.next(), low: UInt32(truncatingIfNeeded: random.next())))
    case .uuid: return .uuid(Bytes16(high: random.next(), low: random.next()))
    default:
      let special = [DecimalNumber.nan, .infinity, .infinity.negated, .zero, .zero.negated]
      if random.chance(10) { return .decimal(random.pick(special).cell) }
      let number = DecimalNumber(
        isNegative: random.chance(50),
        coefficient: UInt128(random.next()) >> UInt128(random.below(64))
          * UInt128(1 + random.below(1_000_000_000)),
        exponent: random.chance(80) ? random.below(60) - 40 : random.below(12_000) - 6_100)
      return .decimal(number.cell)
    }
  }

  private static let types: [ColumnType] = [
    .int, .bool, .float, .double, .string, .data, .date, .objectID, .uuid, .decimal,
  ]

  /// Through the server and back: what a column cannot hold comes from beside it.
  @Test(arguments: types)
  func `values come back from the server exactly`(_ type: ColumnType) throws {
    let connection = try PostgresDatabase().connect()
    var source = SeededRandom(seed: UInt64(type.rawValue) + 1)
    let values = (0..<Seeds.rounds(20_000, few: 2_000)).map { _ in random(type, &source) }
    let wire = WireType(type)
    let sent = try values.map { try #require(WireValue($0)) }
    let rows = try connection.binary(
      "SELECT v FROM unnest($1) WITH ORDINALITY u (v, n) ORDER BY n",
      [WireParameter(array: wire, sent.map(\.bytes))], for: "test")
    #expect(rows.count == values.count)
    for (index, value) in values.enumerated() {
      let bytes = try #require(rows[index, 0])
      let back = WireValue(bytes, exact: sent[index].exact).confirmed(type).value(type)
      #expect(back.map { isSame($0, value) } == true, "\(value) became \(String(describing: back))")
    }
  }

  private func isSame(_ a: Value, _ b: Value) -> Bool {
    switch (a, b) {
    // Bit by bit, NaN and -0 included.
    case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.decimal(let a), .decimal(let b)): a == b
    default: a.isSameElement(as: b)
    }
  }

  /// What people see in SQL.
  @Test(
    arguments: [
      (Value.decimal(DecimalNumber(text: "12.50")!.cell), "12.50", false),
      (.decimal(DecimalNumber(text: "-0.00012")!.cell), "-0.00012", false),
      (.decimal(DecimalNumber(text: "1E+3")!.cell), "1000", true),
      (.decimal(DecimalNumber(text: "-0")!.cell), "0", true),
      (.decimal(DecimalNumber(text: "0.000")!.cell), "0.000", false),
      (
        .decimal(DecimalNumber(text: "123456789012345678901234567890.1234")!.cell),
        "123456789012345678901234567890.1234", false
      ),
      (.decimal(DecimalNumber.nan.cell), "NaN", false),
      (.decimal(DecimalNumber.infinity.negated.cell), "-Infinity", false),
      (.string("a\u{0}b"), "a\u{2400}b", true),
      (.date(Timestamp(seconds: 0, nanoseconds: 1_999)), "1970-01-01 00:00:00.000001+00", true),
      (.date(Timestamp(seconds: -1, nanoseconds: 500_000_000)), "1969-12-31 23:59:59.5+00", false),
      // The last microsecond that SQL has, and the time after it.
      (
        .date(Timestamp(seconds: 9_224_318_015_999, nanoseconds: 999_999_000)),
        "294276-12-31 23:59:59.999999+00", false
      ),
      (.date(Timestamp(seconds: 9_224_318_016_000, nanoseconds: 0)), "infinity", true),
      (.date(Timestamp(seconds: .max, nanoseconds: 0)), "infinity", true),
      (.date(Timestamp(seconds: .min, nanoseconds: 0)), "-infinity", true),
      (.double(-0.0), "-0", false),
      (.bool(true), "true", false),
    ] as [(Value, String, Bool)])
  func `SQL shows what its types can hold`(
    _ value: Value, _ text: String, _ isInexact: Bool
  ) throws {
    let connection = try PostgresDatabase().connect()
    let wire = try #require(WireValue(value))
    let type = WireType(try #require(value.columnType))
    let rows = try connection.binary(
      "SET TIME ZONE 'UTC'", [], for: "test")
    #expect(rows.count == 0)
    let shown = try connection.binary(
      "SELECT $1::text", [WireParameter(type, wire.bytes)], for: "test")
    #expect(shown[0, 0].map { String(decoding: $0, as: UTF8.self) } == text)
    #expect((wire.exact != nil) == isInexact)
  }

  /// A SQL program may write what a property cannot hold exactly, or at all.
  @Test func `numbers of SQL with many digits are rounded to 34`() throws {
    let connection = try PostgresDatabase().connect()
    for (sql, text) in [
      ("1234567890123456789012345678901234567890", "1.234567890123456789012345678901235E+39"),
      ("0.1", "0.1"), ("100", "100"), ("10000", "10000"), ("-20000.5", "-20000.5"),
      ("1e-4000", "1E-4000"),
    ] {
      let rows = try connection.binary("SELECT \(sql)::numeric", [], for: "test")
      let value = WireValue(try #require(rows[0, 0])).value(.decimal)
      guard case .decimal(let cell)? = value else {
        Issue.record("\(sql)")
        continue
      }
      #expect(DecimalNumber(cell).text == DecimalNumber(text: text)?.text, "\(sql)")
    }
  }

  @Test func `bytes that are not a value are refused`() {
    #expect(WireValue([1, 2, 3]).value(.objectID) == nil)
    #expect(WireValue([1, 2, 3]).value(.int) == nil)
    #expect(WireValue([0xff]).value(.string) == nil)
    #expect(WireValue([0, 1, 0, 0, 0, 0, 0, 0]).value(.decimal) == nil)
    #expect(WireValue([0, 1, 0, 0, 0, 0, 0, 0, 0xff, 0xff]).value(.decimal) == nil)
    #expect(WireValue([], exact: [1]).value(.date) == nil)
    #expect(WireValue([], exact: [1]).value(.decimal) == nil)
    var random = SeededRandom(seed: 9)
    for _ in 0..<2_000 {
      let value = WireValue(random.bytes(random.below(24)))
      for type in Self.types { _ = value.value(type) }
    }
  }

  @Test func `an array has nulls, and may be empty`() throws {
    let connection = try PostgresDatabase().connect()
    for values in [[], [nil], [WireValue(.int(7))?.bytes, nil]] as [[[UInt8]?]] {
      let rows = try connection.binary(
        "SELECT v FROM unnest($1) WITH ORDINALITY u (v, n) ORDER BY n",
        [WireParameter(array: .bigint, values)], for: "test")
      #expect((0..<rows.count).map { rows[$0, 0] } == values)
    }
  }
}

extension Value {
  fileprivate var columnType: ColumnType? {
    switch self {
    case .decimal: .decimal
    case .string: .string
    case .date: .date
    case .double: .double
    case .bool: .bool
    default: nil
    }
  }
}
