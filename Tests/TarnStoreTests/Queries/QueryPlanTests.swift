import TestSupport
import Testing

@testable import TarnStore

/// Queries through indexes find what a scan finds: the same rows are in a class whose properties
/// are indexed and in one whose properties are not.
@Suite struct QueryPlanTests {
  private static let types: [(String, ColumnType)] = [
    ("int", .int), ("bool", .bool), ("float", .float), ("double", .double),
    ("decimal", .decimal), ("string", .string), ("data", .data), ("date", .date),
    ("objectID", .objectID), ("uuid", .uuid), ("any", .any),
  ]

  private static func definition(_ name: String, isIndexed: Bool) -> ClassDefinition {
    ClassDefinition(
      name: name,
      properties: [ClassDefinition.Property(name: "_id", type: .int, isPrimaryKey: true)]
        + types.map {
          ClassDefinition.Property(
            name: $0.0, type: $0.1, isOptional: true, isIndexed: isIndexed)
        } + [
          ClassDefinition.Property(name: "owner", type: .link, isOptional: true, target: "Owner"),
          ClassDefinition.Property(
            name: "friends", type: .link, collection: .list, target: "Owner"),
        ],
      uniqueRules: isIndexed ? [["_id", "string"]] : [])
  }

  private static let classes = [
    definition("Indexed", isIndexed: true), definition("Plain", isIndexed: false),
    ClassDefinition(name: "Owner", properties: [.init(name: "name", type: .string)]),
  ]
  private static let (indexed, plain, owner) = (ClassID(0), ClassID(1), ClassID(2))
  private static let long = String(repeating: "x", count: 140)

  // MARK: - Random rows and conditions

  /// Of few values some, so that many rows share one, and of many others some.
  private static func value(_ type: ColumnType, _ random: inout SeededRandom) -> Value {
    if random.chance(5) { return .null }
    let small = random.chance(50) ? random.below(4) : random.below(4000)
    switch type {
    case .int: return .int(random.chance(2) ? .min : Int64(small) - 2)
    case .bool: return .bool(small % 2 == 0)
    case .float:
      return random.chance(3) ? .float(.nan) : .float(small == 0 ? -0.0 : Float(small) / 4)
    case .double:
      return random.chance(3) ? .double(.nan) : .double(small == 0 ? -0.0 : Double(small) / 4)
    case .decimal:
      return .decimal(DecimalNumber(text: random.chance(3) ? "NaN" : "\(small - 1).50")!.cell)
    case .string: return .string(text(small, &random))
    case .data: return .data(Array(text(small, &random).utf8))
    case .date: return .date(Timestamp(seconds: Int64(small), nanoseconds: Int32(small % 3)))
    case .objectID: return .objectID(Bytes12(high: UInt64(small), low: UInt32(small % 3)))
    case .uuid: return .uuid(Bytes16(high: UInt64(small), low: UInt64(small % 3)))
    case .link: return .object(owner, ObjectKey(Int64(small % 300)))
    case .any: return value(anyType(&random), &random)
    }
  }

  /// What a value of any type is.
  private static func anyType(_ random: inout SeededRandom) -> ColumnType {
    random.chance(10) ? .link : random.pick(types.dropLast()).1
  }

  /// Some are longer than an index holds, and differ behind that only.
  private static func text(_ number: Int, _ random: inout SeededRandom) -> String {
    random.chance(3) ? long + "\(number % 7)" : number == 0 ? "" : "n\(number)"
  }

  private static func condition(
    depth: Int, _ owners: [ObjectKey], _ random: inout SeededRandom
  ) -> Predicate {
    if depth > 0 {
      func terms() -> [Predicate] {
        (0..<(2 + random.below(2))).map { _ in condition(depth: depth - 1, owners, &random) }
      }
      switch random.below(8) {
      case 0, 1, 2: return .and(terms())
      case 3, 4: return .or(terms())
      case 5: return .not(condition(depth: depth - 1, owners, &random))
      default: break
      }
    }
    return comparison(owners, &random)
  }

