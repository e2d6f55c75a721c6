import TestSupport
import Testing

@testable import TarnStore

/// The first rows of an order, found without keeping all: those that sorting all of them gives.
@Suite struct FirstRowsTests {
  private static let id = ClassID(0)
  private static let classes = [
    ClassDefinition(
      name: "Frog",
      properties: [
        .init(name: "name", type: .string), .init(name: "age", type: .int),
        .init(name: "size", type: .int, isIndexed: true),
      ])
  ]

  @Test func `more rows than are sorted at once, with many equal ones`() throws {
    var random = SeededRandom(seed: 5)
    let file = TemporaryStore()
    let store = try file.open(Self.classes)
    try store.write { session in
      for _ in 0..<36_000 {
        let values: [ColumnID: Value] = [
          ColumnID(0): .string("n\(random.below(3000))"), ColumnID(1): .int(Int64(random.below(9))),
          ColumnID(2): .int(Int64(random.below(5000))),
        ]
        try session.create(values, in: Self.id)
      }
    }
    let rows = Rows(try SnapshotReader(store.newestSnapshot()))
    let orders = [
      [OrderTerm("name")], [OrderTerm("name", isAscending: false), OrderTerm("age")],
      [OrderTerm("age"), OrderTerm("name")], [OrderTerm("size")],
      [OrderTerm("size", isAscending: false)],
    ]
    for terms in orders {
      for predicate in [Predicate.constant(true), .compare("age", .greater, .int(0))] {
        let query = try CompiledQuery(predicate, terms, on: Self.id, rows.schema)
        let all = try query.evaluate(rows).keys
        for count in [0, 1, 50, 1000] {
          #expect(try query.first(count, rows) == Array(all.prefix(count)), "\(terms) \(count)")
        }
      }
    }
  }

  // MARK: - By keys

  private static let keyed = [
    ClassDefinition(
      name: "Post",
      properties: [
        .init(name: "id", type: .int, isPrimaryKey: true),
        .init(name: "likes", type: .int), .init(name: "day", type: .int, isIndexed: true),
        .init(name: "title", type: .string, isOptional: true, isIndexed: true),
      ])
  ]

  /// Every third key is missing; days come and go, a hundred posts each; a few titles are longer
  /// than an index holds, and some posts have none.
  private static func fill(_ session: WriteSession, _ count: Int64 = 40_000) throws {
    let long = String(repeating: "t", count: 130)
    for number in -count / 4..<count where number % 3 != 0 {
      let title: Value =
        number % 11 == 0 ? .null : .string(number % 997 == 5 ? long + "\(number)" : "b\(number)")
      try session.create(
        [
          ColumnID(0): .int(number), ColumnID(1): .int(number &* 7919 & 1023),
          ColumnID(2): .int(number / 100 * 31 % 400), ColumnID(3): title,
        ], in: id)
    }
  }

  private static let newestFirst = [OrderTerm("id", isAscending: false)]

