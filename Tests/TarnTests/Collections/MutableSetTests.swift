import Foundation
import Testing

@testable import Tarn

struct MutableSetTests {
  @Test(arguments: CollectionHome.allCases)
  func elementsAreInOnceAndInOrder(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let tags = treasury.chest.tags
    tags.insert("b")
    tags.insert(objectsIn: ["ä", "a", "b", "B", ""])
    try treasury.everywhere {
      #expect(Array(tags) == ["", "B", "a", "b", "ä"])
      #expect(tags.count == 5)
      #expect(tags.contains("ä"))
      #expect(!tags.contains("c"))
      #expect(tags.index(of: "a") == 2)
      #expect(tags[1] == "B")
      #expect(tags.first == "")
      #expect(tags.last == "ä")
    }
    tags.remove("a")
    tags.remove("z")
    try treasury.everywhere { #expect(Array(tags) == ["", "B", "b", "ä"]) }
    tags.removeAll()
    #expect(tags.isEmpty)
    let sizes = treasury.chest.sizes
    sizes.insert(objectsIn: [.nan, 0.0, nil, -0.0, .nan, -1])
    try treasury.everywhere {
      try #require(sizes.count == 4)
      #expect(sizes[0] == .some(nil))
    }
  }

  @Test(arguments: CollectionHome.allCases)
  func setsAreCombined(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let tags = treasury.chest.tags
    let other = MutableSet<String>()
    tags.insert(objectsIn: ["a", "b", "c"])
    other.insert(objectsIn: ["b", "c", "d"])
    #expect(tags.intersects(other))
    #expect(!tags.isSubset(of: other))
    tags.formIntersection(other)
    #expect(Array(tags) == ["b", "c"])
    #expect(tags.isSubset(of: other))
    tags.formUnion(other)
    #expect(Array(tags) == ["b", "c", "d"])
    other.remove("c")
    tags.subtract(other)
    try treasury.everywhere { #expect(Array(tags) == ["c"]) }
    #expect(!tags.intersects(other))
    tags.subtract(tags)
    #expect(tags.isEmpty)
    treasury.chest.tags = other
    #expect(Array(tags) == ["b", "d"])
  }

  @Test(arguments: CollectionHome.allCases)
  func objectsAreInOnce(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let gems = treasury.chest.gems
    let coins = (0..<4).map { Coin($0) }
    gems.insert(objectsIn: coins + coins)
    try treasury.everywhere {
      #expect(gems.map(\.value) == [0, 1, 2, 3])
      #expect(gems.contains(coins[2]))
      #expect(!gems.contains(Coin(2)))
    }
    gems.remove(coins[1])
    gems.remove(Coin(2))
    try treasury.everywhere { #expect(gems.map(\.value) == [0, 2, 3]) }
    gems.insert(coins[1])
    #expect(Set(gems.map(\.value)) == [0, 1, 2, 3])
    #expect(gems.count == 4)
  }
}
