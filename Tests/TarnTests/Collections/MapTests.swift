import Foundation
import Testing

@testable import Tarn

struct MapTests {
  @Test(arguments: CollectionHome.allCases)
  func valuesAreUnderKeys(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let scores = treasury.chest.scores
    scores["b"] = 2
    scores["a"] = 1
    scores["ä"] = 3
    scores["b"] = 20
    try treasury.everywhere {
      #expect(scores.keys == ["a", "b", "ä"])
      #expect(scores.values == [1, 20, 3])
      #expect(scores["a"] == 1)
      #expect(scores["c"] == nil)
      #expect(scores.count == 3)
      #expect(scores["c", default: 9] == 9)
      #expect(scores.map { "\($0.key)\($0.value)" } == ["a1", "b20", "ä3"])
      #expect(Dictionary(uniqueKeysWithValues: scores.asKeyValueSequence().map { $0 })["b"] == 20)
      #expect(scores.contains { key, value in key == "b" && value == 20 })
    }
    var pairs: [String] = []
    for (key, value) in scores { pairs.append("\(key)\(value)") }
    for entry in scores { pairs.append("\(entry.key)\(entry.value)") }
    let entry: SingleMapEntry<String, Int>? = scores.first { $0.value == 20 }
    #expect(pairs == ["a1", "b20", "ä3", "a1", "b20", "ä3"])
    #expect(entry?.key == "b")
    #expect(scores.contains { $0.value == 3 })
    #expect(!scores.contains { $0 == "b" && $1 == 3 })
    #expect(scores.filter { $0.value > 2 }.map(\.key) == ["b", "ä"])
    scores["a"] = nil
    scores.removeObject(for: "nothing")
    scores.updateValue(5, forKey: "b")
    try treasury.everywhere {
      #expect(scores.keys == ["b", "ä"])
      #expect(scores.values == [5, 3])
    }
    scores.merge(["b": 1, "c": 7], uniquingKeysWith: +)
    #expect(scores["b"] == 6)
    #expect(scores["c"] == 7)
    let other = Map<String, Int>()
    other["c"] = 70
    scores.merge(other) { old, _ in old }
    #expect(scores["c"] == 7)
    treasury.chest.scores = other
    try treasury.everywhere {
      #expect(scores.keys == ["c"])
      #expect(scores["c"] == 70)
    }
    scores["d", default: 1] += 1
    #expect(scores["d"] == 2)
    scores.removeAll()
    #expect(scores.isEmpty)
  }

  @Test(arguments: CollectionHome.allCases)
  func aValueMayBeNil(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let notes = treasury.chest.notes
    notes["a"] = "x"
    notes.updateValue(nil, forKey: "b")
    notes["c"] = .some(nil)
    try treasury.everywhere {
      #expect(notes.keys == ["a", "b", "c"])
      #expect(notes.values == ["x", nil, nil])
      #expect(notes["b"] == .some(nil))
      #expect(notes["d"] == nil)
    }
    notes["b"] = nil
    #expect(notes.keys == ["a", "c"])
  }

  @Test(arguments: CollectionHome.allCases)
  func objectsAreValues(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let named = treasury.chest.named
    let coin = Coin(4)
    named["a"] = coin
    named["b"] = coin
    named.updateValue(nil, forKey: "c")
    coin.value = 5
    try treasury.everywhere {
      #expect(named["a"]??.value == 5)
      #expect(named["b"]??.isSameObject(as: coin) == true)
      #expect(named["c"] == .some(nil))
      #expect(named.values.count == 3)
    }
  }

  @Test(arguments: CollectionHome.allCases)
  func anyTextIsAKey(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let named = treasury.chest.named
    let keys = ["", "$a", ".", "`", "a.b"]
    for (number, key) in keys.enumerated() { named[key] = Coin(number) }
    try treasury.everywhere {
      #expect(named.keys == keys)
      #expect(named["a.b"]??.value == 4)
      #expect(named.value(forKeyPath: "`a.b`.value") as? Int == 4)
      #expect(named.value(forKeyPath: "````.value") as? Int == 3)
    }
  }
}
