import Foundation
import Testing

@testable import Tarn

private enum Rank: Int, PersistableEnum {
  case low = 1
  case middle = 5
  case high = 9
}
private enum Suit: String, PersistableEnum { case clubs, hearts, spades }
private enum Scale: Double, PersistableEnum {
  case half = 0.5
  case double = 2
}

private struct Cents: CustomPersistable, Hashable, Comparable {
  var count: Int
  init(_ count: Int) { self.count = count }
  init(persistedValue: Int) { count = persistedValue }
  var persistableValue: Int { count }
  static func < (a: Self, b: Self) -> Bool { a.count < b.count }
}

/// No order of its own.
private struct Instant: CustomPersistable, Hashable {
  var date: Date
  init(_ seconds: Double) { date = Date(timeIntervalSince1970: seconds) }
  init(persistedValue: Date) { date = persistedValue }
  var persistableValue: Date { date }
}

private struct Sign: CustomPersistable, Hashable {
  var text: String
  init(_ text: String) { self.text = text }
  init(persistedValue: String) { text = persistedValue }
  var persistableValue: String { text }
}

private class Card: Object {
  @Persisted(primaryKey: true) var suit: Suit
  @Persisted(indexed: true) var rank = Rank.low
  @Persisted(indexed: true) var price = Cents(3)
  @Persisted(indexed: true) var sign: Sign
  @Persisted(indexed: true) var otherSign: Sign?
  @Persisted var otherRank: Rank?
  @Persisted var otherPrice: Cents?
  @Persisted var moment = Instant(0)
  @Persisted var ranks: List<Rank>
  @Persisted var maybeRanks: List<Rank?>
  @Persisted var suits: List<Suit>
  @Persisted var scales: MutableSet<Scale>
  @Persisted var prices: List<Cents>
  @Persisted var maybePrices: List<Cents?>
  @Persisted var moments: List<Instant>
  @Persisted var priceOf: Map<String, Cents>
  @Persisted var rankOf: Map<String, Rank?>
  @Persisted var partners: Map<String, Card?>

