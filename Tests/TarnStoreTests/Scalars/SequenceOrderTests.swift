import Testing

@testable import TarnStore

@Suite struct SequenceOrderTests {
  private func decimal(_ text: String) -> Value {
    .decimal(DecimalNumber(text: text)!.cell)
  }

  /// Values of one rank are the same to a set; each rank lies before the next.
  private var positions: [[Value]] {
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
      [.string("")], [.string("a")], [.string("a\u{0}")], [.string("abcdefghijklmno")],
      [.string("abcdefghijklmno\u{0}")], [.string("abcdefghijklmnopq")],
      [.string("abcdefghijklmnopr")], [.string("é")],
      [.data([])], [.data([0])], [.data([0, 0])], [.data([0xff])],
      [.date(Timestamp(seconds: -1, nanoseconds: 5))],
      [.date(Timestamp(seconds: 0, nanoseconds: 0))],
      [.date(Timestamp(seconds: 0, nanoseconds: 999_999_999))],
      [.objectID(Bytes12(high: 0, low: 0))], [.objectID(Bytes12(high: 1, low: 0))],
      [.objectID(Bytes12(high: .max, low: .max))],
      [.uuid(Bytes16(high: 0, low: 0))], [.uuid(Bytes16(high: 0, low: 1))],
      [.uuid(Bytes16(high: .max, low: .max))],
      [.link(ObjectKey(.min))], [.link(ObjectKey(-1))], [.link(ObjectKey(.max))],
      [.object(ClassID(1), ObjectKey(9))], [.object(ClassID(2), ObjectKey(1))],
    ]
  }

  private struct Pair: CustomTestStringConvertible {
    var a: Value
    var b: Value
    /// Below, equal to or above zero as the ranks of the two.
    var order: Int
    var testDescription: String { "\(a) and \(b)" }
  }

  private var pairs: [Pair] {
    positions.indices.flatMap { x in
      positions.indices.flatMap { y in
        positions[x].flatMap { a in
          positions[y].map { b in Pair(a: a, b: b, order: (x - y).signum()) }
        }
      }
    }
  }

  @Test func valuesOfAnyTypeHaveOneOrder() {
    for pair in pairs {
      // A link and an object of any class never meet.
      if case (.link, .object) = (pair.a, pair.b) { continue }
      if case (.object, .link) = (pair.a, pair.b) { continue }
      #expect(SequenceOrder.compare(pair.a, pair.b).signum() == pair.order, "\(pair)")
    }
  }

  @Test func scalarsHaveItAndAreEqualAndHashedByIt() {
    for pair in pairs {
      guard let a = Scalar(pair.a), let b = Scalar(pair.b), isLink(pair.a) == isLink(pair.b) else {
        continue
      }
      #expect(Scalar.compare(a, b).signum() == pair.order, "\(pair)")
      #expect((a == b) == (pair.order == 0), "\(pair)")
      if a == b { #expect(a.hashValue == b.hashValue, "\(pair)") }
    }
  }

  /// Links are integers to a `Scalar`, which only meet their like.
  private func isLink(_ value: Value) -> Bool {
    if case .link = value { true } else { false }
  }

  /// The type of a column that holds the value; nil for null, which all may hold.
  private func type(of value: Value) -> ColumnType? {
    switch value {
    case .null: nil
    case .int: .int
    case .bool: .bool
    case .float: .float
    case .double: .double
    case .string: .string
    case .data: .data
    case .date: .date
    case .objectID: .objectID
    case .uuid: .uuid
    case .decimal: .decimal
    case .link: .link
    case .object, .list, .map: .any
    }
  }

  /// Pairs that one column may hold, with its type.
  private var pairsOfOneColumn: [(Pair, ColumnType)] {
    pairs.compactMap { pair in
      let types = Set([type(of: pair.a), type(of: pair.b)].compactMap { $0 })
      return types.count == 1 ? (pair, types.first!) : nil
    }
  }

  @Test func keysOfAnIndexHaveIt() throws {
    for (pair, type) in pairsOfOneColumn {
      let a = try #require(OrderKey(pair.a, type: type))
      let b = try #require(OrderKey(pair.b, type: type))
      #expect((a < b) == (pair.order < 0), "\(pair)")
      #expect((a == b) == (pair.order == 0), "\(pair)")
    }
  }

  private func prefix(_ value: Value, mayBeNull: Bool) -> OrderPrefix? {
    switch value {
    case .string(let text): OrderPrefix(Array(text.utf8))
    case .data(let bytes): OrderPrefix(bytes)
    default: Scalar(value).map { OrderPrefix($0, mayBeNull: mayBeNull) }
    }
  }

  @Test(arguments: [true, false])
  func prefixesHaveItAsFarAsTheySay(mayBeNull: Bool) throws {
    for (pair, type) in pairsOfOneColumn where type != .any {
      if !mayBeNull, pair.a == .null || pair.b == .null { continue }
      let a = try #require(prefix(pair.a, mayBeNull: mayBeNull))
      let b = try #require(prefix(pair.b, mayBeNull: mayBeNull))
      let order = a.high == b.high ? sign(a.low, b.low) : sign(a.high, b.high)
      if order != 0 || a.isExact || b.isExact { #expect(order == pair.order, "\(pair)") }
      let (x, y) = (a.reversed(if: true), b.reversed(if: true))
      #expect((x.high == y.high ? sign(x.low, y.low) : sign(x.high, y.high)) == -order, "\(pair)")
    }
  }
}
