import TestSupport
import Testing

@testable import TarnStore

/// Routers of random conditions over random schemas and objects, against asking each source: one
/// that has something to report is found.
@Suite struct RouterTests {
  /// A source, and the content that its observers have received.
  private struct Asked {
    let text: String
    let model: ResultModel
    let scope: BoundScope
    var content: ResultRows

    init(_ source: inout RandomStore, _ id: ClassID, _ rows: Rows) throws {
      let condition = source.condition(in: id, depth: source.random.below(3))
      let terms = source.order(in: id, atMost: 1)
      let query: ResultModel.Source
      if source.random.chance(20) {
        let distinct = [DistinctTerm(source.distinctPaths(in: id))]
        query = .elements(
          ElementsModel(
            try CompiledQuery(
              condition, terms, distinct, on: id, rows.schema, ofElements: true), .objects))
      } else {
        query = .query(try CompiledQuery(condition, terms, on: id, rows.schema))
      }
      let window = source.random.chance(20) ? 0..<source.random.below(4) : nil
      model = ResultModel(query, window: window).compact
      let depth = source.random.pick([0, 1, 3, 3])
      scope = BoundScope(.depth(depth), from: [id], rows.schema)
      content = try model.evaluate(rows)
      text = "\(condition) by \(terms), \(depth) links far"
    }

    /// True if the move is reported.
    mutating func hasNews(_ move: LiveMove) throws -> Bool {
      var step = try model.advance(&content, over: move)
      let change = try model.change(&step, &content, move, seen: scope)
      return change?.difference().isEmpty == false
    }
  }

  private struct Routed {
    let classID: ClassID
    let router: Router
    var sources: [Int: Asked] = [:]
    var found = 0
    var rounds = 0

    mutating func insert(_ number: Int, _ source: inout RandomStore, _ rows: Rows) throws {
      let made = try Asked(&source, classID, rows)
      guard let route = made.model.route else { return }
      router.insert(route, number)
      router.insert(made.scope)
      sources[number] = made
    }

    mutating func remove(_ number: Int) {
      guard let old = sources.removeValue(forKey: number) else { return }
      router.remove(number)
      router.remove(old.scope)
    }

    mutating func check(_ move: LiveMove) throws {
      var numbers: Set<Int> = []
      let isRouted = try router.findConcerned(by: move, atMost: .max) {
        numbers.formUnion($0)
      }
      if isRouted {
        found += numbers.count
        rounds += sources.count
      }
      for number in sources.keys {
        if try sources[number]!.hasNews(move), isRouted {
          #expect(numbers.contains(number), "not found: \(sources[number]!.text)")
        }
      }
    }
  }

  @Test(arguments: Seeds.of(0..<12))
  func `a source with news is found`(seed: Int) throws {
    var source = try RandomStore(seed: UInt64(seed))
    let store = source.store
    try store.write { try source.change($0, 120) }
    var snapshot = try store.newestSnapshot()
    var all: [Routed] = []
    for one in source.schema.classes {
      var routed = Routed(classID: one.id, router: Router(one.id))
      let rows = Rows(try SnapshotReader(snapshot))
      for number in 0..<60 { try routed.insert(number, &source, rows) }
      all.append(routed)
    }
    for _ in 0..<25 {
      let count = source.random.pick([1, 1, 2, 5])
      try store.write { try source.change($0, count) }
      let next = try store.newestSnapshot()
      let rows = Rows(try SnapshotReader(next))
      let changes = try ChangeLog.changes(from: snapshot, to: next)
      let move = LiveMove(changes, from: .version(snapshot), to: rows)
      for index in all.indices {
        try all[index].check(move)
        let number = source.random.below(60)
        all[index].remove(number)
        try all[index].insert(number, &source, rows)
      }
      snapshot = next
    }
    for index in all.indices {
      for number in Array(all[index].sources.keys) { all[index].remove(number) }
      #expect(all[index].router.isEmpty)
      #expect(all[index].router.isClear)
    }
    let (found, rounds) = (all.map(\.found).reduce(0, +), all.map(\.rounds).reduce(0, +))
    #expect(found * 2 < rounds, "\(found) of \(rounds) sources were found")
  }

  @Test func `ranges are found by the values that they contain`() {
    var random = SeededRandom(seed: 1)
    let tree = IntervalTree()
    var filed: [(low: UInt128, high: UInt128, number: Int)] = []
    for number in 0..<3_000 {
      if !filed.isEmpty, random.chance(35) {
        let old = filed.remove(at: random.below(filed.count))
        tree.remove(old.low, old.high, old.number)
      } else {
        let low = UInt128(random.below(100))
        let high = low + UInt128(random.below(30))
        tree.insert(low, high, number)
        filed.append((low, high, number))
      }
      let value = UInt128(random.below(140))
      var found: [Int] = []
      tree.forEach(containing: value) { found += $0 }
      let expected = filed.filter { $0.low <= value && value <= $0.high }.map(\.number)
      #expect(found.sorted() == expected.sorted())
    }
    for old in filed { tree.remove(old.low, old.high, old.number) }
    #expect(tree.isEmpty)
  }
}
