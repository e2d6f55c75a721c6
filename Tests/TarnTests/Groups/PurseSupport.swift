import Foundation
import TestSupport
import Testing

@testable import Tarn

enum Metal: String, PersistableEnum {
  case gold, tin
}

class Shop: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var street: String?
}

class Purse: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var owner: String?
  @Persisted var coins: Int
  @Persisted var spare: Int?
  @Persisted var weight: Double?
  @Persisted var ratio: Float
  @Persisted var price: Decimal128?
  @Persisted var day: Date?
  @Persisted var metal: Metal
  @Persisted var isOpen: Bool
  @Persisted var shop: Shop?
}

class PurseBox: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var purses: List<Purse>
}

/// Where a key stands, and what tells it from others, as plain Swift has it.
enum KeyRank: Hashable, Comparable {
  case nothing
  case notANumber
  case number(Double)
  case text([UInt8])

  init(_ text: String?) { self = text.map { .text(Array($0.utf8)) } ?? .nothing }
  init(_ number: Double?) {
    guard let number else {
      self = .nothing
      return
    }
    self = number.isNaN ? .notANumber : .number(number == 0 ? 0 : number)
  }

  static func < (a: KeyRank, b: KeyRank) -> Bool {
    switch (a, b) {
    case (.number(let a), .number(let b)): a < b
    case (.text(let a), .text(let b)): a.lexicographicallyPrecedes(b)
    default: a.kind < b.kind
    }
  }

  private var kind: Int {
    switch self {
    case .nothing: 0
    case .notANumber: 1
    case .number: 2
    case .text: 3
    }
  }
}

/// What is asked of every group in these tests.
typealias PurseValues = (
  Int, Int, Double?, Int?, Int?, Double, Double?, Double?, Double?, Decimal128, Decimal128?, Date?,
  Float?
)

extension RealmCollection where Element == Purse {
  func groupedWithAll<Key>(
    by keyPath: KeyPath<Purse, Key>
  ) -> GroupedResults<Key, PurseValues> {
    grouped(
      by: keyPath, .count, .sum(of: \.coins), .average(of: \.coins), .min(of: \.coins),
      .max(of: \.spare), .sum(of: \.weight), .average(of: \.weight), .min(of: \.weight),
      .max(of: \.weight), .sum(of: \.price), .max(of: \.price), .min(of: \.day), .max(of: \.ratio))
  }

  func aggregateOfAll() -> LiveAggregate<PurseValues> {
    aggregate(
      .count, .sum(of: \.coins), .average(of: \.coins), .min(of: \.coins), .max(of: \.spare),
      .sum(of: \.weight), .average(of: \.weight), .min(of: \.weight), .max(of: \.weight),
      .sum(of: \.price), .max(of: \.price), .min(of: \.day), .max(of: \.ratio))
  }
}

/// The same, worked out of an array by plain Swift. The weights are multiples of 1/1024.
func plainValues(_ purses: [Purse]) -> PurseValues {
  let coins = purses.map(\.coins)
  let weights = purses.compactMap(\.weight).filter { !$0.isNaN }
  let units = weights.reduce(Int128(0)) { $0 + Int128($1 * 1024) }
  let weight = Double(units) / 1024
  // 34 digits are more than a quotient needs to be on the right side between two doubles.
  let exact =
    Decimal128(stringLiteral: "\(units)")
    / Decimal128(stringLiteral: "\(1024 * max(weights.count, 1))")
  let prices = purses.compactMap(\.price)
  let sum = coins.reduce(0, +)
  return (
    purses.count, sum, coins.isEmpty ? nil : Double(sum) / Double(coins.count), coins.min(),
    purses.compactMap(\.spare).max(), weight,
    weights.isEmpty ? nil : exact.doubleValue, weights.min(), weights.max(),
    prices.reduce(Decimal128(0), +), prices.max(), purses.compactMap(\.day).min(),
    purses.map(\.ratio).filter { !$0.isNaN }.max()
  )
}

/// -0 and 0 print the same.
func text(_ values: PurseValues) -> String {
  let v = values
  func plain(_ number: Double?) -> String { number.map { "\($0 == 0 ? 0 : $0)" } ?? "-" }
  let price = "\(Double("\(v.9)") ?? 0)"
  let most = v.10.map { "\(Double("\($0)") ?? 0)" } ?? "-"
  return [
    "\(v.0)", "\(v.1)", plain(v.2), "\(v.3 ?? -1)", "\(v.4 ?? -1)", plain(v.5), plain(v.6),
    plain(v.7), plain(v.8), price, most, "\(v.11?.timeIntervalSince1970 ?? -1)",
    "\(v.12.map { $0 == 0 ? 0 : $0 } ?? -1)",
  ].joined(separator: " ")
}

