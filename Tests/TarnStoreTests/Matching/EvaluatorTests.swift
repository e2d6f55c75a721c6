import TestSupport
import Testing

@testable import TarnStore

/// One table of cases for everything that evaluates a condition: the scan of clusters, the look at
/// single rows, be they stored or under edit, and the look at values that are in no row, as the
/// elements of a list.
@Suite struct EvaluatorTests {
  /// The values of one column, and what it is compared with.
  struct Case: CustomTestStringConvertible {
    var type: ColumnType
    var values: [Value]
    var testDescription: String { "\(type)" }
  }

  private static func decimal(_ text: String) -> Value {
    .decimal(DecimalNumber(text: text)!.cell)
  }
  private static let long = String(repeating: "abcdefgh", count: 60)

  static let cases = [
    Case(type: .int, values: [.null, .int(.min), .int(-1), .int(0), .int(1), .int(.max)]),
    Case(type: .bool, values: [.null, .bool(false), .bool(true)]),
    Case(
      type: .float,
      values: [
        .null, .float(.nan), .float(-.infinity), .float(-0.0), .float(0), .float(0.1), .float(1),
        .float(.infinity),
      ]),
    Case(
      type: .double,
      values: [
        .null, .double(.nan), .double(-.infinity), .double(-0.0), .double(0), .double(0.1),
        .double(0x1p53), .double(.infinity),
      ]),
    Case(
      type: .decimal,
      values: [.null] + ["NaN", "-Infinity", "-1.0", "0", "0.1", "1", "1.00"].map(decimal)),
    Case(
      type: .string,
      values: [.null] + ["", "a", "A", "ab", "é", long, long + "x"].map { .string($0) }),
    Case(type: .data, values: [.null, .data([]), .data([0]), .data([0, 1]), .data([255])]),
    Case(
      type: .date,
      values: [
        .null, .date(Timestamp(seconds: -1, nanoseconds: 5)),
        .date(Timestamp(seconds: 0, nanoseconds: 0)), .date(Timestamp(seconds: 0, nanoseconds: 1)),
      ]),
    Case(
      type: .objectID,
      values: [
        .null, .objectID(Bytes12(high: 0, low: 0)), .objectID(Bytes12(high: .max, low: 1)),
      ]),
    Case(
      type: .uuid,
      values: [.null, .uuid(Bytes16(high: 0, low: 1)), .uuid(Bytes16(high: .max, low: .max))]),
  ]

  /// Null and not a number are equal to their like. Null and a value have an order only among
  /// strings, and not a number has none.
  private func expected(
    _ value: Value, _ op: ComparisonOperator, _ constant: Value, _ type: ColumnType
  ) -> Bool {
    let order = SequenceOrder.compare(value, constant)
    if op == .equal { return order == 0 }
    if op == .notEqual { return order != 0 }
    if (value == .null) != (constant == .null), type != .string { return false }
    let isOrdered = [value, constant].allSatisfy { Scalar($0)?.isNaN != true }
    return isOrdered && op.accepts(order)
  }

  private static let id = ClassID(0)
  private static let (own, list) = (ColumnID(0), ColumnID(1))

  private func store(_ file: TemporaryStore, _ type: ColumnType) throws -> Store {
    try file.open([
      ClassDefinition(
        name: "Pond",
        properties: [
          .init(name: "own", type: type, isOptional: true),
          .init(name: "list", type: type, collection: .list, isOptional: true),
        ])
    ])
  }

  /// An object for each value, which has it in a property and alone in a list.
  private func fill(_ store: Store, _ values: [Value]) throws -> [ObjectKey] {
    try store.write { session in
      try values.map { value in
        let key = try session.create([Self.own: value], in: Self.id)
        try session.insert(
          value, at: 0, in: SequencePlace(classID: Self.id, key: key, column: Self.list))
        return key
      }
    }
  }

