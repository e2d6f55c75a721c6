import Foundation
import Testing

@testable import Tarn

/// Collections written as arrays and dictionaries.
struct CollectionLiteralTests: TrapSuite {
  @Test(arguments: CollectionHome.allCases)
  func literalsAreAssigned(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let chest = treasury.chest
    let coin = Coin(3)
    chest.numbers = [3, 1, 3]
    chest.words = ["a", nil]
    chest.tags = ["b", "a", "b"]
    chest.scores = ["x": 1, "y": 2]
    chest.notes = ["x": nil, "y": "z"]
    chest.coins = [coin, Coin(4)]
    chest.gems = [coin, coin]
    chest.named = ["rex": coin, "nobody": nil]
    chest.moods = [.wild, .sleepy]
    try treasury.everywhere {
      #expect(chest.numbers == [3, 1, 3])
      #expect([3, 1, 3] == chest.numbers)
      #expect(chest.numbers != [3, 1])
      #expect(chest.numbers != [1, 3, 3])
      #expect(chest.numbers != [])
      #expect(chest.words == ["a", nil])
      #expect(chest.tags == ["a", "b"])
      #expect(chest.tags != ["a", "c"])
      #expect(chest.scores == ["y": 2, "x": 1])
      #expect(chest.scores != ["y": 2, "z": 1])
      #expect(chest.notes == ["x": nil, "y": "z"])
      #expect(chest.notes != ["x": nil])
      #expect(chest.coins.map(\.value) == [3, 4])
      #expect(chest.gems == [coin])
      #expect(chest.named == ["rex": coin, "nobody": nil])
      #expect(chest.moods == [.wild, .sleepy])
    }
    chest.numbers = []
    chest.scores = [:]
    #expect(chest.numbers.isEmpty)
    #expect(chest.scores.isEmpty)
    #expect(chest.numbers == [])
  }

  @Test func setsOfObjectsHaveNoOrder() throws {
    let (a, b) = (Coin(1), Coin(2))
    let set: MutableSet<Coin> = [a, b]
    #expect(set == [b, a])
    #expect(set != [a])
    #expect(set != [a, Coin(2)])
    let shelter = try Shelter()
    let instance = try shelter.openChests()
    let chest = Chest(1)
    chest.gems = set
    try instance.write { instance.realm.add(chest) }
    #expect(chest.gems == [b, a])
    #expect([a, b] == chest.gems)
    #expect(chest.gems != [b, Coin(1)])
    try instance.write { instance.realm.delete(chest) }
    #expect(set == [b, a])
  }

  @Test func defaultsMayBeLiterals() {
    #expect(LiteralShelf().books == ["a", "b"])
    #expect(LiteralShelf().prices == ["a": 1.5])
    let shelf = LiteralShelf()
    shelf.books.append("c")
    #expect(LiteralShelf().books.count == 2)
    #expect(shelf.books.count == 3)
  }

  @Test func codeThatIsGenericOverCollectionsNamesTheirElements() {
    func first<C: RealmCollection>(_ collection: C) -> C.ElementType? where C.ElementType == Int {
      collection.first
    }
    let list: List<Int> = [4, 5]
    #expect(first(list) == 4)
    #expect(first(AnyRealmCollection(list)) == 4)
  }

  @Test func aKeyGivenTwiceTraps() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let key = "a"
      let map: Map<String, Int> = ["a": 1, "b": 2, key: 3]
      print(map)
    }
    try expect("A map was given the key 'a' twice", in: result)
  }
}

class LiteralShelf: Object {
  @Persisted var books: List<String> = ["a", "b"]
  @Persisted var prices: Map<String, Double> = ["a": 1.5]
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
