import Foundation
import Testing

@testable import Tarn

struct CollectionAddingTests {
  @Test func theHeldCollectionsBecomeLive() throws {
    let a = try Shelter().openChests()
    let chest = Chest(1)
    let (numbers, tags, scores, coins) = (chest.numbers, chest.tags, chest.scores, chest.coins)
    numbers.append(4)
    tags.insert("t")
    scores["s"] = 2
    coins.append(objectsIn: [Coin(7), Coin(8)])
    #expect(chest.numbers === numbers)
    #expect(numbers.realm == nil)
    try a.write {
      a.realm.add(chest)
      chest.numbers.append(5)
      coins[0].value = 9
    }
    #expect(numbers.realm == a.realm)
    #expect(numbers == chest.numbers)
    #expect(numbers != List<Int>())
    #expect(Array(numbers) == [4, 5])
    #expect(Array(tags) == ["t"])
    #expect(scores["s"] == 2)
    #expect(a.realm.objects(Coin.self).map(\.value) == [9, 8])
    try a.write { a.realm.delete(chest) }
    #expect(numbers.isInvalidated)
    #expect(tags.isInvalidated)
    #expect(scores.isInvalidated)
    #expect("\(numbers)" == "List<int> [invalidated]")
  }

  @Test func cyclesEnd() throws {
    let a = try Shelter().openChests()
    let (first, second) = (Chest(1), Chest(2))
    first.inner.append(objectsIn: [second, first])
    second.inner.append(first)
    try a.write { a.realm.add(first) }
    #expect(first.inner.map(\.id) == [2, 1])
    #expect(second.inner.map(\.id) == [1])
    #expect(a.chests.count == 2)
    #expect(first.description.contains("inner = List<Chest>"))
  }

  @Test func aCancelledWriteTakesTheCollectionAlong() throws {
    let a = try Shelter().openChests()
    a.realm.beginWrite()
    let chest = Chest(1)
    a.realm.add(chest)
    let list = chest.numbers
    list.append(1)
    a.realm.cancelWrite()
    #expect(list.isInvalidated)
    try a.write { a.realm.add(Chest(1)) }
    #expect(list.isInvalidated)
  }

  @Test func valuesByName() throws {
    let a = try Shelter().openChests()
    try a.write {
      let chest = a.realm.create(
        Chest.self,
        value: [
          "id": 1, "numbers": [1, 2], "words": ["a", nil], "tags": ["x", "y", "x"],
          "scores": ["p": 1], "coins": [["value": 3], Coin(4), [5, nil]],
          "named": ["k": ["value": 6], "n": nil] as [String: Any?],
          "moods": ["wild", CatMood.sleepy] as [Any],
          "inner": [["id": 2, "inner": [["id": 3]]]],
        ] as [String: Any])
      #expect(Array(chest.numbers) == [1, 2])
      #expect(Array(chest.words) == ["a", nil])
      #expect(Array(chest.tags) == ["x", "y"])
      #expect(chest.scores["p"] == 1)
      #expect(chest.coins.map(\.value) == [3, 4, 5])
      #expect(chest.named["k"]??.value == 6)
      #expect(chest.named["n"] == .some(nil))
      #expect(Array(chest.moods) == [.wild, .sleepy])
      #expect(chest.inner.first?.inner.first?.id == 3)
      let copy = a.realm.create(Chest.self, value: chest, update: .modified)
      #expect(copy.isSameObject(as: chest))
      #expect(copy.coins.map(\.value) == [3, 4, 5])
    }
  }

