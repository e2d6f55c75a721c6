import TarnStore
import TestSupport
import Testing

private func bytes(_ key: OrderKey) -> [UInt8] { key.withBytes { Array($0) } }

/// -1, 0 or 1 by the values themselves; nil where the type has no order of its own for them.
private func order(_ a: Value, _ b: Value) -> Int {
  func compare<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : (a == b ? 0 : 1) }
  func floating<T: BinaryFloatingPoint>(_ a: T, _ b: T) -> Int {
    if a.isNaN || b.isNaN { return (a.isNaN ? 0 : 1) - (b.isNaN ? 0 : 1) }
    return compare(a, b)
  }
  func bytewise(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Int {
    if a.lexicographicallyPrecedes(b) { return -1 }
    return b.lexicographicallyPrecedes(a) ? 1 : 0
  }
  switch (a, b) {
  case (.null, .null): return 0
  case (.null, _): return -1
  case (_, .null): return 1
  case (.int(let a), .int(let b)): return compare(a, b)
  case (.bool(let a), .bool(let b)): return compare(a ? 1 : 0, b ? 1 : 0)
  case (.float(let a), .float(let b)): return floating(a, b)
  case (.double(let a), .double(let b)): return floating(a, b)
  case (.string(let a), .string(let b)): return bytewise(a.utf8, b.utf8)
  case (.data(let a), .data(let b)): return bytewise(a, b)
  case (.date(let a), .date(let b)): return compare(a, b)
  case (.objectID(let a), .objectID(let b)): return compare(a, b)
  case (.uuid(let a), .uuid(let b)): return compare(a, b)
  case (.link(let a), .link(let b)): return compare(a, b)
  case (.decimal, .decimal): return DecimalModel.compare(a, b) ?? 0
  default: preconditionFailure("values of one type are compared")
  }
}

private func randomValue(_ type: ColumnType, _ random: inout SeededRandom) -> Value {
  if random.below(10) == 0 { return .null }
  let number = random.pick([0, 1, -1, .max, .min, Int64(bitPattern: random.next()), 255, 256])
  switch type {
  case .int: return .int(number)
  case .bool: return .bool(random.below(2) == 0)
  case .string:
    let letters = ["a", "b", "ß", "漢", "🐟", "\u{0}"]
    let length = random.pick([0, 1, 2, 3, 15, 40])
    return .string((0..<length).map { _ in random.pick(letters) }.joined())
  case .data:
    let length = random.pick([0, 1, 2, 8, 9, 17, 126])
    return .data((0..<length).map { _ in random.pick([0, 1, 0x7f, 0xff]) })
  case .date:
    return .date(
      Timestamp(seconds: number, nanoseconds: Int32(random.pick([0, 1, 999_999_999]))))
  case .float:
    let bits = UInt32(truncatingIfNeeded: random.next())
    return .float(
      random.pick([0, -0.0, .nan, -.nan, .infinity, -.infinity, Float(bitPattern: bits), 1, -1]))
  case .double:
    let some = Double(bitPattern: random.next())
    return .double(
      random.pick([
        0, -0.0, .nan, -.nan, .infinity, -.infinity, some, 1, -1, .leastNonzeroMagnitude,
      ])
    )
  case .link: return .link(ObjectKey(number))
  case .any: preconditionFailure("no index is over such a column")
  case .decimal:
    let special = [
      "NaN", "-Infinity", "Infinity", "0", "-0", "0E+6111", "1", "1.0", "1.00", "-1", "-1.000",
      "10",
      "1E+1", "1E-6176", "-1E-6176", "9.999999999999999999999999999999999E+6144", "0.1", "-0.09",
    ]
    let some = DecimalNumber(
      isNegative: random.chance(50), coefficient: UInt128(random.next()) * UInt128(1 << 40),
      exponent: random.pick([0, -3, 6111, -6176, -50, random.below(12_000) - 6_100]))
    let number = random.chance(40) ? some : DecimalNumber(text: random.pick(special)) ?? .nan
    return .decimal(number.cell)
  case .objectID:
    return .objectID(
      Bytes12(high: random.pick([0, 5, .max, random.next()]), low: UInt32(random.below(3))))
  case .uuid:
    return .uuid(Bytes16(high: random.pick([0, 5, random.next()]), low: random.pick([0, .max])))
  }
}

@Suite struct OrderKeyTests {
  @Test(arguments: ColumnType.allCases.filter { $0 != .any })
  func `keys order as values do`(type: ColumnType) throws {
    for seed in TreeTest.seeds {
      var random = SeededRandom(seed: seed)
      for _ in 0..<3_000 {
        let (a, b) = (randomValue(type, &random), randomValue(type, &random))
        let (x, y) = (
          try #require(OrderKey(a, type: type)), try #require(OrderKey(b, type: type))
        )
        // Cut keys are another test's matter.
        guard !x.isTruncated, !y.isTruncated else { continue }
        let expected = order(a, b)
        #expect((x < y, x == y, y < x) == (expected < 0, expected == 0, expected > 0), "\(a) \(b)")
        #expect(bytes(x).lexicographicallyPrecedes(bytes(y)) == (expected < 0))
      }
    }
  }

  @Test func `long values are cut and say so`() {
    let long = [UInt8](repeating: 7, count: 300)
    for count in 0...300 {
      let key = long[..<count].withUnsafeBytes { OrderKey(bytes: $0) }
      #expect(key.byteCount == min(count + 1, OrderKey.byteCountMax))
      #expect(key.isTruncated == (count >= OrderKey.byteCountMax - 1))
    }
    let (a, b) = (
      OrderKey(String(repeating: "a", count: 127)), OrderKey(String(repeating: "a", count: 500))
    )
    #expect(a == b)
    #expect(a.isTruncated)
    #expect(b.isTruncated)
  }

  @Test func `what starts with a prefix lies below the key after it`() {
    for prefix in [[], [1], [0xff], [1, 0xff, 0xff], [0xfe, 0xff], [0]] as [[UInt8]] {
      let key = prefix.withUnsafeBytes { OrderKey(bytes: $0) }
      let after = key.afterPrefixed
      for tail in [[], [0], [0xff], [0xff, 0xff, 0xff, 0xff]] as [[UInt8]] {
        let longer = (prefix + tail).withUnsafeBytes { OrderKey(bytes: $0) }
        #expect(key <= longer)
        #expect(longer < after)
      }
      guard let last = prefix.lastIndex(where: { $0 < 0xff }) else { continue }
      let next = prefix[..<last] + [prefix[last] + 1]
      #expect(Array(next).withUnsafeBytes { OrderKey(bytes: $0) } == after)
    }
  }

  @Test func `a value of another type has no key`() {
    #expect(OrderKey(.int(1), type: .double) == nil)
    #expect(OrderKey(.string("x"), type: .data) == nil)
    #expect(OrderKey(.null, type: .int) == OrderKey.null)
  }
}