  private static func comparison(
    _ owners: [ObjectKey], _ random: inout SeededRandom
  ) -> Predicate {
    let (name, column) = random.pick(types)
    let type = column == .any ? anyType(&random) : column
    let orders: [ComparisonOperator] = [.less, .lessOrEqual, .greater, .greaterOrEqual]
    switch random.below(10) {
    case 0: return .compare("owner", .equal, .link(random.pick(owners)))
    case 1:
      return .any(["friends"], .equal, .value(.link(random.pick(owners))))
    case 2:
      let low = Int64(random.below(4000))
      return .between(
        Operand(path: "_id"), .value(.int(low)), .value(.int(low + Int64(random.below(60)))))
    case 3: return .isIn("_id", (0..<3).map { _ in .int(Int64(random.below(5000))) })
    case 4, 5:
      return .isIn(name, (0..<(1 + random.below(4))).map { _ in value(type, &random) })
    case 6 where type == .string:
      let (op, text) = random.pick(
        [
          (.beginsWith, "n1"), (.like, "n2*"), (.like, "*2"),
          (.beginsWith, String(long.prefix(130))),
          (.contains, "3"),
        ] as [(ComparisonOperator, String)])
      return .compare(name, op, .string(text), random.chance(20) ? .caseInsensitive : [])
    case 6 where type != .bool && type != .link, 7 where type != .bool && type != .link:
      return .between(
        Operand(path: name), .value(value(type, &random)), .value(value(type, &random)))
    default:
      let op =
        random.chance(70) || type == .bool || type == .link
        ? .equal : random.pick(orders + [.notEqual])
      return .compare(name, op, value(type, &random))
    }
  }

  private static func order(_ random: inout SeededRandom) -> [OrderTerm] {
    (0..<random.below(3)).map { _ in
      OrderTerm(
        random.chance(10) ? "_id" : random.pick(types).0, isAscending: random.chance(50))
    }
  }

  private static func set(
    _ key: Int64, in id: ClassID, _ values: [Value], _ owners: [ObjectKey], isNew: Bool,
    _ session: WriteSession
  ) throws {
    let row = ObjectKey(key)
    if isNew { try session.create([ColumnID(0): .int(key)], in: id) }
    for (number, value) in values.enumerated() {
      try session.set(ColumnID(UInt16(number + 1)), at: row, in: id, to: value)
    }
    let (link, list) = (ColumnID(UInt16(types.count + 1)), ColumnID(UInt16(types.count + 2)))
    try session.set(link, at: row, in: id, to: .link(owners[0]))
    let place = SequencePlace(classID: id, key: row, column: list)
    for owner in owners { try session.insert(.link(owner), at: 0, in: place) }
  }

  /// The same rows in both classes; returns the objects that they link to.
  private static func fill(
    _ count: Int, _ session: WriteSession, _ random: inout SeededRandom
  ) throws -> [ObjectKey] {
    let owners = try (0..<300).map { _ in try session.create([:], in: owner) }
    try #require(owners == (0..<300).map { ObjectKey($0) })
    for key in 0..<Int64(count) where !random.chance(5) {
      let values = types.map { value($0.1, &random) }
      let linked = (0..<(1 + random.below(2))).map { _ in random.pick(owners) }
      for id in [indexed, plain] {
        try set(key, in: id, values, linked, isNew: true, session)
      }
    }
    return owners
  }

  private static func change(
    _ owners: [ObjectKey], _ session: WriteSession, _ random: inout SeededRandom
  ) throws {
    for step in 0..<30 {
      let key = Int64(random.below(4000))
      let exists = try session.find(primaryKey: .int(key), in: indexed) != nil
      let values = types.map { value($0.1, &random) }
      let linked = [random.pick(owners)]
      for id in [indexed, plain] {
        if exists, step % 3 == 0 {
          try session.delete(ObjectKey(key), in: id)
        } else {
          try set(key, in: id, values, linked, isNew: !exists, session)
        }
      }
    }
  }

  // MARK: - The same rows

  private struct Count {
    var indexed = 0
    var begun = 0
    var walked = 0
  }

