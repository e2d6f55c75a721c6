import TestSupport
import Testing

@testable import TarnStore

/// Null in comparisons by order: of two properties, behind links, and through an index.
///
/// Two nulls are `<=` and `>=`, and neither `<` nor `>`. Null and a value are none of these, except
/// as strings: null precedes every string.
@Suite struct NullOrderTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var type: ColumnType
    /// A lesser and a greater value.
    var values: [Value]
    var testDescription: String { "\(type)" }
  }

  private static func decimal(_ text: String) -> Value { .decimal(DecimalNumber(text: text)!.cell) }

  private static let cases = [
    Case(type: .int, values: [.int(-1), .int(7)]),
    Case(type: .float, values: [.float(-1), .float(7)]),
    Case(type: .double, values: [.double(-1), .double(7)]),
    Case(type: .decimal, values: [decimal("-1"), decimal("7.0")]),
    Case(type: .string, values: [.string(""), .string("b")]),
    Case(type: .data, values: [.data([]), .data([9])]),
    Case(
      type: .date,
      values: [
        .date(Timestamp(seconds: -1, nanoseconds: 0)), .date(Timestamp(seconds: 9, nanoseconds: 0)),
      ]),
    Case(
      type: .objectID,
      values: [.objectID(Bytes12(high: 0, low: 0)), .objectID(Bytes12(high: 9, low: 0))]),
    Case(
      type: .uuid, values: [.uuid(Bytes16(high: 0, low: 0)), .uuid(Bytes16(high: 9, low: 0))]),
    Case(type: .any, values: [.int(1), .double(7)]),
    Case(type: .any, values: [.string("a"), .string("b")]),
  ]

  private static let orders: [ComparisonOperator] = [
    .less, .lessOrEqual, .greater, .greaterOrEqual,
  ]
  private static let id = ClassID(0)
  private static let (a, b, next) = (ColumnID(0), ColumnID(1), ColumnID(2))

  private static func classes(_ type: ColumnType) -> [ClassDefinition] {
    [
      ClassDefinition(
        name: "Pond",
        properties: [
          .init(name: "a", type: type, isOptional: true, isIndexed: true),
          .init(name: "b", type: type, isOptional: true),
          .init(name: "next", type: .link, isOptional: true, target: "Pond"),
        ])
    ]
  }

  private static func expected(
    _ a: Value, _ op: ComparisonOperator, _ b: Value, _ type: ColumnType
  ) -> Bool {
    switch (a == .null, b == .null) {
    case (true, true): op == .lessOrEqual || op == .greaterOrEqual
    case (false, false): op.accepts(SequenceOrder.compare(a, b))
    case (true, false): type == .string && (op == .less || op == .lessOrEqual)
    case (false, true): type == .string && (op == .greater || op == .greaterOrEqual)
    }
  }

  /// What the condition finds in stored rows, and in the same rows under edit.
  private func found(_ predicate: Predicate, _ reader: SnapshotReader) throws -> [Set<ObjectKey>] {
    let session = WriteSession(reader) {}
    for key in try reader.allKeys(in: Self.id) { _ = try session.edit(key, in: Self.id) }
    return try [Rows(reader), Rows(reader, session)].map { rows in
      let query = try CompiledQuery(predicate, [], on: Self.id, rows.schema)
      let keys = Set(try query.evaluate(rows).keys)
      for key in try reader.allKeys(in: Self.id) {
        #expect(try query.predicate.matches(key, in: rows) == keys.contains(key), "\(predicate)")
      }
      return keys
    }
  }

  /// Rows with every pair of values, a row that leads to each of them, and one that leads to none.
  private func fill(_ store: Store, _ values: [Value]) throws -> [(key: ObjectKey, pair: [Value])] {
    try store.write { session in
      var rows: [(ObjectKey, [Value])] = []
      for x in values {
        for y in values {
          let key = try session.create([Self.a: x, Self.b: y], in: Self.id)
          let far = try session.create([Self.next: .link(key)], in: Self.id)
          rows += [(key, [x, y, .null, .null]), (far, [.null, .null, x, y])]
        }
      }
      return rows + [(try session.create([:], in: Self.id), [.null, .null, .null, .null])]
    }
  }

  @Test(arguments: cases)
  func `two properties, also behind links that lead nowhere`(_ table: Case) throws {
    let file = TemporaryStore()
    let store = try file.open(Self.classes(table.type))
    let rows = try fill(store, [.null] + table.values)
    let reader = try SnapshotReader(store.newestSnapshot())
    let sides: [Path] = [["a"], ["b"], ["next", "a"], ["next", "b"]]
    for (left, right) in [(0, 1), (1, 0), (2, 3), (2, 0), (1, 3)] {
      for op in Self.orders {
        let expected = rows.filter { row in
          Self.expected(row.pair[left], op, row.pair[right], table.type)
        }
        let condition = Comparison(.path(sides[left]), op, .path(sides[right]))
        for keys in try found(.comparison(condition), reader) {
          #expect(keys == Set(expected.map(\.key)), "\(condition)")
        }
      }
    }
  }

  @Test(arguments: cases)
  func `a property and a constant on either side, also behind links`(_ table: Case) throws {
    let file = TemporaryStore()
    let store = try file.open(Self.classes(table.type))
    let rows = try fill(store, [.null] + table.values)
    let reader = try SnapshotReader(store.newestSnapshot())
    for (side, names) in ([["a"], ["b"], ["next", "a"], ["next", "b"]] as [Path]).enumerated() {
      for constant in [.null] + table.values {
        for op in Self.orders {
          let expected = rows.filter { Self.expected($0.pair[side], op, constant, table.type) }
          let mirrored = try #require(op.mirrored)
          let conditions = [
            Comparison(.path(names), op, .value(constant)),
            Comparison(.value(constant), mirrored, .path(names)),
          ]
          for condition in conditions {
            for keys in try found(.comparison(condition), reader) {
              #expect(keys == Set(expected.map(\.key)), "\(condition)")
            }
          }
        }
      }
    }
  }

  @Test(arguments: cases.filter { $0.type != .any })
  func `an index has the same answers, and leads to few rows`(_ table: Case) throws {
    let file = TemporaryStore()
    let store = try file.open(Self.classes(table.type))
    let rows = try fill(store, [.null] + table.values)
    try store.write { session in
      for _ in 0..<20_000 {
        try session.create([Self.a: table.values[1], Self.b: table.values[1]], in: Self.id)
      }
    }
    let reader = Rows(try SnapshotReader(store.newestSnapshot()))
    let few = Set(rows.map(\.key))
    for (op, constant) in [(ComparisonOperator.less, 1), (.lessOrEqual, 0)] {
      let condition = Predicate.compare("a", op, table.values[constant])
      let query = try CompiledQuery(condition, [], on: Self.id, reader.schema)
      let plan = try query.explanation(reader)
      #expect(plan[0].hasPrefix("find: the index on 'a': "), "\(plan)")
      let expected = rows.filter {
        Self.expected($0.pair[0], op, table.values[constant], table.type)
      }
      let found = try query.evaluate(reader).keys
      #expect(Set(found) == Set(expected.map(\.key)), "\(condition)")
      #expect(few.isSuperset(of: found))
    }
  }

  @Test func `sorting has null first, whatever the comparisons say`() throws {
    for table in Self.cases {
      let file = TemporaryStore()
      let store = try file.open(Self.classes(table.type))
      let rows = try fill(store, [.null] + table.values)
      let reader = Rows(try SnapshotReader(store.newestSnapshot()))
      for name in ["a", "b"] {
        let query = try CompiledQuery(
          .constant(true), [OrderTerm(name)], on: Self.id, reader.schema)
        let sorted = try query.evaluate(reader).keys.map { key in
          try reader.plainValue(of: name == "a" ? Self.a : Self.b, at: key, in: Self.id)
        }
        let nulls = rows.filter { $0.pair[name == "a" ? 0 : 1] == .null }.count
        #expect(sorted.prefix(nulls).allSatisfy { $0 == .null }, "\(table.type)")
        #expect(!sorted.dropFirst(nulls).contains(.null), "\(table.type)")
      }
    }
  }
}