  /// What each evaluator finds, by its name.
  private func found(
    _ condition: Predicate, _ ofElements: Predicate, _ keys: [ObjectKey], _ values: [Value],
    _ rows: Rows, _ edited: Rows
  ) throws -> [String: [Bool]] {
    func query(_ predicate: Predicate) throws -> CompiledQuery {
      try CompiledQuery(predicate, [], on: Self.id, rows.schema)
    }
    func flags(_ hits: OrderedRoot) -> [Bool] { keys.map(hits.contains) }
    let (own, elements) = (try query(condition), try query(ofElements))
    let ofValue = try ValueCondition(
      emptied(condition), rows.schema[Self.id][Self.list])
    return [
      "scan": flags(try own.evaluate(rows)),
      "scan of rows under edit": flags(try own.evaluate(edited)),
      "row": try keys.map { try own.predicate.matches($0, in: rows) },
      "row under edit": try keys.map { try own.predicate.matches($0, in: edited) },
      "scan of elements": flags(try elements.evaluate(rows)),
      "row of elements": try keys.map { try elements.predicate.matches($0, in: rows) },
      "value": values.map(ofValue.matches),
    ]
  }

  /// The same about the value itself.
  private func emptied(_ predicate: Predicate) -> Predicate {
    guard case .comparison(var comparison) = predicate else { return predicate }
    comparison.left = .path([])
    return .comparison(comparison)
  }

  @Test(arguments: cases)
  func `all evaluators say the same of each value and each comparison`(_ table: Case) throws {
    let file = TemporaryStore()
    let store = try store(file, table.type)
    let keys = try fill(store, table.values)
    let reader = try SnapshotReader(store.newestSnapshot())
    let session = WriteSession(reader) {}
    for key in keys { _ = try session.edit(key, in: Self.id) }
    let (rows, edited) = (Rows(reader), Rows(reader, session))
    let orders: [ComparisonOperator] = [.less, .lessOrEqual, .greater, .greaterOrEqual]
    for constant in table.values {
      let operators = table.type == .bool ? [] : orders
      for op in [.equal, .notEqual] + operators {
        let found = try found(
          .comparison(.init(.path(["own"]), op, .value(constant))),
          .any(["list"], op, .value(constant)), keys, table.values, rows,
          edited)
        let expected = table.values.map { self.expected($0, op, constant, table.type) }
        for (name, result) in found {
          #expect(result == expected, "\(name): \(op) \(constant)")
        }
      }
    }
  }

  @Test func `all evaluators say the same of each comparison of texts`() throws {
    let file = TemporaryStore()
    let store = try store(file, .string)
    let texts = ["", "a", "A", "ab", "xaby", "é", Self.long, Self.long + "x"]
    let values = [.null] + texts.map { Value.string($0) }
    let keys = try fill(store, values)
    let reader = try SnapshotReader(store.newestSnapshot())
    let session = WriteSession(reader) {}
    for key in keys { _ = try session.edit(key, in: Self.id) }
    let (rows, edited) = (Rows(reader), Rows(reader, session))
    for op in [.contains, .beginsWith, .endsWith, .like] as [ComparisonOperator] {
      for constant in ["a", "ab", "A", "*b", "?", "gh", "hx", "é"] {
        let found = try found(
          .comparison(.init(.path(["own"]), op, .value(.string(constant)))),
          .any(["list"], op, .value(.string(constant))), keys, values,
          rows, edited)
        let first = try #require(found["value"])
        for (name, result) in found { #expect(result == first, "\(name): \(op) \(constant)") }
        for (value, passes) in zip(values, first) {
          guard case .string(let text) = value else {
            #expect(!passes)
            continue
          }
          switch op {
          case .beginsWith: #expect(passes == text.hasPrefix(constant))
          case .endsWith: #expect(passes == text.hasSuffix(constant))
          case .contains: #expect(passes == text.contains(constant))
          default: continue
          }
        }
      }
    }
  }
}
