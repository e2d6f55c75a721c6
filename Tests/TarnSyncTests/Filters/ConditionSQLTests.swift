import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Conditions that a server answers as a store does.
@Suite struct ConditionSQLTests {
  private let rows: ConditionRows

  init() throws { rows = try ConditionRows() }

  @Test func `a server answers random conditions as the store does`() throws {
    for seed in Seeds.chosen.map({ $0...$0 }) ?? 1...UInt64(Seeds.rounds(1_000, few: 20)) {
      var random = SeededRandom(seed: seed)
      let conditions = (0..<100).map { _ in rows.condition(&random, depth: 3) }
      let translated = try conditions.map { try rows.translated($0) }
      let answers = try rows.answers(translated)
      let kept = try rows.answers(kept: translated.map(\.kept))
      let again = try zip(conditions, translated).map { condition, translation in
        try #require(rows.translatedAgain("\(condition)", translation.kept), "\(condition)")
      }
      #expect(try rows.answers(again) == answers, "seed \(seed): translated again")
      // The program's constants are parameters: these are the only literals.
      let words = /'(NaN|boolean|number|string|object)'/
      var parameters: [WireParameter] = []
      for condition in translated {
        let text = condition.text(adding: &parameters)
        #expect(!text.replacing(words, with: "").contains("'"), "seed \(seed): \(text)")
      }
      // Conditions with infinities, dates, ids and the like do not parse: a file goes on with their
      // text. Those are about half of all.
      #expect(again.count { $0.constantCount > 0 } > 40)
      for (place, condition) in conditions.enumerated() {
        let (expected, sql) = (try rows.matches(condition), translated[place].kept)
        #expect(answers[place] == expected, "seed \(seed): \(condition): \(sql)")
        #expect(kept[place] == expected, "seed \(seed): \(condition): \(sql), as it is kept")
      }
    }
  }

  /// Each kind of test is true of some row and false of another, so that equal answers mean
  /// something.
  @Test func `random conditions are true of some rows`() throws {
    var random = SeededRandom(seed: 1)
    var counts: [Bool: Int] = [:]
    for _ in 0..<500 {
      let found = try rows.matches(rows.condition(&random, depth: 0)).count
      counts[found > 0 && found < rows.count, default: 0] += 1
    }
    #expect(counts[true, default: 0] > 250, "\(counts)")
  }

  @Test(arguments: [
    ("spot.weight == 1.5", "Item.spot.weight of type double"),
    ("friend.number == 1", "cannot follow the link Item.friend.number"),
    ("#any == 1", "the contents of an AnyRealmValue"), ("ANY tags == 'a'", "a collection"),
    ("text ==[c] 'a'", "Item.text regardless of case"), ("number == real", "Item.number"),
  ])
  func `what a server cannot answer is refused by name`(text: String, part: String) throws {
    let predicate = try PredicateParser.parse(text, []).predicate
    let error = #expect(throws: PredicateError.self) { try rows.translated(predicate) }
    #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
  }

  @Test func `a list of many values is one parameter`() throws {
    let many = (0..<70_000).map { Value.int(Int64($0) * 3) }
    let predicate = Predicate.isIn("number", many)
    #expect(try rows.answers([rows.translated(predicate)]) == [rows.matches(predicate)])
    let each = (0...SQLCondition.constantsMax).map {
      Predicate.compare("text", .contains, .string("\($0)"))
    }
    let error = #expect(throws: PredicateError.self) { try rows.translated(.and(each)) }
    #expect(error?.message.contains("at most") == true, "\(error?.message ?? "")")
  }

  @Test func `a link is compared with the key of an object`() throws {
    let friend = try #require(rows.keys.first)
    let predicate = Predicate.compare("friend", .equal, .link(friend))
    #expect(try rows.answers([rows.translated(predicate)]) == [rows.matches(predicate)])
    #expect(try !rows.matches(predicate).isEmpty)
  }
}