  @Test func updatingReplacesWhatDiffers() throws {
    let a = try Shelter().openChests()
    try a.write {
      a.realm.create(
        Chest.self,
        value: ["id": 1, "numbers": [1, 2], "tags": ["a"], "inner": [["id": 2]]] as [String: Any])
    }
    var told: [String] = []
    let token = try #require(a.chest(1)).observe { change in
      if case .change(_, let properties) = change { told += properties.map(\.name) }
    }
    a.pump()
    let new = Chest(1)
    new.numbers.append(objectsIn: [1, 2])
    new.tags.insert("b")
    let inner = Chest(2)
    inner.numbers.append(9)
    new.inner.append(inner)
    let held = new.tags
    try a.write { a.realm.add(new, update: .modified) }
    a.pump()
    #expect(told == ["tags"])
    #expect(held.realm == a.realm)
    #expect(Array(held) == ["b"])
    #expect(Array(new.numbers) == [1, 2])
    #expect(Array(try #require(a.chest(2)).numbers) == [9])
    #expect(a.chests.count == 2)
    told = []
    try a.write {
      a.realm.create(
        Chest.self, value: ["id": 1, "numbers": [1, 2]] as [String: Any], update: .all)
    }
    a.pump()
    #expect(told == ["numbers"])
    #expect(Array(new.tags) == ["b"])
    token.invalidate()
  }

  @Test func originsCountAsOftenAsTheyLink() throws {
    let shelter = try Shelter()
    let a = try shelter.openChests()
    let coin = Coin(1)
    try a.write {
      let chests = [Chest(1), Chest(2), Chest(3)]
      a.realm.add(chests)
      chests[2].coins.append(objectsIn: [coin, coin])
      chests[0].coins.append(coin)
      #expect(coin.chests.map(\.id) == [1, 3, 3])
      #expect(coin.chests.count == 3)
    }
    #expect(coin.chests.map(\.id) == [1, 3, 3])
    try a.write { a.chest(3)?.coins.removeLast() }
    #expect(coin.chests.map(\.id) == [1, 3])
    try a.write { if let chest = a.chest(1) { a.realm.delete(chest) } }
    #expect(coin.chests.map(\.id) == [3])
  }

  @Test func originsThroughSetsAndMaps() throws {
    let a = try Shelter().openChests()
    let coin = Coin(1)
    try a.write {
      let chests = [Chest(1), Chest(2)]
      a.realm.add(chests)
      for chest in chests { chest.gems.insert(coin) }
      chests[1].gems.insert(coin)
      chests[1].named.merge(["a": coin, "b": coin, "c": nil]) { _, new in new }
    }
    #expect(coin.gemChests.map(\.id) == [1, 2])
    #expect(coin.namedChests.map(\.id) == [2, 2])
    #expect(coin.namedChests.index(of: try #require(a.chest(2))) == 0)
    #expect(coin.gemChests == coin.gemChests)
    #expect(coin.gemChests != coin.namedChests)
    try a.write {
      a.chest(2)?.named["a"] = nil
      a.chest(1)?.gems.removeAll()
    }
    #expect(coin.gemChests.map(\.id) == [2])
    #expect(coin.namedChests.map(\.id) == [2])
    try a.write { a.chest(2)?.named.updateValue(nil, forKey: "b") }
    #expect(coin.namedChests.isEmpty)
    #expect(coin.gemChests.first?.id == 2)
  }

  @Test func deletingAnObjectTakesItOutOfCollections() throws {
    let a = try Shelter().openChests()
    let chest = Chest(1)
    let coin = Coin(1)
    try a.write {
      a.realm.add(chest)
      chest.coins.append(objectsIn: [coin, Coin(2), coin])
      chest.gems.insert(objectsIn: chest.coins)
      chest.named["a"] = coin
      a.realm.delete(coin)
      #expect(chest.coins.map(\.value) == [2])
    }
    #expect(chest.coins.map(\.value) == [2])
    #expect(chest.gems.map(\.value) == [2])
    #expect(chest.named.keys == ["a"])
    #expect(chest.named["a"] == .some(nil))
  }

  @Test func loopsGoOverWhatWasThere() throws {
    let a = try Shelter().openChests()
    let chest = Chest(1)
    chest.numbers.append(objectsIn: 0..<500)
    try a.write {
      a.realm.add(chest)
      var seen: [Int] = []
      for number in chest.numbers {
        seen.append(number)
        chest.numbers.removeFirst()
      }
      #expect(seen == Array(0..<500))
      #expect(chest.numbers.isEmpty)
    }
  }

  @Test func deletingWhatACollectionHolds() throws {
    let a = try Shelter().openChests()
    let chest = Chest(1)
    let coins = (0..<6).map { Coin($0) }
    chest.coins.append(objectsIn: [coins[0], coins[1], coins[0]])
    chest.gems.insert(coins[2])
    chest.named["a"] = coins[3]
    chest.named["b"] = coins[3]
    chest.named["c"] = nil
    try a.write {
      a.realm.add(chest)
      a.realm.add(coins[4...])
      a.realm.delete(chest.coins)
      a.realm.delete(chest.gems)
      a.realm.delete(chest.named)
    }
    #expect(chest.coins.isEmpty)
    #expect(chest.gems.isEmpty)
    #expect(chest.named.values == [nil, nil])
    #expect(a.realm.objects(Coin.self).map(\.value) == [4, 5])
  }

  @Test func embeddedObjectsBelongToTheirCollection() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Route.self, Stop.self]
    let a = try Instance(configuration, shelter)
    let route = Route()
    route.stops.append(objectsIn: [Stop("a"), Stop("b"), Stop("c")])
    let held = route.stops[1]
    try a.write {
      a.realm.add(route)
      route.named["x"] = Stop("x")
      held.name = "B"
    }
    func count() -> Int { a.realm.objects(Route.self).first?.stops.count ?? 0 }
    #expect(route.stops.map(\.name) == ["a", "B", "c"])
    #expect(route.named["x"]??.name == "x")
    try a.write {
      route.stops.remove(at: 1)
      route.stops[0] = Stop("d")
    }
    #expect(held.isInvalidated)
    #expect(route.stops.map(\.name) == ["d", "c"])
    let (last, named) = (route.stops[1], try #require(route.named["x"] ?? nil))
    try a.write { a.realm.delete(route) }
    #expect(last.isInvalidated)
    #expect(named.isInvalidated)
    #expect(count() == 0)
    #expect(a.realm.isEmpty)
  }
}

class Stop: EmbeddedObject {
  @Persisted var name = ""

  convenience init(_ name: String) {
    self.init()
    self.name = name
  }
}

class Route: Object {
  @Persisted var stops: List<Stop>
  @Persisted var named: Map<String, Stop?>
}