  convenience init(_ suit: Suit, _ rank: Rank, _ price: Int, _ sign: String) {
    self.init()
    (self.suit, self.rank, self.price, self.sign) = (suit, rank, Cents(price), Sign(sign))
  }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Seat: Object {
  @Persisted(primaryKey: true) var rank: Rank
  @Persisted var name = ""
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Priced: Object {
  @Persisted(primaryKey: true) var sign: Sign
  @Persisted var name = ""
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Enums and custom types as keys, under indexes, in orders and in aggregates.
struct StoredTypeTests {
  private let instance: Instance
  private var realm: Realm { instance.realm }
  private var cards: Results<Card> { realm.objects(Card.self) }

  init() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Card.self, Seat.self, Priced.self]
    instance = try Instance(configuration, shelter)
    try instance.write {
      realm.add(Card(.hearts, .high, 20, "b"))
      realm.add(Card(.clubs, .low, 30, "a"))
      realm.add(Card(.spades, .middle, 10, "b"))
    }
  }

  private func fill(_ card: Card) {
    card.ranks.append(objectsIn: [.middle, .low, .high, .low])
    card.maybeRanks.append(objectsIn: [.middle, nil, .high])
    card.suits.append(objectsIn: [.spades, .clubs])
    card.scales.insert(objectsIn: [.double, .half])
    card.prices.append(objectsIn: [Cents(4), Cents(-1), Cents(9)])
    card.maybePrices.append(objectsIn: [nil, Cents(7), Cents(2)])
    card.moments.append(objectsIn: [Instant(5), Instant(3)])
    card.priceOf["a"] = Cents(6)
    card.priceOf["b"] = Cents(1)
    card.rankOf["x"] = .some(.high)
    card.rankOf["y"] = .some(nil)
  }

  private func check(_ card: Card) {
    #expect(card.ranks.min() == .low)
    #expect(card.ranks.max() == .high)
    #expect(card.ranks.sum() == 16)
    #expect(card.ranks.average() == 4.0)
    #expect(card.maybeRanks.sum() == 14)
    #expect(card.maybeRanks.min() == .middle)
    #expect(card.maybeRanks.max() == .high)
    #expect(card.maybeRanks.average() == 7.0)
    #expect(card.suits.min() == .clubs)
    #expect(card.suits.max() == .spades)
    #expect(card.scales.sum() == 2.5)
    #expect(card.scales.average() == 1.25)
    #expect(card.scales.min() == .half)
    #expect(card.scales.max() == .double)
    #expect(card.prices.min() == Cents(-1))
    #expect(card.prices.max() == Cents(9))
    #expect(card.prices.sum() == Cents(12))
    #expect(card.prices.average() == 4.0)
    #expect(card.maybePrices.min() == Cents(2))
    #expect(card.maybePrices.max() == Cents(7))
    #expect(card.maybePrices.sum() == Cents(9))
    #expect(card.maybePrices.average() == 4.5)
    #expect(card.moments.min() == Instant(3))
    #expect(card.moments.max() == Instant(5))
    #expect(card.priceOf.min() == Cents(1))
    #expect(card.priceOf.max() == Cents(6))
    #expect(card.priceOf.sum() == Cents(7))
    #expect(card.priceOf.average() == 3.5)
    #expect(card.rankOf.min() == .high)
    #expect(card.rankOf.max() == .high)
    #expect(card.rankOf.sum() == 9)
  }

  @Test func collectionsOfThemAreAggregated() throws {
    let unmanaged = Card(.hearts, .low, 0, "")
    fill(unmanaged)
    check(unmanaged)
    let card = cards[0]
    try instance.write { fill(card) }
    check(card)
    check(card.freeze())
    #expect(card.ranks.sorted().sum() == 16)
    #expect(card.prices.sorted().max() == Cents(9))
    #expect(card.prices.distinct().sum() == Cents(12))
  }

  @Test func emptyOnesHaveNoneAndZero() {
    let card = Card()
    #expect(card.ranks.min() == nil)
    #expect(card.ranks.sum() == 0)
    #expect(card.prices.sum() == Cents(0))
    #expect(card.prices.max() == nil)
    #expect(card.scales.sum() == 0.0)
    #expect(card.moments.min() == nil)
    let average: Double? = card.prices.average()
    #expect(average == nil)
    #expect(card.priceOf.sum() == Cents(0))
    #expect(card.rankOf.min() == nil)
  }

  @Test func propertiesOfObjectsAreAggregated() throws {
    #expect(cards.min(of: \.rank) == .low)
    #expect(cards.max(of: \.rank) == .high)
    #expect(cards.sum(of: \.rank) == 15)
    #expect(cards.average(of: \.rank) == 5)
    #expect(cards.min(of: \.price) == Cents(10))
    #expect(cards.max(of: \.price) == Cents(30))
    #expect(cards.sum(of: \.price) == Cents(60))
    #expect(cards.average(of: \.price) == 20)
    #expect(cards.max(of: \.moment) == Instant(0))
    #expect(cards.min(of: \.otherRank) == nil)
    #expect(cards.sum(of: \.otherRank) == 0)
    let hearts = try #require(realm.object(ofType: Card.self, forPrimaryKey: Suit.hearts))
    try instance.write {
      hearts.otherRank = .middle
      hearts.otherPrice = Cents(8)
      hearts.partners["a"] = cards[1]
      hearts.partners["b"] = hearts
    }
    #expect(cards.max(of: \.otherRank) == .middle)
    #expect(cards.sum(of: \.otherPrice) == Cents(8))
    #expect(hearts.partners.sum(of: \.price) == Cents(50))
    #expect(hearts.partners.max(of: \.rank) == .high)
    #expect(hearts.partners.min(of: \.otherPrice) == Cents(8))
    #expect(hearts.partners.average(of: \.otherRank) == 5)
    #expect(cards.where { $0.price != Cents(10) }.sum(of: \.price) == Cents(50))
  }

  @Test func enumsAndCustomTypesNameObjects() throws {
    #expect(realm.object(ofType: Card.self, forPrimaryKey: Suit.clubs)?.price == Cents(30))
    #expect(realm.object(ofType: Card.self, forPrimaryKey: "spades")?.price == Cents(10))
    try instance.write {
      realm.add(Card(.clubs, .high, 31, "c"), update: .modified)
      realm.create(Card.self, value: ["suit": Suit.hearts, "price": Cents(21)], update: .modified)
      realm.create(Card.self, value: ["suit": "spades", "rank": 1], update: .modified)
      realm.create(Seat.self, value: ["rank": Rank.high, "name": "first"])
      realm.create(Seat.self, value: [1, "last"])
      realm.create(Priced.self, value: ["sign": Sign("x"), "name": "cross"])
      realm.create(Priced.self, value: ["sign": "y", "name": "fork"])
    }
    #expect(cards.count == 3)
    #expect(cards.sorted(by: \.suit).map(\.price) == [Cents(31), Cents(21), Cents(10)])
    #expect(realm.object(ofType: Card.self, forPrimaryKey: Suit.spades)?.rank == .low)
    #expect(realm.object(ofType: Seat.self, forPrimaryKey: Rank.high)?.name == "first")
    #expect(realm.object(ofType: Seat.self, forPrimaryKey: 1)?.name == "last")
    #expect(realm.object(ofType: Seat.self, forPrimaryKey: Rank.middle) == nil)
    #expect(realm.object(ofType: Priced.self, forPrimaryKey: Sign("y"))?.name == "fork")
    #expect(realm.object(ofType: Priced.self, forPrimaryKey: "x")?.name == "cross")
    let seat = try #require(realm.objects(Seat.self).where { $0.rank == .high }.first)
    #expect(seat.rank == .high)
    #expect(seat == realm.object(ofType: Seat.self, forPrimaryKey: 9))
  }

  @Test func indexesOverThemAnswer() throws {
    #expect(cards.where { $0.price == Cents(20) }.map(\.suit) == [.hearts])
    #expect(cards.where { $0.sign == Sign("b") }.map(\.suit) == [.hearts, .spades])
    #expect(cards.where { $0.otherSign == nil }.count == 3)
    try instance.write { cards[0].otherSign = Sign("z") }
    #expect(cards.where { $0.otherSign == Sign("z") }.map(\.suit) == [.hearts])
    try instance.write { cards[0].sign = Sign("q") }
    #expect(cards.where { $0.sign == Sign("b") }.map(\.suit) == [.spades])
    let schema = ClassReflection.of(Card.self)
    #expect(
      schema.properties.filter(\.isIndexed).map(\.name) == ["rank", "price", "sign", "otherSign"])
  }

