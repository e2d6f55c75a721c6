import Foundation
import Testing

@testable import Tarn

class Invoice: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var total: Decimal128
  @Persisted var tip: Decimal128?
  @Persisted var tax: Decimal128 = "0.20"

  convenience init(_ id: Int, _ total: Decimal128, tip: Decimal128? = nil) {
    self.init()
    self.id = id
    self.total = total
    self.tip = tip
  }
}

/// The same class in a file that is older than its decimals.
private enum Before {
  class Invoice: Object {
    @Persisted(primaryKey: true) var id: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

@Suite struct DecimalPropertyTests {
  private let shelter: Shelter
  private let configuration: Realm.Configuration

  init() throws {
    shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Invoice.self]
    self.configuration = configuration
  }

  private static let totals: [Decimal128] = [
    "1.10", "NaN", "-0", "Infinity", "-Infinity", "1.1000", "-7.25", "1E-6176",
    "9.999999999999999999999999999999999E+6144", "0.1",
  ]

  private func filled() throws -> Instance {
    let instance = try Instance(configuration, shelter)
    try instance.realm.write {
      for (id, total) in Self.totals.enumerated() {
        instance.realm.add(Invoice(id, total, tip: id % 3 == 0 ? nil : total + 1))
      }
    }
    return instance
  }

  @Test func valuesComeBackDigitByDigit() throws {
    _ = try filled()
    let instance = try Instance(configuration, shelter)
    let invoices = instance.realm.objects(Invoice.self)
    #expect(invoices.map(\.total.stringValue) == Self.totals.map(\.stringValue))
    #expect(invoices[0].tip == nil)
    #expect(invoices[5].tip?.stringValue == "2.1000")
    #expect(invoices.allSatisfy { $0.tax.stringValue == "0.20" })
    try instance.realm.write {
      invoices[0].total += "0.05"
      invoices[0].tip = 3
      invoices[1].tip = nil
      #expect(invoices[0].total.stringValue == "1.15")
    }
    let other = try Instance(configuration, shelter)
    let first = try #require(other.realm.object(ofType: Invoice.self, forPrimaryKey: 0))
    #expect(first.total.stringValue == "1.15")
    #expect(first.tip == 3)
    #expect(Invoice().total == 0)
    #expect(Invoice().total.stringValue == "0")
    #expect(Invoice().tip == nil)
  }

  @Test func conditionsCompareByValue() throws {
    let invoices = try filled().realm.objects(Invoice.self)
    func ids(_ condition: (Query<Invoice>) -> Query<Bool>) -> [Int] {
      invoices.where(condition).map(\.id)
    }
    #expect(ids { $0.total == 1.1 } == [0, 5])
    #expect(ids { $0.total == "NaN" } == [1])
    #expect(ids { $0.total == 0 } == [2])
    #expect(ids { $0.total > 1.1 } == [3, 8])
    #expect(ids { $0.total <= 0 } == [2, 4, 6])
    #expect(ids { $0.total < 0.1 && $0.total > 0 } == [7])
    #expect(ids { $0.total.contains(0.1...1.1) } == [0, 5, 9])
    #expect(ids { $0.total.in([0.1, "-7.250"]) } == [6, 9])
    #expect(ids { $0.tip == nil } == [0, 3, 6, 9])
    #expect(ids { $0.tip > 2 } == [5, 8])
    #expect(ids { $0.total >= "Infinity" } == [3])
  }

  @Test func sortingPutsNilAndNotANumberFirst() throws {
    let invoices = try filled().realm.objects(Invoice.self)
    #expect(invoices.sorted(by: \.total).map(\.id) == [1, 4, 6, 2, 7, 9, 0, 5, 8, 3])
    #expect(
      invoices.sorted(by: \.total, ascending: false).map(\.id) == [3, 8, 0, 5, 9, 7, 2, 6, 4, 1])
    #expect(invoices.sorted(by: \.tip).map(\.id) == [0, 3, 6, 9, 1, 4, 2, 7, 5, 8])
  }

  @Test func aggregatesAreDecimals() throws {
    let invoices = try filled().realm.objects(Invoice.self)
    #expect(invoices.min(of: \.total) == "-Infinity")
    #expect(invoices.max(of: \.total) == "Infinity")
    let some = invoices.where { $0.total.in([1.1, 0.1, "-7.25"]) }
    #expect(some.sum(of: \.total).stringValue == "-4.9500")
    #expect(some.average(of: \.total)?.stringValue == "-1.2375")
    #expect(some.min(of: \.total) == -7.25)
    #expect(some.max(of: \.tip) == 2.1)
    let rounded: Double? = some.average(ofProperty: "total")
    #expect(rounded == -1.2375)
    #expect(some.sum(of: \.tax).stringValue == "0.80")
    let none = invoices.where { $0.total == 99 }
    #expect(none.sum(of: \.total) == 0)
    #expect(none.average(of: \.total) == nil)
    #expect(none.min(of: \.tip) == nil)
    #expect(none.average(of: \.tip) == nil)
  }

  @Test func observersSeeThemChange() throws {
    let instance = try filled()
    let invoices = instance.realm.objects(Invoice.self).where { $0.total > 1 }.sorted(by: \.total)
    var seen: [[Int]] = []
    let token = invoices.observe { change in
      if case .update(_, let deletions, let insertions, let modifications) = change {
        seen.append(deletions + [-1] + insertions + [-1] + modifications)
      }
    }
    instance.pump()
    try instance.realm.write {
      instance.realm.object(ofType: Invoice.self, forPrimaryKey: 0)?.total = "1.2"
      instance.realm.object(ofType: Invoice.self, forPrimaryKey: 8)?.total = 0
    }
    instance.pump()
    #expect(seen == [[0, 2, -1, 1, -1]])
    token.invalidate()
  }

  @Test func aColumnThatIsYoungerThanItsRowsIsZero() throws {
    var before = configuration
    before.objectTypes = [Before.Invoice.self]
    let old = try Instance(before, shelter)
    try old.realm.write {
      let invoice = Before.Invoice()
      invoice.id = 1
      old.realm.add(invoice)
    }
    let instance = try Instance(configuration, shelter)
    let invoice = try #require(instance.realm.objects(Invoice.self).first)
    #expect(invoice.total.stringValue == "0")
    #expect(invoice.tip == nil)
    #expect((invoice.total + 1).stringValue == "1")
  }
}
