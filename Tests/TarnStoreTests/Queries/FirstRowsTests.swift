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
    let rows = StoreRows(try SnapshotReader(store.newestSnapshot()))
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
    var expected = try query.evaluate(StoreRows(reader)).keys
    let session = WriteSession(reader) {}
    let rows = StoreRows(reader, session)
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