  private static func check(
    _ rows: Rows, _ owners: [ObjectKey], _ random: inout SeededRandom, _ count: inout Count
  ) throws {
    let isWhole = random.chance(20)
    let predicate =
      isWhole ? .constant(true) : condition(depth: random.below(3), owners, &random)
    let terms =
      isWhole ? [OrderTerm(random.pick(types).0, isAscending: random.chance(50))] : order(&random)
    let made = try CompiledQuery(predicate, terms, on: indexed, rows.schema)
    // As it is once it is followed.
    let quick = random.chance(30) ? made.compact : made
    let slow = try CompiledQuery(predicate, terms, on: plain, rows.schema)
    let expected = try slow.evaluate(rows)
    let found = try quick.evaluate(rows)
    found.checkInvariants()
    #expect(found.keys == expected.keys, "\(predicate) sorted by \(terms)")
    if try quick.plan(rows).usesIndex { count.indexed += 1 }
    for number in [1, 40] {
      guard let first = try quick.first(number, rows) else { continue }
      count.begun += 1
      #expect(first == Array(expected.keys.prefix(number)), "\(predicate) sorted by \(terms)")
    }
    for isLast in [false, true] {
      guard let end = try quick.end(isLast: isLast, rows) else { continue }
      count.walked += 1
      #expect(end == (isLast ? expected.keys.last : expected.keys.first), "\(predicate) \(terms)")
    }
    // Also the form of the ends does not depend on how the rows are found.
    let aggregates = ["int", "double", "decimal"].flatMap { name in
      AggregateTerm.Kind.allCases.map { AggregateTerm($0, of: name) }
    }
    #expect(
      try GroupQuery(quick, by: nil, aggregates, rows.schema.schema).values(of: nil, rows)
        == GroupQuery(slow, by: nil, aggregates, rows.schema.schema).values(of: nil, rows),
      "\(predicate)")
  }

  @Test(arguments: Seeds.of(1...4 as ClosedRange<UInt64>))
  func `indexes lead to the rows that a scan finds`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let file = TemporaryStore()
    let store = try file.open(Self.classes)
    let owners = try store.write { try Self.fill(4000, $0, &random) }
    let reader = try SnapshotReader(store.newestSnapshot())
    var count = Count()
    for _ in 0..<150 { try Self.check(Rows(reader), owners, &random, &count) }
    let session = WriteSession(reader) {}
    for _ in 0..<4 {
      try Self.change(owners, session, &random)
      for _ in 0..<25 { try Self.check(Rows(reader, session), owners, &random, &count) }
    }
    #expect(count.indexed > 60)
    #expect(count.begun > 200)
    #expect(count.walked > 2)
  }

  // MARK: - What is read

  private static func reads(
    _ predicate: Predicate, _ terms: [OrderTerm] = [], in reader: SnapshotReader
  ) throws -> (keys: [ObjectKey], clusters: Int, plan: [String]) {
    let rows = Rows(reader)
    let query = try CompiledQuery(predicate, terms, on: indexed, rows.schema)
    let before = reader.clustersRead
    let keys = try query.evaluate(rows).keys
    return (keys, reader.clustersRead - before, try query.explanation(rows))
  }

  @Test func `a query through an index reads no clusters but those of the rows it tests`() throws {
    let file = TemporaryStore()
    let store = try file.open(Self.classes)
    let count = 20_000
    let owners = try store.write { session in
      let owners = try (0..<2).map { _ in try session.create([:], in: Self.owner) }
      for number in 0..<Int64(count) {
        let key = ObjectKey(number)
        try session.create([ColumnID(0): .int(number)], in: Self.indexed)
        try session.set(ColumnID(1), at: key, in: Self.indexed, to: .int(number / 2))
        try session.set(ColumnID(6), at: key, in: Self.indexed, to: .string("n\(number)"))
      }
      return owners
    }
    let reader = try SnapshotReader(store.newestSnapshot())
    let all = try Self.reads(.compare("bool", .equal, .bool(true)), in: reader)
    let (scan, total) = (try Self.reads(.compare("_id", .notEqual, .int(0)), in: reader), count)
    #expect(scan.keys.count == total - 1)
    #expect(scan.clusters > 20)
    #expect(all.keys.isEmpty)
    #expect(all.clusters == 0)

    let byKey = try Self.reads(.compare("_id", .equal, .int(777)), in: reader)
    #expect(byKey.keys == [ObjectKey(777)])
    #expect(byKey.clusters == 1)
    let byIndex = try Self.reads(.compare("int", .equal, .int(500)), in: reader)
    #expect(byIndex.keys == [ObjectKey(1000), ObjectKey(1001)])
    #expect(byIndex.clusters == 0)
    let tested = try Self.reads(
      .compare("int", .equal, .int(500)) && .compare("string", .endsWith, .string("1")),
      in: reader)
    #expect(tested.keys == [ObjectKey(1001)])
    #expect(tested.clusters <= 2)
    let unique = try Self.reads(
      .compare("string", .equal, .string("n9")) && .compare("_id", .equal, .int(9)), in: reader)
    #expect(unique.keys == [ObjectKey(9)])
    #expect(unique.clusters <= 2)
    let either = try Self.reads(
      .compare("int", .equal, .int(3)) || .compare("string", .equal, .string("n12000")),
      in: reader)
    #expect(either.keys == [6, 7, 12000].map { ObjectKey($0) })
    #expect(either.clusters == 0)
    let sorted = try Self.reads(
      .between(Operand(path: "int"), .value(.int(100)), .value(.int(149))),
      [OrderTerm("int", isAscending: false)], in: reader)
    #expect(sorted.clusters == 0)
    #expect(sorted.keys.first == ObjectKey(298))
    let part = try Self.reads(.compare("_id", .less, .int(1000)), in: reader)
    #expect(part.keys.count == 1000)
    #expect(part.clusters < scan.clusters / 4)
    let linked = try Self.reads(.compare("owner", .equal, .link(owners[0])), in: reader)
    #expect(linked.keys.isEmpty, "\(linked)")
    #expect(linked.clusters == 0, "\(linked)")
  }

  @Test func `the ends of a class need no other rows`() throws {
    let file = TemporaryStore()
    let store = try file.open(Self.classes)
    func query(_ terms: [OrderTerm], _ rows: Rows) throws -> CompiledQuery {
      try CompiledQuery(.constant(true), terms, on: Self.indexed, rows.schema)
    }
    let orders = [
      [], [OrderTerm("_id")], [OrderTerm("_id", isAscending: false)],
      [OrderTerm("_id", isAscending: false), OrderTerm("string")],
    ]
    let empty = Rows(try SnapshotReader(store.newestSnapshot()))
    for terms in orders {
      for isLast in [false, true] {
        #expect(try query(terms, empty).end(isLast: isLast, empty) == .some(nil))
      }
    }
    try store.write { session in
      for number in -300..<Int64(9_000) {
        try session.create([ColumnID(0): .int(number)], in: Self.indexed)
      }
    }
    let reader = try SnapshotReader(store.newestSnapshot())
    let rows = Rows(reader)
    for terms in orders {
      for isLast in [false, true] {
        let asked = try query(terms, rows)
        let before = reader.clustersRead
        let end = try asked.end(isLast: isLast, rows)
        #expect(reader.clustersRead - before <= 1)
        let all = try asked.evaluate(rows).keys
        #expect(end == .some(isLast ? all.last : all.first), "\(terms)")
      }
    }
    // What is filtered has other ends.
    let some = try CompiledQuery(
      .compare("_id", .greater, .int(5)), [], on: Self.indexed, rows.schema)
    #expect(try some.end(isLast: false, rows) == nil)
    try Self.checkEnds(query, reader)
  }

  /// A write takes the ends away, until there is nothing left, and adds new ones.
  private static func checkEnds(
    _ query: ([OrderTerm], Rows) throws -> CompiledQuery, _ reader: SnapshotReader
  ) throws {
    let session = WriteSession(reader) {}
    let rows = Rows(reader, session)
    func expect(_ first: Int64?, _ last: Int64?) throws {
      for terms in [[], [OrderTerm("_id")], [OrderTerm("_id", isAscending: false)]] {
        let keys = [first, last].map { $0.map { ObjectKey($0) } }
        let ends = terms.first?.isAscending == false ? keys.reversed() : keys
        #expect(try query(terms, rows).end(isLast: false, rows) == .some(ends[0]))
        #expect(try query(terms, rows).end(isLast: true, rows) == .some(ends[1]))
      }
    }
    func delete(_ keys: Range<Int64>) throws {
      for key in keys { _ = try session.delete(ObjectKey(key), in: indexed) }
    }
    try delete(-300 ..< -299)
    try expect(-299, 8_999)
    try delete(-299..<3_000)
    try delete(6_000..<9_000)
    try expect(3_000, 5_999)
    for key in [-7, 20_000] as [Int64] { try session.create([ColumnID(0): .int(key)], in: indexed) }
    try expect(-7, 20_000)
    try delete(-7..<20_001)
    try expect(nil, nil)
    try session.create([ColumnID(0): .int(5)], in: indexed)
    try expect(5, 5)
    try session.clear(indexed)
    try expect(nil, nil)
    for key in 7..<2_000 as Range<Int64> {
      try session.create([ColumnID(0): .int(key)], in: indexed)
    }
    try expect(7, 1_999)
  }
}
