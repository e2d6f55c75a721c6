import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Comparisons that ignore case or diacritics, for all of Unicode.
@Suite struct TextFoldingTests {
  private static func matches(
    _ text: String, _ op: ComparisonOperator, _ needle: String, _ options: TarnStore.StringOptions
  ) -> Bool {
    TextPattern(op, Array(needle.utf8), options).matches(Array(text.utf8))
  }

  private static let both: TarnStore.StringOptions = [.caseInsensitive, .diacriticInsensitive]

  @Test(
    arguments: [
      ("straße", "STRASSE", [.caseInsensitive]), ("ΣΊΣΥΦΟΣ", "σίσυφος", [.caseInsensitive]),
      ("Ы", "ы", [.caseInsensitive]), ("ﬁn", "FIN", [.caseInsensitive]),
      ("Élan", "Elan", [.diacriticInsensitive]), ("E\u{301}lan", "Élan", [.diacriticInsensitive]),
      ("ΐ", "ι", both), ("ÀÉÎÕÜ", "aeiou", both), ("abc", "ABC", both),
    ] as [(String, String, TarnStore.StringOptions)])
  func `texts that differ in what does not count are equal`(
    _ a: String, _ b: String, _ options: TarnStore.StringOptions
  ) {
    #expect(Self.matches(a, .equal, b, options))
    #expect(Self.matches(b, .equal, a, options))
    #expect(!Self.matches(a, .equal, b, []))
    #expect(Self.matches("x" + a + "y", .contains, b, options))
    #expect(Self.matches(a + "y", .beginsWith, b, options))
    #expect(Self.matches("x" + a, .endsWith, b, options))
  }

  @Test(
    arguments: [
      ("ø", "o", both), ("ł", "l", both), ("ı", "i", both), ("é", "E", [.caseInsensitive]),
      ("É", "e", [.diacriticInsensitive]), ("が", "か", both),
    ] as [(String, String, TarnStore.StringOptions)])
  func `what counts tells texts apart`(
    _ a: String, _ b: String, _ options: TarnStore.StringOptions
  ) {
    #expect(!Self.matches(a, .equal, b, options))
    #expect(!Self.matches(b, .equal, a, options))
  }

  @Test func `every letter of Unicode equals itself in the other case`() {
    for number in 0...0x10ffff as ClosedRange<UInt32> {
      guard let scalar = Unicode.Scalar(number), scalar.properties.changesWhenCaseMapped else {
        continue
      }
      let text = String(Character(scalar))
      let folded = text.folding(options: .caseInsensitive, locale: nil)
      #expect(Self.matches(text, .equal, folded, .caseInsensitive), "\(number)")
    }
  }

  @Test func `a scan ignores in ASCII and in other text what a look at one row ignores`() throws {
    let file = TemporaryStore()
    let store = try file.open([
      ClassDefinition(name: "Word", properties: [.init(name: "text", type: .string)])
    ])
    let words = ["Elan", "ELAN", "élan", "Élan", "elan vital", "plane", "", "e\u{301}LAN"]
    let id = ClassID(0)
    let keys = try store.write { session in
      try (0..<400).map {
        try session.create(
          [ColumnID(0): .string(words[$0 % 8] + ($0 < 200 ? "" : "\($0)"))], in: id)
      }
    }
    let rows = Rows(try SnapshotReader(store.newestSnapshot()))
    for options in [.caseInsensitive, .diacriticInsensitive, Self.both] as [TarnStore.StringOptions]
    {
      for op in [.equal, .contains, .beginsWith, .endsWith] as [ComparisonOperator] {
        let query = try CompiledQuery(
          .compare("text", op, .string("Élan"), options), [], on: id, rows.schema)
        let scanned = try query.evaluate(rows).keys
        let tested = try keys.filter { try query.predicate.matches($0, in: rows) }
        #expect(scanned == tested, "\(op) \(options)")
        #expect(!scanned.isEmpty)
        #expect(scanned.count < keys.count)
      }
    }
  }
}
