import Foundation
import Tarn
import TestSupport
import Testing

/// Columns are called as a spreadsheet calls them.
class QuotedLine: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var total: Int
  @Persisted var unit: Double
  @Persisted var price: Int
  @Persisted var dotted: Int
  @Persisted var previous: QuotedLine?
  @Persisted var tags: Map<String, QuotedLine?>

  override class func propertiesMapping() -> [String: String] {
    [
      "total": "Total Amount", "unit": "Unit-Price", "price": "Price ($)", "dotted": "a.b",
      "previous": "the.previous", "tags": "all tags",
    ]
  }
}

/// Names that are no words, in filters and in key paths as text.
@Suite struct QuotedPropertyTests: TrapSuite {
  private let folder = TemporaryFolder()
  /// Has the class, and one that knows only the file.
  private let typed: Realm
  private let realm: Realm
  private let scheduler = ManualScheduler()

  init() throws {
    let url = folder.url("ledger.realm")
    typed = try Realm(
      configuration: Realm.Configuration(fileURL: url, objectTypes: [QuotedLine.self]))
    try typed.write { [typed] in
      var last: QuotedLine?
      for id in 1...6 {
        let line = typed.create(QuotedLine.self, value: ["id": id])
        (line.total, line.unit, line.price, line.dotted) = (10 * id, 0.5, id % 2, 7 - id)
        line.previous = last
        line.tags["x.y"] = last
        last = line
      }
    }
    realm = try Realm(
      configuration: Realm.Configuration(fileURL: url, objectTypes: []), scheduler: scheduler)
  }

  private var lines: Results<DynamicObject> { realm.dynamicObjects("QuotedLine") }

  private func ids(_ lines: Results<DynamicObject>) -> [Int] { lines.map { $0["id"] as! Int } }

  @Test(arguments: [
    ("`Total Amount` > 40", [5, 6]), ("`Unit-Price` < 0.5", []), ("`Price ($)` == 1", [1, 3, 5]),
    ("`a.b` == 6", [1]), ("`the.previous`.`a.b` == 6", [2]),
    ("ANY `all tags`.`Total Amount` == 10", [2]),
  ])
  func filtersNameThem(_ text: String, _ expected: [Int]) throws {
    #expect(ids(try lines.filtered(text).sorted(byKeyPath: "id")) == expected)
    #expect(typed.objects(QuotedLine.self).filter(text).map(\.id).sorted() == expected)
  }

  @Test func argumentsNameThem() throws {
    #expect(ids(lines.filter("%K == 6", "a.b")) == [1])
    #expect(ids(lines.filter("%K == 6", "`a.b`")) == [1])
    #expect(ids(lines.filter("%K.%K == 6", "the.previous", "a.b")) == [2])
    #expect(ids(lines.filter("%K == 6", "`the.previous`.`a.b`")) == [2])
    #expect(typed.objects(QuotedLine.self).filter("%K == 6", "previous.dotted").map(\.id) == [2])
  }

  @Test func keyPathsNameThem() throws {
    #expect(ids(lines.sorted(byKeyPath: "`a.b`")) == [6, 5, 4, 3, 2, 1])
    #expect(
      ids(lines.sorted(byKeyPath: "`the.previous`.`a.b`", ascending: false)) == [1, 2, 3, 4, 5, 6])
    #expect(
      typed.objects(QuotedLine.self).sorted(by: \.previous?.dotted).map(\.id) == [6, 5, 4, 3, 2, 1])
    #expect(lines.distinct(by: ["Price ($)"]).count == 2)
    #expect(lines.distinct(by: ["`the.previous`.`Price ($)`"]).count == 2)
    #expect(lines.max(ofProperty: "`a.b`") == 6)
    #expect(lines.sum(ofProperty: "Total Amount") == 210)
    let last = lines.sorted(byKeyPath: "id")[5]
    #expect(last.value(forKeyPath: "`the.previous`.`a.b`") as? Int == 2)
    #expect(last.value(forKeyPath: "`all tags`.`x.y`.`Total Amount`") as? Int == 50)
    #expect(lines.value(forKeyPath: "@max.`a.b`") as? Int == 6)
    let groups = lines.grouped(
      by: "`the.previous`.`Price ($)`", as: Int?.self,
      .max(ofProperty: "`a.b`") as Aggregate<DynamicObject, Int?>)
    #expect(groups.map { $0.key } == [nil, 0, 1])
  }

  @Test func observersNameThem() throws {
    var told: [[Int]] = []
    let token = lines.sorted(byKeyPath: "id").observe(keyPaths: ["`the.previous`.`a.b`"]) {
      if case .update(_, _, _, let modifications) = $0 { told.append(modifications) }
    }
    while scheduler.pump() {}
    try typed.write { [typed] in
      typed.objects(QuotedLine.self).filter("id == 2")[0].dotted = 100
      typed.objects(QuotedLine.self).filter("id == 4")[0].total = 100
    }
    realm.refresh()
    while scheduler.pump() {}
    #expect(told == [[2]])
    token.invalidate()
  }

  @Test(arguments: [
    ("Total Amount > 40", 7, "found 'Amount'", "`Total Amount`"),
    ("id > 1 AND Unit-Price > 4", 16, "'-' has no meaning here", "`Unit-Price`"),
    ("Price ($) == 1", 7, "found '('", "`Price ($)`"),
    ("a.b == 6", 1, "has no property 'a'", "`a.b`"),
    ("the.previous.id == 6", 1, "has no property 'the'", "`the.previous`"),
  ])
  func anErrorSaysHowTheyAreWritten(
    _ text: String, _ character: Int, _ mistake: String, _ advice: String
  ) throws {
    let error = #expect(throws: Realm.Error.self) { try lines.filtered(text) }
    let message = try #require(error).message
    #expect(message.contains("at character \(character): "), "\(message)")
    #expect(message.contains(mistake), "\(message)")
    #expect(message.hasSuffix("in back quotes: \(advice)."), "\(message)")
  }

  /// A key path that lacks the quotes.
  private static func unquoted(
    _ name: String, _ use: @escaping @Sendable (Results<DynamicObject>) -> Void
  ) -> TrapCase {
    TrapCase(name, "write the name 'a.b' in back quotes: `a.b`") { shelter in
      var configuration = shelter.configuration
      configuration.objectTypes = [QuotedLine.self]
      let typed = try Realm(configuration: configuration, scheduler: ManualScheduler())
      try typed.write { _ = typed.create(QuotedLine.self, value: ["id": 1]) }
      configuration.objectTypes = []
      let realm = try Realm(configuration: configuration, scheduler: ManualScheduler())
      use(realm.dynamicObjects("QuotedLine"))
    }
  }

  static let traps: [TrapCase] = [
    unquoted("observing") { _ = $0.observe(keyPaths: ["a.b"]) { _ in } },
    unquoted("sorting") { _ = $0.sorted(byKeyPath: "a.b").count },
    unquoted("reading") { _ = $0[0].value(forKeyPath: "a.b") },
    unquoted("aggregating") { _ = $0.max(ofProperty: "a.b") as Int? },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = folder.path as String, name] in
      try await QuotedPropertyTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
