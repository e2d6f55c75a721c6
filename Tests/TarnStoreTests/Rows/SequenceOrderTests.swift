import Testing

@testable import TarnStore

@Suite struct SequenceOrderTests {
  private func decimal(_ text: String) -> Value {
    .decimal(DecimalNumber(text: text)!.cell)
  }

  /// Values of one place are the same to a set; each place lies before the next.
  private var places: [[Value]] {
    [
      [.null], [.bool(false)], [.bool(true)],
      [.double(.nan), .float(.nan), decimal("NaN")],
      [.double(-.infinity), decimal("-Infinity")], [.int(.min), .double(-0x1p63)],
      [.int(-1), .float(-1), decimal("-1.0")], [decimal("-0.1")], [.double(-0x1p-1074)],
      [.int(0), .double(0), .double(-0.0), .float(-0.0), decimal("0.00")],
      [decimal("0.1")], [.double(0.1)], [.float(0.1)], [.double(0.5), .float(0.5), decimal("0.5")],
      [.int(1), .double(1), decimal("1.000")], [.int(1 << 53), .double(0x1p53)],
      [.int(1 << 53 + 1), decimal("9007199254740993")], [.double(0x1p53 + 2)],
      [.int(.max)], [.double(0x1p63), .float(0x1p63)], [.double(.infinity), decimal("Infinity")],
      [.string("")], [.string("a")], [.string("a\u{0}")], [.string("é")],
      [.data([])], [.data([0])], [.date(Timestamp(seconds: -1, nanoseconds: 5))],
      [.objectID(Bytes12(high: 1, low: 0))], [.uuid(Bytes16(high: 0, low: 1))],
      [.object(ClassID(1), ObjectKey(9))], [.object(ClassID(2), ObjectKey(1))],
    ]
  }

  @Test func valuesOfAnyTypeHaveOneOrder() {
    for (x, firsts) in places.enumerated() {
      for (y, seconds) in places.enumerated() {
        for a in firsts {
          for b in seconds {
            let order = SequenceOrder.compare(a, b)
            #expect(order.signum() == (x - y).signum(), "\(a) and \(b)")
          }
        }
      }
    }
  }
}
