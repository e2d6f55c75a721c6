import TestSupport
import Testing

@testable import TarnStore

/// Random conditions, orders and windows over random schemas and objects, against plain arrays:
/// with and without indexes, outside and inside of a write, from nothing and step by step, as they
/// are and as text.
@Suite struct RandomSchemaTests {
  /// Something asked of a class, and what observers of it have been told.
  private struct Asked {
    let classID: ClassID
    let predicate: Predicate
    let terms: [OrderTerm]
    /// Nil unless it is distinct.
    let distinct: [Path]?
    let window: Range<Int>?
    let model: ResultModel
    let scope: BoundScope
    var content: ResultRows
    var mirror: [ObjectKey]

    init(_ source: inout RandomStore, _ rows: Rows) throws {
      classID = source.random.pick(source.schema.classes).id
      predicate =
        source.random.chance(10)
        ? .constant(true) : source.condition(in: classID, depth: source.random.below(3))
      terms = source.order(in: classID)
      distinct = source.random.chance(25) ? source.distinctPaths(in: classID) : nil
      let first = source.random.below(6)
      window = source.random.chance(40) ? first..<first + source.random.below(12) : nil
      model = ResultModel(
        try Self.source(classID, predicate, terms, distinct, rows.schema), window: window)
      scope = BoundScope(.standard, from: [classID], rows.schema)
      content = try model.evaluate(rows)
      mirror = content.keys(in: 0..<content.count)
    }

    private static func source(
      _ id: ClassID, _ predicate: Predicate, _ terms: [OrderTerm], _ distinct: [Path]?,
      _ schema: SchemaView
    ) throws -> ResultModel.Source {
      guard let distinct else {
        return .query(try CompiledQuery(predicate, terms, on: id, schema))
      }
      let query = try CompiledQuery(
        predicate, terms, [DistinctTerm(distinct)], on: id, schema, ofElements: true)
      return .elements(ElementsModel(query, .objects))
    }

    var text: String {
      let window = window?.description ?? "all"
      return "\(predicate) sorted by \(terms) distinct by \(distinct ?? []) in \(window)"
    }

    /// What plain arrays give.
    func expected(_ source: RandomStore) -> [ObjectKey] {
      let model = source.model
      var keys = source.keys(classID).filter { model.matches(predicate, classID, $0) }
      keys = model.sorted(keys, terms, classID)
      if let distinct { keys = model.distinct(keys, distinct, classID) }
      if let window { keys = Array(keys[window.clamped(to: 0..<keys.count)]) }
      return keys.map { ObjectKey($0) }
    }

    mutating func follow(_ move: LiveMove) throws {
      var step = try model.advance(&content, over: move)
      guard let told = try model.change(&step, &content, move, seen: scope)?.difference().indices
      else { return }
      let new = content.keys(in: 0..<content.count)
      for index in told.deletions.reversed() { mirror.remove(at: index) }
      for index in told.insertions { mirror.insert(new[index], at: index) }
    }

    func check(_ source: RandomStore, _ rows: Rows) throws {
      let expected = expected(source)
      #expect(mirror == expected, "told: \(text)")
      let anew = try model.evaluate(rows)
      #expect(anew.keys(in: 0..<anew.count) == expected, "found: \(text)")
      #expect(content.keys(in: 0..<content.count) == expected, "kept: \(text)")
    }

    /// The condition as text means the same.
    func checkText(_ source: RandomStore, _ rows: Rows) throws {
      let again = try PredicateParser.parse(predicate.description)
      let parsed = try Self.source(classID, again, terms, distinct, rows.schema)
      let content = try ResultModel(parsed).evaluate(rows)
      let whole = try ResultModel(model.source).evaluate(rows)
      #expect(
        content.keys(in: 0..<content.count) == whole.keys(in: 0..<whole.count), "parsed: \(text)")
    }
  }

  @Test(arguments: Seeds.of(1...24 as ClosedRange<UInt64>, first: 3))
  func `queries of any schema give what plain arrays give`(_ seed: UInt64) throws {
    var source = try RandomStore(seed: seed)
    try source.store.write { try source.change($0, 250) }
    var snapshot = try source.store.newestSnapshot()
    let first = Rows(try SnapshotReader(snapshot))
    var asked = try (0..<40).map { _ in try Asked(&source, first) }
    for one in asked { try one.checkText(source, first) }
    for _ in 0..<25 {
      let count = source.random.pick([1, 1, 3, 12, 60])
      try source.store.write { session in
        try source.change(session, count)
        let inside = Rows(session.reader, session)
        for one in asked.prefix(8) {
          let found = try one.model.evaluate(inside)
          #expect(found.keys(in: 0..<found.count) == one.expected(source), "inside: \(one.text)")
        }
      }
      let next = try source.store.newestSnapshot()
      let rows = Rows(try SnapshotReader(next))
      let changes = try ChangeLog.changes(from: snapshot, to: next)
      for index in asked.indices {
        try asked[index].follow(LiveMove(changes, from: .version(snapshot), to: rows))
        try asked[index].check(source, rows)
      }
      snapshot = next
    }
    // Most of them found something.
    #expect(asked.count { !$0.mirror.isEmpty } > 10)
  }
}
