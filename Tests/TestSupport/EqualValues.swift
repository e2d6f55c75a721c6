package import TarnStore

/// The table of equality: values of every type, those together that are one element of a set. No
/// two of them have the same bits.
package enum EqualValues {
  package static let elements = exact + rounded

  /// Numbers that are the same in every type that has them, and all other values.
  package static let exact: [[Value]] = [
    [.null],
    [.bool(false)], [.bool(true)],
    [.int(0), .float(0), .float(-0.0), .double(0), .double(-0.0)]
      + decimals("0", "-0", "0.00", "0E+20"),
    [.int(1), .float(1), .double(1)] + decimals("1", "1.0", "1.00"),
    [.int(-7), .double(-7)] + decimals("-7", "-7.0"),
    [.float(1.5), .double(1.5)] + decimals("1.5", "1.50"),
    [.int(1 << 53), .double(0x1p53)], [.int(.max)],
    [.double(.infinity), .float(.infinity)] + decimals("Infinity"),
    [.double(-.infinity)] + decimals("-Infinity"),
    [.float(.nan), .float(-.nan), .double(.nan), .double(-.nan), .double(.signalingNaN)]
      + [.decimal(DecimalNumber.nan.cell), .decimal(DecimalNumber.nan.negated.cell)],
    [.string("")], [.string("e")], [.string("\u{e9}")], [.string("e\u{301}")], [.string("0")],
    [.string(long + "\u{e9}")], [.string(long + "e\u{301}")], [.string(long)],
    [.string("\u{212b}")], [.string("\u{c5}")], [.string("A\u{30a}")],
    [.data([])], [.data(Array("\u{e9}".utf8))], [.data(Array("e\u{301}".utf8))],
    [.data(Array(long.utf8))],
    [.date(Timestamp(seconds: 0, nanoseconds: 0))],
    [.date(Timestamp(seconds: 0, nanoseconds: 500_000_000))],
    [.date(Timestamp(seconds: 1, nanoseconds: 0))],
    [.objectID(Bytes12(high: 0, low: 0))], [.objectID(Bytes12(high: 0, low: 1))],
    [.uuid(Bytes16(high: 0, low: 0))], [.uuid(Bytes16(high: 1, low: 0))],
  ]

  /// Numbers that a condition rounds where it compares them with a property of another type.
  package static let rounded: [[Value]] = [
    [.float(0.1), .double(Double(Float(0.1)))], [.double(0.1)], decimals("0.1", "0.10"),
    [.int(1 << 53 + 1)] + decimals("9007199254740993"),
  ]

  /// Longer than what an index keeps of a text.
  private static let long = String(repeating: "long ", count: 60)

  private static func decimals(_ texts: String...) -> [Value] {
    texts.map { .decimal(DecimalNumber(text: $0)!.cell) }
  }

  /// Each with the number of its element.
  package static var all: [(value: Value, element: Int)] {
    elements.enumerated().flatMap { number, values in values.map { ($0, number) } }
  }
}