extension Instance {
  /// Two of them with one file.
  static func withPurses(_ folder: TemporaryFolder) throws -> Instance {
    try Instance(
      Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder.path + "/purses.realm"),
        objectTypes: [Purse.self, Shop.self, PurseBox.self], durability: .relaxed))
  }

  var purses: Results<Purse> { realm.objects(Purse.self) }
  func purse(_ id: Int) -> Purse? { realm.object(ofType: Purse.self, forPrimaryKey: id) }
}

/// Random changes of purses.
struct PurseOperations {
  var numbers: SeededRandom

  private mutating func owner() -> String? {
    [nil, "", "a", "ab", "é", "z", "a long name that no cluster keeps with the others"][
      numbers.below(7)]
  }

  private mutating func weight() -> Double? {
    [nil, .nan, 0, -0.0, 1e16, -1e16, 1, 0.5, 3.25, 1_000_000.0625][numbers.below(10)]
  }

  private mutating func price() -> Decimal128? {
    let prices: [Decimal128?] = [nil, 0, 1, "1.10", "1.1", "-2.5", "12345678.90"]
    return prices[numbers.below(prices.count)]
  }

  mutating func fill(_ purse: Purse, _ instance: Instance) {
    purse.owner = owner()
    purse.coins = numbers.below(20) - 5
    purse.spare = numbers.chance(50) ? nil : numbers.below(1000)
    purse.weight = weight()
    purse.ratio = [0, -0.0, 1.5, .nan, -3][numbers.below(5)]
    purse.price = price()
    purse.day = numbers.chance(30) ? nil : Date(timeIntervalSince1970: Double(numbers.below(9)))
    purse.metal = numbers.chance(50) ? .gold : .tin
    purse.isOpen = numbers.chance(50)
    purse.shop = shop(instance)
  }

  private mutating func shop(_ instance: Instance) -> Shop? {
    let shops = instance.realm.objects(Shop.self)
    return shops.isEmpty || numbers.chance(20) ? nil : shops[numbers.below(shops.count)]
  }

  mutating func add(_ id: Int, to instance: Instance) {
    let purse = Purse()
    purse.id = id
    fill(purse, instance)
    instance.realm.add(purse)
  }

  mutating func apply(to instance: Instance) {
    let purses = instance.purses
    let purse = purses.isEmpty ? nil : purses[numbers.below(purses.count)]
    let chest = instance.realm.objects(PurseBox.self).first
    switch numbers.below(100) {
    case 0..<20:
      let id = numbers.below(60)
      if instance.purse(id) == nil { add(id, to: instance) }
    case 20..<30: if let purse { instance.realm.delete(purse) }
    case 30..<38: purse?.owner = owner()
    case 38..<48: purse?.coins = numbers.below(20) - 5
    case 48..<56: purse?.weight = weight()
    case 56..<62: purse?.price = price()
    case 62..<66: if let purse { fill(purse, instance) }
    case 66..<70: purse?.shop = shop(instance)
    case 70..<74: shop(instance)?.street = owner()
    case 74..<78:
      let id = numbers.below(6)
      if instance.realm.object(ofType: Shop.self, forPrimaryKey: id) == nil {
        let shop = Shop()
        (shop.id, shop.street) = (id, owner())
        instance.realm.add(shop)
      }
    case 78..<80: if let shop = shop(instance) { instance.realm.delete(shop) }
    case 80..<88: if let purse { chest?.purses.append(purse) }
    case 88..<92:
      if let chest, !chest.purses.isEmpty {
        chest.purses.remove(at: numbers.below(chest.purses.count))
      }
    case 92..<94:
      if let chest, chest.purses.count > 1 {
        chest.purses.move(from: 0, to: numbers.below(chest.purses.count))
      }
    case 94..<96: purse.map { $0.coins = $0.coins }
    case 96..<98: instance.realm.delete(purses.where { $0.coins > 12 })
    case 98: if numbers.chance(30) { instance.realm.delete(purses) }
    default: chest?.purses.removeAll()
    }
  }
}
