import TarnStore
import TestSupport
import Testing

@Suite struct ScanAggregateTests {
  private func aggregate(_ name: String) throws -> ScanAggregate {
    try ScanAggregate(name, on: QueryFixture.thing, in: QueryFixture.schema)
  }

  @Test(arguments: [91, 92, 93] as [UInt64])
  func `random columns give what their values say`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let fixture = QueryFixture()
    random.fill(fixture, things: 300, owners: 2, cities: 1)
    try fixture.encode()
    let source = try fixture.source()
    let predicate = try ResolvedPredicate(
      .compare("b", .equal, .bool(true)), on: QueryFixture.thing, in: QueryFixture.schema)
    for name in ["i", "iN", "f", "fN", "x", "xN", "m", "mN", "t", "tN"] {
      var (some, all) = (try aggregate(name), try aggregate(name))
      let scan = PredicateScan(predicate, source: source)
      for image in source.clusters[0] {
        _ = try scan.evaluate(image)
        some.append(image, scan.matches)
        all.append(image)
      }
      let classSchema = QueryFixture.schema.classes[0]
      let index = classSchema.named(name)!.id.index
      let flag = classSchema.named("b")!.id.index
      let rows = fixture.rows[0].keys.sorted().map { fixture.rows[0][$0]! }
      check(all, rows.map { $0[index] })
      check(some, rows.filter { $0[flag] == .bool(true) }.map { $0[index] })
    }
  }

  private func check(_ aggregate: ScanAggregate, _ values: [Value]) {
    let values = values.filter { value in
      switch value {
      case .null: false
      case .double(let value): !value.isNaN
      case .float(let value): !value.isNaN
      case .decimal(let cell): !DecimalNumber(cell).isNaN
      default: true
      }
    }
    #expect(aggregate.count == values.count)
    let sorted = values.sorted { QueryModel.compare($0, $1) < 0 }
    #expect(QueryModel.compare(aggregate.min, sorted.first ?? .null) == 0)
    #expect(QueryModel.compare(aggregate.max, sorted.last ?? .null) == 0)
    var (whole, real, decimal) = (Int128(0), 0.0, DecimalNumber.zero)
    for value in values {
      if case .int(let value) = value { whole += Int128(value) }
      if case .double(let value) = value { real += value }
      if case .float(let value) = value { real += Double(value) }
      if case .decimal(let cell) = value { decimal = decimal + DecimalNumber(cell) }
    }
    switch aggregate.path.type {
    case .date:
      #expect(aggregate.sum == .null)
      #expect(aggregate.average == .null)
    case .decimal:
      #expect(aggregate.sum == .decimal(decimal.cell))
      let average = decimal / DecimalNumber(Int64(values.count))
      #expect(aggregate.average == (values.isEmpty ? .null : .decimal(average.cell)))
    case .int:
      #expect(aggregate.sum == Int64(exactly: whole).map { .int($0) } ?? .double(Double(whole)))
      let average = values.isEmpty ? Value.null : .double(Double(whole) / Double(values.count))
      #expect(aggregate.average == average)
    default:
      guard case .double(let sum) = aggregate.sum else { return #expect(Bool(false)) }
      #expect(sum == real || (sum.isNaN && real.isNaN))
    }
  }

  @Test func `a sum beyond 64 bits is a double, and none is nothing`() throws {
    let fixture = QueryFixture()
    var random = SeededRandom(seed: 94)
    random.fill(fixture, things: 3, owners: 1, cities: 1)
    let keys = fixture.rows[0].keys.sorted()
    for key in keys { fixture.rows[0][key]![1] = .int(.max) }
    let working = fixture.working(keys, QueryFixture.schema.classes[0])
    var sum = try aggregate("i")
    #expect(sum.sum == .int(0))
    #expect(sum.min == .null)
    #expect(sum.average == .null)
    for slot in 0..<3 { sum.append(working, slot) }
    #expect(sum.sum == .double(3 * 0x1p63))
    #expect(sum.max == .int(.max))
    func refusal(_ text: String) -> PredicateError {
      PredicateError("property \(text), which has no minimum, maximum or sum")
    }
    #expect(throws: refusal("'s' of class 'Thing' is of type string")) { try aggregate("s") }
    #expect(throws: refusal("'owner' of class 'Thing' is of type link to 'Owner'")) {
      try aggregate("owner")
    }
  }
}