  @Test func `the keys in either direction need no rows but those at their beginning`() throws {
    let file = TemporaryStore()
    let store = try file.open(Self.keyed)
    try store.write { try Self.fill($0) }
    let reader = try SnapshotReader(store.newestSnapshot())
    let rows = Rows(reader)
    let ascending = try CompiledQuery(.constant(true), [], on: Self.id, rows.schema)
    let all = try ascending.evaluate(rows).keys
    #expect(all == all.sorted())
    #expect(all.count > 30_000)
    let conditions: [(Predicate, (Int64) -> Bool)] = [
      (.constant(true), { _ in true }), (.compare("id", .less, .int(20_000)), { $0 < 20_000 }),
      (.compare("id", .greater, .int(-7)), { $0 > -7 }),
      (.compare("likes", .greater, .int(900)), { $0 &* 7919 & 1023 > 900 }),
    ]
    for (condition, holds) in conditions {
      let swift = all.filter { holds($0.rawValue) }
      for terms in [[], Self.newestFirst] {
        let query = try CompiledQuery(condition, terms, on: Self.id, rows.schema)
        let expected = terms.isEmpty ? swift : swift.reversed()
        let whole = try query.evaluate(rows)
        whole.checkInvariants()
        #expect(whole.keys == expected, "\(condition) \(terms)")
        if let end = try query.end(isLast: false, rows) { #expect(end == expected.first) }
        for count in [0, 1, 50, 1000] {
          let before = reader.clustersRead
          let first = try query.first(count, rows)
          #expect(first == Array(expected.prefix(count)), "\(condition) \(terms) \(count)")
          if count == 50 { #expect(reader.clustersRead - before <= 4, "\(condition) \(terms)") }
        }
      }
    }
    let filtered = try CompiledQuery(conditions[3].0, [], on: Self.id, rows.schema)
    let before = reader.clustersRead
    #expect(
      try filtered.end(isLast: false, rows) == .some(all.first { conditions[3].1($0.rawValue) }))
    #expect(reader.clustersRead - before == 1)
    #expect(try filtered.end(isLast: true, rows) == nil)
    // What hardly ever matches is worth finding as a whole.
    for terms in [[], Self.newestFirst] {
      let rare = try CompiledQuery(
        .compare("likes", .equal, .int(7)), terms, on: Self.id, rows.schema)
      #expect(try rare.first(50, rows) == nil)
      #expect(try rare.first(1, rows)?.count == 1)
    }
  }

  @Test func `within a write the keys begin with the rows that it has`() throws {
    let file = TemporaryStore()
    let store = try file.open(Self.keyed)
    try store.write { try Self.fill($0, 4000) }
    let reader = try SnapshotReader(store.newestSnapshot())
    let session = WriteSession(reader) {}
    let rows = Rows(reader, session)
    for key in [-999, -998, 1, 3998] { _ = try session.delete(ObjectKey(Int64(key)), in: Self.id) }
    for key in [-5000, 0, 9000] {
      try session.create([ColumnID(0): .int(Int64(key))], in: Self.id)
    }
    let ascending = try CompiledQuery(.constant(true), [], on: Self.id, rows.schema)
    #expect(try ascending.first(3, rows) == [-5000, -1000, -997].map { ObjectKey($0) })
    let descending = try CompiledQuery(.constant(true), Self.newestFirst, on: Self.id, rows.schema)
    // Only who keeps all rows looks at those of a write from their end.
    #expect(try descending.first(3, rows) == nil)
    let last = try descending.evaluate(rows).keys(in: 0..<3)
    #expect(last == [9000, 3997, 3995].map { ObjectKey($0) })
  }

  @Test func `an order by keys, from the last to the first, is that of a sort`() throws {
    let file = TemporaryStore()
    let store = try file.open(Self.keyed)
    try store.write { try Self.fill($0, 2000) }
    let rows = Rows(try SnapshotReader(store.newestSnapshot()))
    let query = try CompiledQuery(.constant(true), Self.newestFirst, on: Self.id, rows.schema)
    let buffer = SortBuffer(query.order, source: rows)
    for key in try query.evaluate(rows).keys {
      _ = try rows.withRow(Self.id, key) { (row, slot) throws(StorageError) in
        try buffer.append(row, slot)
      }
    }
    let (keys, prefixes) = try buffer.sortWithPrefixes()
    let sorted = OrderedRoot(sorted: keys, prefixes: prefixes)
    let reversed = try query.evaluate(rows)
    #expect(reversed.keys == sorted.keys)
    #expect(reversed.count > 1000)
    #expect(prefixes == Self.prefixes(reversed))
    #expect(prefixes == Self.prefixes(sorted))
  }

  private static func prefixes(_ root: OrderedRoot) -> [UInt64] {
    var prefixes: [UInt64] = []
    if case .sorted(let rows, _) = root.storage {
      rows.forEachLeaf { leaf in
        for row in leaf.entries { prefixes.append(row.prefix) }
        return true
      }
    }
    return prefixes
  }

  // MARK: - Through an index

  /// Ends of an order that lie within many rows of one value, at rows without one, and beside
  /// values that the index cuts.
  @Test func `an index gives the first rows in either direction, tested on the way`() throws {
    let file = TemporaryStore()
    let store = try file.open(Self.keyed)
    try store.write { try Self.fill($0) }
    let reader = try SnapshotReader(store.newestSnapshot())
    let rows = Rows(reader)
    let days = Predicate.between(Operand(path: "day"), .value(.int(100)), .value(.int(310)))
    let conditions: [Predicate] = [
      .constant(true), days, .compare("day", .less, .int(3)),
      .isIn("day", [.int(7), .int(390), .int(12)]),
      .compare("likes", .greater, .int(500)), .compare("likes", .greater, .int(1000)),
      .compare("likes", .equal, .int(1)), days && .compare("likes", .notEqual, .int(1)),
      .compare("title", .less, .string("b2")), .constant(false),
    ]
    for condition in conditions {
      for terms in ["day", "title"].flatMap({
        [[OrderTerm($0)], [OrderTerm($0, isAscending: false)]]
      }) {
        let query = try CompiledQuery(condition, terms, on: Self.id, rows.schema)
        let all = try query.evaluate(rows).keys
        if let end = try query.end(isLast: false, rows) { #expect(end == all.first) }
        for count in [1, 49, 70, 1000] {
          let first = try query.first(count, rows)
          #expect(first == Array(all.prefix(count)), "\(condition) \(terms) \(count)")
        }
      }
    }
  }

  @Test func `no more rows are looked at than are tested on the way`() throws {
    let file = TemporaryStore()
    let store = try file.open(Self.keyed)
    try store.write { try Self.fill($0) }
    let reader = try SnapshotReader(store.newestSnapshot())
    let rows = Rows(reader)
    let scan = try CompiledQuery(
      .compare("likes", .greater, .int(500)), [], on: Self.id, rows.schema)
    let before = reader.clustersRead
    _ = try scan.evaluate(rows)
    let all = reader.clustersRead - before
    for isAscending in [true, false] {
      let terms = [OrderTerm("day", isAscending: isAscending)]
      let whole = try CompiledQuery(.constant(true), terms, on: Self.id, rows.schema)
      var read = reader.clustersRead
      _ = try whole.first(50, rows)
      #expect(reader.clustersRead == read)
      let half = try CompiledQuery(
        .compare("likes", .greater, .int(500)), terms, on: Self.id, rows.schema)
      read = reader.clustersRead
      _ = try half.first(10, rows)
      let way = try half.explanation(ofFirst: 10, rows)
      #expect(reader.clustersRead - read < all / 4, "\(reader.clustersRead - read): \(way ?? "")")
    }
  }

  /// As a queue is emptied. Every fifth object comes back once, with the value that it had.
  @Test(arguments: [true, false], [true, false])
  func `a write that takes one end of an index away gets the next one`(
    _ isAscending: Bool, _ isLast: Bool
  ) throws {
    let file = TemporaryStore()
    let store = try file.open(Self.classes)
    try store.write { session in
      for number in 0..<1_500 {
        let size = Value.int(Int64(number * 7919 % 13))
        try session.create([ColumnID(2): size], in: Self.id)
      }
    }
    let reader = try SnapshotReader(store.newestSnapshot())
    let terms = [OrderTerm("size", isAscending: isAscending)]
    let query = try CompiledQuery(.constant(true), terms, on: Self.id, reader.schema)
    var expected = try query.evaluate(Rows(reader)).keys
    let session = WriteSession(reader) {}
    let rows = Rows(reader, session)
    for round in 0..<1_400 {
      let end = try query.end(isLast: isLast, rows)
      #expect(end == .some(isLast ? expected.last : expected.first))
      guard let key = end ?? nil else { return }
      let size = try session.value(of: ColumnID(2), at: key, in: Self.id)
      try session.set(ColumnID(2), at: key, in: Self.id, to: .int(isAscending == isLast ? -9 : 99))
      if round % 5 == 0 {
        try session.set(ColumnID(2), at: key, in: Self.id, to: try #require(size))
        #expect(try query.end(isLast: isLast, rows) == .some(key))
      }
      _ = try session.delete(key, in: Self.id)
      expected.remove(at: isLast ? expected.count - 1 : 0)
    }
    #expect(expected.count == 100)
  }
}
