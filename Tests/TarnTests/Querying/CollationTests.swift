import Foundation
import TestSupport
import Testing

@testable import Tarn

class Guest: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var name = ""
  @Persisted var nickname: String?
  @Persisted var age = 0
  @Persisted var host: Guest?
}

/// Text in the order of a collation, against arrays sorted by Foundation.
@Suite struct CollationTests: TrapSuite {
  private func open(_ shelter: Shelter) throws -> Instance {
    var configuration = shelter.configuration
    configuration.fileURL = URL(fileURLWithPath: shelter.folder + "/guests.realm")
    configuration.objectTypes = [Guest.self]
    return try Instance(configuration, shelter)
  }

  private func add(_ names: [String], to instance: Instance) throws {
    try instance.write {
      for (id, name) in names.enumerated() {
        instance.realm.create(Guest.self, value: ["id": id, "name": name, "age": id % 3])
      }
    }
  }

  private func sorted(_ names: [String], by collation: Collation) throws -> [String] {
    let instance = try open(Shelter())
    try add(names.reversed(), to: instance)
    return instance.realm.objects(Guest.self).sorted(by: \.name, collation: collation)
      .map(\.name)
  }

  @Test func `each language has its own order`() throws {
    let (german, swedish) = (Locale(identifier: "de_DE"), Locale(identifier: "sv_SE"))
    let names = ["Zebra", "Äpfel", "Apfel", "apfel", "Öl", "Ohr", "zebra", "Åre", "ß", "st", "sr"]
    #expect(
      try sorted(names, by: .localized(german)) == [
        "apfel", "Apfel", "Äpfel", "Åre", "Ohr", "Öl", "sr", "ß", "st", "zebra", "Zebra",
      ])
    #expect(
      try sorted(names, by: .localized(swedish)) == [
        "apfel", "Apfel", "Ohr", "sr", "ß", "st", "zebra", "Zebra", "Åre", "Äpfel", "Öl",
      ])
    #expect(
      try sorted(names, by: .bytes) == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(
      try sorted(["b", "Ä", "a", "B", "z", "ä"], by: .caseInsensitive)
        == ["a", "B", "b", "z", "Ä", "ä"])
    #expect(
      try sorted(["b", "ä", "a", "az", "äb"], by: .ignoring(.diacriticInsensitive))
        == ["a", "ä", "äb", "az", "b"])
    let files = ["file10", "file9", "File1", "file1"]
    #expect(
      try sorted(files, by: .localized(german, numeric: true))
        == ["file1", "File1", "file9", "file10"])
    #expect(
      try sorted(["é", "E", "e", "É", "f"], by: .localized(german, ignoring: .caseInsensitive))
        == ["E", "e", "É", "é", "f"])
    // The two ways of writing é are the same to a language: then their bytes decide.
    #expect(
      try sorted(["\u{e9}x", "e\u{301}x", "ey"], by: .localized(german)).map { Array($0.utf8) }
        == ["e\u{301}x", "\u{e9}x", "ey"].map { Array($0.utf8) })
  }

  private static let letters: [Character] =
    Array("abcdeABZzäÄöåÅéèßøØłşçñ αβγ жяЯ 中文 가나 あア 12 -'") + ["e\u{301}", "ﬃ", "ǆ", "İ", "ı"]

  private static func name(_ random: inout SeededRandom) -> String {
    // Long ones begin alike, so that all of them has to be looked at.
    let start = random.chance(20) ? "a long beginning of " : ""
    return start + String((0..<random.below(6)).map { _ in random.pick(letters) })
  }

  private static func precedes(_ a: String, _ b: String) -> Bool {
    a.utf8.lexicographicallyPrecedes(b.utf8)
  }

  /// What Foundation says of two names; nil where it says that they are the same.
  private typealias Comparison = @Sendable (String, String) -> ComparisonResult

  private static let collations: [(Collation, Comparison)] = [
    (
      .caseInsensitive,
      {
        let (a, b) = (
          $0.folding(options: .caseInsensitive, locale: nil),
          $1.folding(options: .caseInsensitive, locale: nil)
        )
        return precedes(a, b)
          ? .orderedAscending : precedes(b, a) ? .orderedDescending : .orderedSame
      }
    ),
    (.localized(Locale(identifier: "sv")), localized("sv")),
    (.localized(Locale(identifier: "de")), localized("de")),
    (.localized(Locale(identifier: "ja")), localized("ja")),
  ]

  private static func localized(_ name: String) -> Comparison {
    let locale = Locale(identifier: name)
    return { $0.compare($1, options: [], range: nil, locale: locale) }
  }

  /// Sorted, observed and changed at random, up and down, with and without something to be sorted
  /// by behind it, and through a link.
  @Test(arguments: Array(1...4) as [UInt64])
  func `orders are those of Foundation, also after changes`(_ seed: UInt64) throws {
    let shelter = try Shelter()
    let (a, b) = (try open(shelter), try open(shelter))
    var random = SeededRandom(seed: seed)
    let (collation, compare) = Self.collations[Int(seed) - 1]
    try add((0..<150).map { _ in Self.name(&random) }, to: b)
    a.pump()
    let ascending = seed % 2 == 0
    let guests = a.realm.objects(Guest.self)
    let byName = guests.sorted(by: \.name, ascending: ascending, collation: collation)
    let byAge = guests.where { $0.age < 2 }.sorted(by: [
      SortDescriptor(keyPath: "nickname", ascending: ascending, collation: collation),
      SortDescriptor(keyPath: \Guest.age, ascending: false),
    ])
    let byHost = guests.sorted(byKeyPath: "host.name", ascending: ascending, collation: collation)
    let views = [byName, byAge, byHost]
    let recorders = views.map { SequenceRecorder($0) { "\($0.id)" } }
    a.pump()
    for _ in 0..<40 {
      try b.write {
        for _ in 0...random.below(4) { Self.change(b.realm, &random) }
      }
      if random.chance(60) { a.pump() }
    }
    a.pump()
    /// Less than zero if the first name comes first. Nil ones do, and broken links come last.
    func order(_ x: String?, _ y: String?) -> Int {
      guard let x, let y else { return x == nil ? (y == nil ? 0 : -1) : 1 }
      return compare(x, y).rawValue
    }
    func bytes(_ x: String?, _ y: String?) -> Int {
      guard let x, let y else { return 0 }
      return Self.precedes(x, y) ? -1 : Self.precedes(y, x) ? 1 : 0
    }
    let sign = ascending ? 1 : -1
    let all = Array(guests)
    let expected = [
      all.sorted {
        (sign * order($0.name, $1.name), sign * bytes($0.name, $1.name), $0.id)
          < (0, 0, $1.id)
      },
      all.filter { $0.age < 2 }.sorted {
        (
          sign * order($0.nickname, $1.nickname), $1.age,
          sign * bytes($0.nickname, $1.nickname), $0.id
        ) < (0, $0.age, 0, $1.id)
      },
      all.sorted {
        // Null behind a link and a link to nobody are the two ends.
        guard let x = $0.host, let y = $1.host else {
          let rank = ($0.host == nil ? 1 : 0) - ($1.host == nil ? 1 : 0)
          return (sign * rank, $0.id) < (0, $1.id)
        }
        return (sign * order(x.name, y.name), sign * bytes(x.name, y.name), $0.id)
          < (0, 0, $1.id)
      },
    ]
    for ((view, recorder), expected) in zip(zip(views, recorders), expected) {
      #expect(view.map(\.id) == expected.map(\.id))
      #expect(recorder.mirror == expected.map { "\($0.id)" })
      #expect(recorder.problems == [])
    }
  }

  private static func change(_ realm: Realm, _ random: inout SeededRandom) {
    let id = random.below(160)
    guard let guest = realm.object(ofType: Guest.self, forPrimaryKey: id) else {
      realm.create(Guest.self, value: ["id": id, "name": name(&random)])
      return
    }
    switch random.below(10) {
    case 0, 1, 2: guest.name = name(&random)
    case 3, 4: guest.nickname = random.chance(20) ? nil : name(&random)
    case 5: guest.age = random.below(3)
    case 6, 7, 8:
      guest.host = realm.object(ofType: Guest.self, forPrimaryKey: random.below(160))
    default: realm.delete(guest)
    }
  }

  @Test func `no index has the order of a collation`() throws {
    let instance = try open(Shelter())
    try add(["b", "C", "a", "D"], to: instance)
    let guests = instance.realm.objects(Guest.self)
    let collated = guests.sorted(by: \.name, collation: .caseInsensitive)
    #expect(collated.explain().contains("order: sorted afterwards"))
    #expect(guests.sorted(by: \.name).explain().contains("order: as in the index"))
    #expect(collated.first?.name == "a")
    #expect(collated.last?.name == "D")
    #expect(guests.sorted(by: \.name).first?.name == "C")
    #expect(collated.map(\.name) == ["a", "b", "C", "D"])
    let down = guests.sorted(by: \.name, ascending: false, collation: .caseInsensitive)
    #expect(down.first?.name == "D")
    #expect(down.map(\.name) == ["D", "C", "b", "a"])
    try instance.write {
      instance.realm.create(Guest.self, value: ["id": 9, "name": "B"])
      #expect(collated.map(\.name) == ["a", "B", "b", "C", "D"])
    }
    #expect(
      SortDescriptor(keyPath: "name", collation: .caseInsensitive).reversed().collation
        == .caseInsensitive)
  }

  @Test func `only text has a collation`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let instance = try CollationTests().open(Shelter())
      _ = instance.realm.objects(Guest.self).sorted(by: \.age, collation: .caseInsensitive).count
    }
    try expect("cannot sort property 'age' of class 'Guest' by a collation", in: result)
  }
}
