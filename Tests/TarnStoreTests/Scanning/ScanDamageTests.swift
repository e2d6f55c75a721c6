import TestSupport
import Testing

@testable import TarnStore

@Suite struct ScanDamageTests {
  private static let texts = [
    "i == 3 OR #iN < 2", "s CONTAINS 'xy' OR #sN CONTAINS[c] 'AB'", "s BEGINSWITH 'a'",
    "s == 'a' OR d == 'abA'", "dN > 'a' AND s ENDSWITH 'y'", "t > '1970-01-01' OR tN == NULL",
    "f < 1 OR xN > 2 OR b == TRUE", "o != '000000000000000000000000' AND s < sN",
    "owner.name == 'a' OR next.next.i > 3", "s IN {'a', 'b'} AND i IN {1, 2, 3}",
    "uN != NULL AND bN == FALSE AND _id > 3",
  ]

  /// A result or `.corrupted`, whatever the bytes: no trap, and nothing read outside (which the
  /// address sanitizer sees, as the copy is exactly as long as the image).
  @Test(arguments: [101, 102, 103] as [UInt64])
  func `damaged clusters give an error or some rows`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let fixture = QueryFixture()
    random.fill(fixture, things: 120, owners: 5, cities: 2)
    try fixture.encode(rowsMax: 40)
    let source = try fixture.source()
    let predicates = try Self.texts.map {
      try ResolvedPredicate(
        PredicateParser.parse($0), on: QueryFixture.thing, in: QueryFixture.schema)
    }
    let order = try ResolvedOrder(
      [OrderTerm("s"), OrderTerm("tN"), OrderTerm("next.uN"), OrderTerm("i")],
      on: QueryFixture.thing, in: QueryFixture.schema)
    var scanned = 0
    for _ in 0..<250 {
      let intact = fixture.images[0].randomElement(using: &random)!
      let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: intact.count, alignment: 1)
      defer { bytes.deallocate() }
      bytes.copyMemory(from: UnsafeRawBufferPointer(intact))
      for _ in 0..<(1 + random.below(4)) {
        // Mostly in the descriptors, where damage leads farthest.
        let end = random.chance(70) ? 24 + 8 * 21 : bytes.count
        bytes[random.below(end)] = UInt8(truncatingIfNeeded: random.next())
      }
      guard let image = try? ClusterImage(validating: UnsafeRawBufferPointer(bytes)) else {
        continue
      }
      for predicate in predicates {
        let scan = PredicateScan(predicate, source: source)
        if (try? scan.evaluate(image)) != nil { scanned += 1 }
      }
      let buffer = SortBuffer(order, source: source)
      if (try? buffer.append(image)) != nil { _ = try? buffer.sort() }
      for name in ["iN", "xN", "mN"] { Self.addUp(name, image) }
    }
    #expect(scanned > 100)
  }

  /// Decodes a whole column, as a sum of all rows does.
  private static func addUp(_ name: String, _ image: ClusterImage) {
    let schema = QueryFixture.schema.classes[0]
    let path = ColumnPath(schema.named(name)!, of: QueryFixture.thing)
    var column = ScannedColumn(
      AggregateColumn(path: path, hasSum: true, hasExtremes: true), isOnce: true)
    column.makeRoom(for: 1)
    let scratch = ScanScratch(bitmapCount: 1)
    scratch.reserve(rows: image.rowCount)
    let groups = [Int32](repeating: 0, count: image.rowCount)
    let all = [UInt64](repeating: .max, count: image.bitmapWords)
    var matches = all
    if image.rowCount & 63 != 0 { matches[all.count - 1] = 1 << (image.rowCount & 63) - 1 }
    matches.withUnsafeBufferPointer { matches in
      groups.withUnsafeBufferPointer { groups in
        guard let matches = matches.baseAddress, let groups = groups.baseAddress else { return }
        column.append(
          image, matches, valued: matches, UnsafeMutablePointer(mutating: groups), scratch)
      }
    }
  }
}