  @Test func conditionsCompareTheirSumsAndAverages() throws {
    try instance.write {
      fill(cards[0])
      cards[0].partners["a"] = cards[1]
      cards[0].partners["b"] = cards[2]
    }
    func suits(_ condition: (Query<Card>) -> Query<Bool>) -> [Suit] {
      cards.where(condition).map(\.suit)
    }
    #expect(suits { $0.prices.sum == Cents(12) } == [.hearts])
    #expect(suits { $0.prices.avg == Cents(4) } == [.hearts])
    #expect(suits { $0.prices.sum == 12 } == [.hearts])
    #expect(suits { $0.prices.avg == 4 } == [.hearts])
    #expect(suits { $0.maybePrices.sum == Cents(9) } == [.hearts])
    #expect(suits { $0.ranks.avg > Rank.low } == [.hearts])
    #expect(suits { $0.priceOf.sum == Cents(7) } == [.hearts])
    #expect(suits { $0.partners.values.price.sum == Cents(40) } == [.hearts])
    #expect(suits { $0.partners.values.price.avg == Cents(20) } == [.hearts])
  }

  @Test func theyHaveAnOrderAndTellObjectsApart() throws {
    #expect(cards.sorted(by: \.rank).map(\.rank) == [.low, .middle, .high])
    #expect(cards.sorted(by: \.price, ascending: false).map(\.price.count) == [30, 20, 10])
    #expect(
      cards.sorted(by: [SortDescriptor(keyPath: \Card.sign), "price"]).map(\.price.count) == [
        30, 10, 20,
      ])
    #expect(cards.distinct(by: [\.sign]).map(\.suit) == [.hearts, .clubs])
    #expect(cards.distinct(by: [\.rank, \.price]).count == 3)
    let sections = cards.sectioned(by: \.sign)
    try #require(sections.allKeys == [Sign("a"), Sign("b")])
    #expect(sections[1].count == 2)
    let byRank = cards.sectioned(by: \.rank, ascending: false)
    #expect(byRank.allKeys == [.high, .middle, .low])
    try instance.write { fill(cards[0]) }
    #expect(Array(cards[0].ranks.sorted()) == [.low, .low, .middle, .high])
    #expect(Array(cards[0].ranks.distinct()) == [.middle, .low, .high])
    #expect(Array(cards[0].prices.sorted(ascending: false)) == [Cents(9), Cents(4), Cents(-1)])
  }
}
