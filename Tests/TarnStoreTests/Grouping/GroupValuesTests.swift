import TestSupport
import Testing

@testable import TarnStore

/// Aggregates of all rows together, read once.
@Suite struct GroupValuesTests {
  private static let types: [(String, ColumnType)] = [
    ("int", .int), ("float", .float), ("double", .double), ("decimal", .decimal), ("date", .date),
  ]
  private static let classes = [
    ClassDefinition(
      name: "Thing",
      properties: [ClassDefinition.Property(name: "flag", type: .bool)]
        + types.map { ClassDefinition.Property(name: $0.0, type: $0.1, isOptional: true) } + [
          ClassDefinition.Property(name: "text", type: .string),
          ClassDefinition.Property(name: "other", type: .link, isOptional: true, target: "Thing"),
        ])
  ]
  private static let thing = ClassID(0)

  private static func value(_ type: ColumnType, _ random: inout SeededRandom) -> Value {
    if random.chance(10) { return .null }
    switch type {
    case .int: return .int(random.pick([.max, .min, 1, -1, Int64(random.below(1000))]))
    case .float: return .float(random.pick([.nan, -0.0, 0, 0.1, 1e30]))
    case .double: return .double(random.pick([.nan, -0.0, 0, 0.1, 1e300, -1e300, 1e-300]))
    case .decimal:
      let text = random.pick(["NaN", "1.10", "1.1", "-0", "0.00", "1E+33", "-1E+33", "0.5"])
      return .decimal(DecimalNumber(text: text)!.cell)
    default: return .date(Timestamp(seconds: Int64(random.below(5)), nanoseconds: 7))
    }
  }

  /// The rows of a new store, and their values by column.
  private static func rows(
    _ count: Int, _ seed: UInt64
  ) throws -> (rows: Rows, flags: [Bool], values: [[Value]], file: TemporaryStore) {
    var random = SeededRandom(seed: seed)
    let file = TemporaryStore()
    let store = try file.open(classes)
    var (flags, values): ([Bool], [[Value]]) = ([], types.map { _ in [] })
    try store.write { session in
      for _ in 0..<count {
        flags.append(random.chance(50))
        var row = [ColumnID(0): Value.bool(flags[flags.count - 1])]
        for (index, type) in types.enumerated() {
          values[index].append(value(type.1, &random))
          row[ColumnID(UInt16(index + 1))] = values[index][values[index].count - 1]
        }
        try session.create(row, in: thing)
      }
    }
    return (Rows(try SnapshotReader(store.newestSnapshot())), flags, values, file)
  }

  private static func terms(_ name: String, _ type: ColumnType) -> [AggregateTerm] {
    let kinds = AggregateTerm.Kind.allCases.filter {
      type != .date || $0 != .sum && $0 != .average
    }
    return kinds.map { AggregateTerm($0, of: name) }
  }

  @Test(arguments: [91, 92, 93] as [UInt64])
  func `aggregates of columns are those of their values`(_ seed: UInt64) throws {
    let (rows, flags, values, file) = try Self.rows(seed == 93 ? 1 : 3000, seed)
    defer { withExtendedLifetime(file) {} }
    for isFlagged in [false, true] {
      let predicate = isFlagged ? Predicate.compare("flag", .equal, .bool(true)) : .constant(true)
      let query = try CompiledQuery(predicate, [], on: Self.thing, rows.schema)
      let keys = try query.evaluate(rows).keys
      for (index, (name, type)) in Self.types.enumerated() {
        let groups = try GroupQuery(query, by: nil, Self.terms(name, type), rows.schema.schema)
        let shown = zip(values[index], flags).filter { !isFlagged || $0.1 }.map(\.0)
        let expected = Self.expected(shown, type)
        #expect(try groups.values(of: nil, rows) == expected, "\(name)")
        #expect(try groups.values(of: keys, rows) == expected, "\(name)")
        #expect(try groups.evaluate(rows).values(at: 0) == expected, "\(name)")
        #expect(try groups.evaluate(keys, rows).values(at: 0) == expected, "\(name)")
      }
    }
  }

  /// In the order of `terms`.
  private static func expected(_ values: [Value], _ type: ColumnType) -> [Value] {
    var (totals, ends) = (Totals(of: type), RunningEnds())
    for value in values.shuffled() {
      totals.add(value)
      ends.add(value)
    }
    if type == .date {
      return [.int(Int64(values.count { $0 != .null })), ends.least, ends.greatest]
    }
    return [
      .int(Int64(totals.count)), totals.sum, ends.least, ends.greatest, totals.average,
    ]
  }

  @Test func `only numbers and dates are aggregated`() throws {
    let (rows, _, _, file) = try Self.rows(1, 1)
    defer { withExtendedLifetime(file) {} }
    for (name, problem) in [
      ("text", "property 'text' of class 'Thing' is of type string"),
      ("other", "property 'other' of class 'Thing' is of type link to 'Thing'"),
    ] {
      let refusal = PredicateError("\(problem), which has no minimum, maximum or sum")
      #expect(throws: refusal) {
        let query = CompiledQuery(everythingIn: Self.thing, rows.schema)
        _ = try GroupQuery(query, by: nil, [AggregateTerm(.min, of: name)], rows.schema.schema)
      }
    }
  }
}
