import TestSupport
import Testing

@testable import TarnStore

/// Many conditions one after the other.
@Suite struct PredicateChainTests {
  private static let column = ColumnSchema(id: ColumnID(0), name: "age", type: .int)
  private let schema = StoreSchema(classes: [
    ClassSchema(
      id: ClassID(0), name: "Dog",
      columns: [column, ColumnSchema(id: ColumnID(1), name: "size", type: .double)],
      primaryKey: nil)
  ])

  private func term(_ number: Int, _ op: ComparisonOperator = .equal) -> Predicate {
    .compare("age", op, .int(Int64(number)))
  }

  private func root(_ predicate: Predicate) throws -> ResolvedNode {
    try ResolvedPredicate(predicate, on: ClassID(0), in: schema).root
  }

  /// Ten times the terms cost ten times as much, not a hundred times, as if each cost as much as
  /// all before it; they overflow the stack if each makes the tree deeper. What other processes do
  /// to the caches changes the costs, so they are compared up to four times.
  ///
  /// With `TARN_SEEDS=all` the longer chain has 200,000 terms.
  @Test(.timeLimit(.minutes(30)), arguments: [true, false])
  func `a chain grows in linear time`(_ isAtEnd: Bool) throws {
    let many = Seeds.rounds(200_000, few: 20_000)
    var costs: [String] = []
    for _ in 0..<4 {
      let short = try costOfChain(many / 10, isAtEnd)
      let long = try costOfChain(many, isAtEnd)
      if long < short * 30 { return }
      costs.append("\(short) ns and \(long) ns")
    }
    Issue.record("\(costs)")
  }

  /// Builds a chain, looks whether it is right, and returns what that cost.
  private func costOfChain(_ count: Int, _ isAtEnd: Bool) throws -> Int {
    let start = ProcessorTime.ofThisThread()
    let terms = (0..<count).map { term($0, .less) }
    var any = terms[0]
    var all = terms[0]
    for term in terms.dropFirst() {
      any = isAtEnd ? any || term : term || any
      all = isAtEnd ? all && term : term && all
    }
    guard case .or(let anyTerms) = any, case .and(let allTerms) = all else {
      Issue.record("not a chain")
      return 0
    }
    let expected = isAtEnd ? terms : terms.reversed()
    #expect(PredicateChain.or.flattened(anyTerms) == expected)
    #expect(PredicateChain.and.flattened(allTerms) == expected)
    guard case .or(let nodes) = try root(any) else {
      Issue.record("not a chain")
      return 0
    }
    #expect(nodes.count == terms.count)
    #expect(Set([any, any]).count == 1)
    return ProcessorTime.ofThisThread() - start
  }

  @Test func `a short chain has its terms in one row`() {
    let terms = (0..<100).map { term($0) }
    #expect(terms.dropFirst().reduce(terms[0]) { $0 || $1 } == .or(terms))
    #expect(terms.dropFirst().reduce(terms[0]) { $0 && $1 } == .and(terms))
  }

  @Test func `equal or equal is one test`() throws {
    let any = (1..<1000).reduce(term(0)) { $0 || term($1) }
    guard case .test(let test) = try root(any), !test.isNegated else {
      Issue.record("\(try root(any))")
      return
    }
    let none = (1..<1000).reduce(term(0, .notEqual)) { $0 && term($1, .notEqual) }
    guard case .test(let opposite) = try root(none), opposite.isNegated else {
      Issue.record("\(try root(none))")
      return
    }
    guard case .or(let nodes) = try root(any || .compare("size", .greater, .double(1))) else {
      Issue.record("not a chain")
      return
    }
    #expect(nodes.count == 2)
  }
}
