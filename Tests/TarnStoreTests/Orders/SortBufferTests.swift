import TarnStore
import TestSupport
import Testing

@Suite struct SortBufferTests {
  private func expected(
    _ keys: [Int64], _ terms: [OrderTerm], _ fixture: QueryFixture
  ) -> [Int64] {
    QueryModel(fixture: fixture).sorted(keys, terms, QueryFixture.thing)
  }

  private func terms(_ random: inout SeededRandom) -> [OrderTerm] {
    let paths =
      QueryFixture.schema.classes[0].columns.filter { $0.type != .link }.map(\.name) + [
        "owner.name", "owner.age", "owner.weight", "owner.id", "owner.home.name",
        "owner.home.size", "next.s", "next.next.iN", "next.f", "next.bN", "next.t", "next.oN",
        "next.d", "next._id", "next.m", "owner.price",
      ]
    return (0..<(1 + random.below(3))).map { _ in
      OrderTerm(paths.randomElement(using: &random)!, isAscending: random.chance(60))
    }
  }

  @Test(arguments: Seeds.of([41, 42, 43, 44, 45, 46] as [UInt64]))
  func `random orders equal a naive sort, and the comparator agrees`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let fixture = QueryFixture()
    let count = [3, 30, 90, 300, 300, 500][Int(seed - 41)]
    random.fill(fixture, things: count, owners: 20, cities: 5)
    try fixture.encode()
    let source = try fixture.source()
    let keys = fixture.rows[0].keys.sorted()
    for _ in 0..<15 {
      let terms = terms(&random)
      let order = try ResolvedOrder(terms, on: QueryFixture.thing, in: QueryFixture.schema)
      let buffer = SortBuffer(order, source: source)
      for image in try fixture.clusters(QueryFixture.thing) { try buffer.append(image) }
      let sorted = try buffer.sort().map(\.rawValue)
      #expect(sorted == expected(keys, terms, fixture), "\(terms)")
      #expect(buffer.count == 0)
      let comparator = OrderComparator(order, source: source)
      for _ in 0..<100 {
        let (a, b) = (random.below(keys.count), random.below(keys.count))
        let (x, y) = (ObjectKey(sorted[a]), ObjectKey(sorted[b]))
        #expect(try comparator.compare(x, y).signum() == (a - b).signum())
        #expect(try comparator.compare(comparator.sortKey(of: x), y).signum() == (a - b).signum())
      }
    }
  }

  @Test(arguments: Seeds.of([51, 52] as [UInt64]))
  func `matches and single rows in any order sort as whole clusters do`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let fixture = QueryFixture()
    random.fill(fixture, things: 300, owners: 10, cities: 3)
    try fixture.encode()
    let source = try fixture.source()
    let keys = fixture.rows[0].keys.sorted()
    let working = fixture.working(keys, QueryFixture.schema.classes[0])
    let predicate = try ResolvedPredicate(
      .compare("i", .greater, .int(2)), on: QueryFixture.thing, in: QueryFixture.schema)
    for _ in 0..<15 {
      let terms = terms(&random)
      let order = try ResolvedOrder(terms, on: QueryFixture.thing, in: QueryFixture.schema)
      let scan = PredicateScan(predicate, source: source)
      let buffer = SortBuffer(order, source: source)
      for image in try fixture.clusters(QueryFixture.thing) where try scan.evaluate(image) > 0 {
        try buffer.append(image, scan.matches)
      }
      let kept = keys.filter { try! predicate.matches(ObjectKey($0), in: source) }
      #expect(try buffer.sort().map(\.rawValue) == expected(kept, terms, fixture))
      for slot in (0..<keys.count).shuffled(using: &random) { try buffer.append(working, slot) }
      #expect(try buffer.sort().map(\.rawValue) == expected(keys, terms, fixture))
    }
  }

  @Test func `no terms give the order of the keys, and duplicates stay`() throws {
    let fixture = QueryFixture()
    var random = SeededRandom(seed: 61)
    random.fill(fixture, things: 5, owners: 1, cities: 1)
    try fixture.encode()
    let source = try fixture.source()
    let order = try ResolvedOrder([], on: QueryFixture.thing, in: QueryFixture.schema)
    let buffer = SortBuffer(order, source: source)
    #expect(try buffer.sort().isEmpty)
    let image = try fixture.clusters(QueryFixture.thing)[0]
    for slot in [4, 1, 1, 3, 0] { try buffer.append(image, slot) }
    let keys = fixture.rows[0].keys.sorted()
    #expect(try buffer.sort().map(\.rawValue) == [0, 1, 1, 3, 4].map { keys[$0] })
  }

  @Test func `an order that makes no sense is refused`() {
    func message(_ path: String) -> String? {
      do {
        _ = try ResolvedOrder(
          [OrderTerm(path)], on: QueryFixture.thing, in: QueryFixture.schema)
        return nil
      } catch {
        return error.message
      }
    }
    #expect(message("nothing") == "class 'Thing' has no property 'nothing'")
    #expect(message("owner.nothing") == "class 'Owner' has no property 'nothing'")
    #expect(
      message("s.name") == "property 's' of class 'Thing' is not a link: "
        + "'s.name' cannot continue there")
    #expect(
      message("owner.home")
        == "cannot sort by property 'owner.home' of class 'Owner': it is a link, which has no "
        + "order; name a property of its target"
    )
  }

  @Test(arguments: Seeds.of([51, 52, 53, 54] as [UInt64]))
  func `rows that come in any order and twice keep it where they are equal`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let fixture = QueryFixture()
    random.fill(fixture, things: [20, 60, 300, 300][Int(seed - 51)], owners: 20, cities: 5)
    try fixture.encode()
    let source = try fixture.source()
    let keys = fixture.rows[0].keys.sorted()
    let model = QueryModel(fixture: fixture)
    for _ in 0..<10 {
      let terms = terms(&random)
      let order = try ResolvedOrder(terms, on: QueryFixture.thing, in: QueryFixture.schema)
      let appended = keys.indices.map { _ in random.pick(keys) }
      let buffer = SortBuffer(order, source: source)
      for key in appended {
        _ = try source.withRow(QueryFixture.thing, ObjectKey(key)) {
          (row, slot) throws(StorageError) in try buffer.append(row, slot)
        }
      }
      let naive = appended.indices.sorted { a, b in
        let order = model.compare(appended[a], appended[b], terms, QueryFixture.thing)
        return order == 0 ? a < b : order < 0
      }
      #expect(try buffer.sortAsAppended() == naive, "\(terms)")
      #expect(buffer.count == 0)
    }
  }
}
