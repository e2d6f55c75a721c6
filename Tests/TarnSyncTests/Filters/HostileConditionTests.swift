import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Conditions with texts that are made to end the SQL that they stand in.
@Suite struct HostileConditionTests {
  private static let title = ColumnID(1)
  private let server: ServerConnection

  init() throws { server = try PostgresDatabase([.todo]).connect() }

  private static var texts: [String] {
    var random = SeededRandom(seed: Seeds.chosen ?? 1)
    let some = (0..<2_000).map { _ in HostileTexts.random(&random, marks: SQLTextTests.marks) }
    return some + (Seeds.areAll ? Array(HostileTexts.beside(["'", "\"", "\\", "$"])) : [])
  }

  private func predicate(_ text: String, _ number: Int) -> Predicate {
    switch number % 4 {
    case 0: .compare("title", .equal, .string(text))
    case 1: .isIn("title", [.string(text), .string("'"), .null])
    case 2: .compare("title", .contains, .string(text))
    default: .compare("title", .beginsWith, .string(text))
    }
  }

  /// What the condition means, by bytes.
  private func isMet(_ found: String, _ text: String, _ number: Int) -> Bool {
    let (found, text) = (Array(found.utf8), Array(text.utf8))
    switch number % 4 {
    case 0: return found == text
    case 1: return found == text || found == [0x27]
    case 2: return found.firstRange(of: text) != nil
    default: return found.starts(with: text)
    }
  }

  private func counts(_ conditions: [String], _ parameters: [WireParameter]) throws -> [Int?] {
    let columns = conditions.map { "count(*) FILTER (WHERE \($0))::text" }
    return try server.binary(
      "SELECT \(columns.joined(separator: ", ")) FROM \"Todo\"", parameters, for: "test"
    ).texts[0].map { $0.flatMap { Int($0) } }
  }

  @Test func `a condition finds the objects that it means`() throws {
    let translation = ConditionSQL(StoreSchema(classes: [.todo]))
    let texts = Self.texts
    for start in stride(from: 0, to: texts.count, by: 100) {
      let part = Array(texts[start..<min(start + 100, texts.count)])
      try server.rows("DELETE FROM \"Todo\"")
      _ = try server.binary(
        "INSERT INTO \"Todo\" (_id, title)"
          + " SELECT n::text, t FROM unnest($1) WITH ORDINALITY u (t, n)",
        [WireParameter(array: .text, part.map { Array($0.utf8) })], for: "test")
      var (sent, parameters, kept): ([String], [WireParameter], [String]) = ([], [], [])
      for (number, text) in part.enumerated() {
        let condition = try translation.translated(predicate(text, number), on: ClassID(0))
        sent.append(condition.text(adding: &parameters))
        kept.append(condition.kept)
      }
      let expected = part.enumerated().map { number, text in
        part.count { isMet($0, text, number) }
      }
      #expect(try counts(sent, parameters) == expected, "\(start)")
      #expect(try counts(kept, []) == expected, "\(start), as they are kept")
    }
  }

  /// Files keep conditions. One in which a quote may not have been doubled is not taken.
  @Test func `a kept condition is read by bytes, or not at all`() throws {
    try server.rows("SET standard_conforming_strings = off")
    try server.rows("INSERT INTO \"Todo\" (_id, title) VALUES ('1', $1)", ["it's \\ \"x\""])
    let translation = ConditionSQL(StoreSchema(classes: [.todo]))
    func kept(_ text: String) throws -> KeptQuery {
      KeptQuery(
        try translation.translated(.compare("title", .equal, .string(text)), on: ClassID(0)).kept)
    }
    let plain = try #require(try kept("it's \\ \"x\"").condition)
    var none: [WireParameter] = []
    #expect(try counts([plain.text(adding: &none)], none) == [1])
    #expect(none.isEmpty)
    for text in ["'\u{301}", "\u{600}'", "a\u{600}\"", "\u{200d}'\u{fe0f}"] {
      #expect(try kept(text).condition == nil, "\(text.debugDescription)")
    }
    #expect(KeptQuery("\"a\" = 'b").condition == nil)
    #expect(KeptQuery("\u{e9}") != KeptQuery("e\u{301}"))
  }
}
