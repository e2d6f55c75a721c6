import Foundation
import Testing

@testable import Tarn

private class SumShop: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var price: Decimal128?
  @Persisted var prices: List<Decimal128>
  @Persisted var marks: Map<String, Decimal128>
  @Persisted var next: List<SumShop>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Sums and averages of decimals that need more than 34 digits: every way to add has one answer,
/// which is exact and rounded once, whatever the order of the rows.
struct DecimalSumTests {
  /// With the sum and the average of each.
  private static let cases: [(prices: [Decimal128], sum: Decimal128, average: Decimal128)] = [
    (["1E+33", "0.3", "0.3", "-1E+33"], "0.6", "0.15"),
    (
      ["1E+33", "0.5", "0.5"], "1000000000000000000000000000000001",
      "333333333333333333333333333333333.7"
    ),
    (["0.00", "1E+6000", "7", "-1E+6000"], "7", "1.75"),
    (
      ["9999999999999999999999999999999999", "0.4", "0.4"], "1E+34",
      "3333333333333333333333333333333333"
    ),
  ]

  private func check(
    _ realm: Realm, _ sum: Decimal128, _ average: Decimal128, _ prices: [Decimal128]
  ) throws {
    let shops = realm.objects(SumShop.self).where { $0.price != nil }
    #expect(shops.sum(of: \.price) == sum)
    #expect(shops.average(of: \.price) == average)
    let aggregate = shops.aggregate(.sum(of: \.price), .average(of: \.price)).value
    #expect(aggregate.0 == sum)
    #expect(aggregate.1 == average)
    let owner = try #require(realm.object(ofType: SumShop.self, forPrimaryKey: -1))
    #expect(owner.prices.sum() == sum)
    #expect(owner.prices.average() == average)
    #expect(owner.next.sum(of: \.price) == sum)
    #expect(owner.next.average(of: \.price) == average)
    let unmanaged = List<Decimal128>()
    unmanaged.append(objectsIn: prices)
    #expect(unmanaged.sum() == sum)
    #expect(unmanaged.average() == average)
    for collection in ["prices", "next", "marks"] {
      let behind = collection == "next" ? ".price" : ""
      let text = "\(collection).@sum\(behind) == %@ AND \(collection).@avg\(behind) == %@"
      #expect(realm.objects(SumShop.self).filter(text, sum, average).map(\.id) == [-1], "\(text)")
    }
  }

  @Test(arguments: cases.indices)
  func `all ways to add agree`(_ number: Int) throws {
    let (prices, sum, average) = Self.cases[number]
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [SumShop.self]
    let instance = try Instance(configuration, shelter)
    for shift in prices.indices {
      let turned = Array(prices[shift...] + prices[..<shift])
      try instance.write {
        instance.realm.deleteAll()
        let owner = instance.realm.create(SumShop.self, value: ["id": -1])
        for (id, price) in turned.enumerated() {
          owner.next.append(instance.realm.create(SumShop.self, value: [id, price]))
          owner.prices.append(price)
          owner.marks["\(id)"] = price
        }
        try check(instance.realm, sum, average, turned)
      }
      try check(instance.realm, sum, average, turned)
    }
  }
}
