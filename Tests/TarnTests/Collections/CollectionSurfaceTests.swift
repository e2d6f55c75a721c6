import Foundation
import Testing

@testable import Tarn

/// What every collection can be asked, whatever kind it is.
struct CollectionSurfaceTests {
  private let shelter: Shelter
  private let instance: Instance
  private var kennel: Kennel { instance.kennel }

  /// Every collection of objects has the hounds 0, 1 and 2.
  init() throws {
    shelter = try Shelter()
    instance = try shelter.openKennel(5, 1, 3)
    try instance.write {
      instance.realm.add(Yard(0))
      for hound in instance.kennel.hounds {
        hound.yard = instance.yard(0)
        instance.kennel.pack.insert(hound)
        instance.kennel.named["k\(hound.id)"] = hound
      }
      instance.hound(1)!.weight = 2.5
      instance.kennel.named.updateValue(nil, forKey: "nobody")
    }
  }

  private func reading<C: RealmCollection>(_ hounds: C) where C.Element == Hound {
    #expect(hounds.realm != nil)
    #expect(!hounds.isInvalidated)
    #expect(!hounds.isFrozen)
    #expect(hounds.count == 3)
    #expect(hounds.first?.id == 0)
    #expect(hounds.last?.id == 2)
    #expect(hounds[1].id == 1)
    #expect(hounds.description.contains("h1"))
    #expect(hounds.index(of: instance.hound(2)!) == 2)
    #expect(hounds.index(matching: { $0.age == 3 }) == 2)
    #expect(hounds.index(matching: "age == %@", 1) == 1)
    #expect(hounds.objects(at: [0, 2]).map(\.id) == [0, 2])
    #expect(hounds == hounds)
  }

  private func querying<C: RealmCollection>(_ hounds: C) where C.Element == Hound {
    #expect(hounds.filter("age > 1").map(\.id) == [0, 2])
    #expect(hounds.where { $0.age > 1 }.map(\.id) == [0, 2])
    #expect(hounds.sorted(byKeyPath: "age").map(\.id) == [1, 2, 0])
    #expect(hounds.sorted(byKeyPath: "yard.id", ascending: false).map(\.id) == [0, 1, 2])
    #expect(hounds.sorted(by: \.age, ascending: false).map(\.id) == [0, 2, 1])
    #expect(hounds.sorted(by: ["yard.rooms", SortDescriptor(keyPath: \Hound.age)]).count == 3)
    #expect(hounds.distinct(by: ["yard.id"]).map(\.id) == [0])
    #expect(hounds.distinct(by: [\.weight]).map(\.id) == [0, 1])
    #expect(hounds.sectioned(by: \.age).allKeys == [1, 3, 5])
    #expect(hounds.sectioned(by: \.age, sortDescriptors: ["age"]).count == 3)
    #expect(hounds.sectioned(by: { $0.age > 1 }, sortDescriptors: ["age"]).count == 2)
  }

  private func aggregating<C: RealmCollection>(_ hounds: C) where C.Element == Hound {
    let least: Int? = hounds.min(ofProperty: "age")
    let most: Double? = hounds.max(ofProperty: "weight")
    let sum: Int = hounds.sum(ofProperty: "age")
    let average: Double? = hounds.average(ofProperty: "age")
    #expect(least == 1)
    #expect(most == 2.5)
    #expect(sum == 9)
    #expect(average == 3)
    #expect(hounds.min(of: \.age) == 1)
    #expect(hounds.max(of: \.weight) == 2.5)
    #expect(hounds.sum(of: \.age) == 9)
    #expect(hounds.average(of: \.weight) == 2.5)
    #expect(hounds.value(forKey: "age") as? [Int] == [5, 1, 3])
    #expect(hounds.value(forKeyPath: "@sum.age") as? Int == 9)
  }

  private func beingObserved<C: RealmCollection>(_ hounds: C) throws where C.Element == Hound {
    let recorder = SequenceRecorder(hounds) { "\($0.name) \($0.age)" }
    instance.pump()
    try instance.write { hounds.setValue("all \(recorder.calls.count)", forKey: "name") }
    instance.pump()
    #expect(recorder.calls == ["initial 3", "-[] +[] ~[0, 1, 2]"])
    #expect(recorder.problems == [])
    let frozen = hounds.freeze()
    #expect(frozen.isFrozen)
    #expect(frozen.count == 3)
    #expect(frozen.thaw()?.first?.id == 0)
  }

  /// Nothing is done before an element is asked for, and then for that one.
  private func beingLazy<C: RealmCollection>(_ hounds: C) where C.Element == Hound {
    var asked: [Int] = []
    let ages = hounds.map { hound in
      asked.append(hound.id)
      return hound.age
    }
    let old = hounds.filter { hound in
      asked.append(hound.id)
      return hound.age > 1
    }
    #expect(asked.isEmpty)
    #expect(ages.dropFirst().first == 1)
    #expect(asked == [1])
    #expect(old.first?.id == 0)
    #expect(Set(asked) == [0, 1])
    let array: [Int] = hounds.map(\.age)
    #expect(array == [5, 1, 3])
    #expect(Array(ages) == array)
  }

  private func all<C: RealmCollection>(_ hounds: C) throws where C.Element == Hound {
    reading(hounds)
    querying(hounds)
    aggregating(hounds)
    beingLazy(hounds)
    try beingObserved(hounds)
  }

  @Test func results() throws { try all(instance.realm.objects(Hound.self)) }
  @Test func distinctResults() throws {
    try all(instance.realm.objects(Hound.self).distinct(by: ["id"]))
  }
  @Test func lists() throws { try all(kennel.hounds) }
  @Test func sets() throws { try all(kennel.pack) }
  @Test func backlinks() throws { try all(instance.yard(0)!.hounds) }
  @Test func erased() throws { try all(AnyRealmCollection(kennel.hounds)) }

  private func values<C: RealmCollection>(
    _ numbers: C, _ expected: [Int]
  ) throws where C: Encodable, C.Element == Int {
    #expect(Array(numbers.sorted(ascending: false)) == expected.sorted(by: >))
    #expect(Set(numbers.distinct()) == Set(expected))
    #expect(numbers.min() == expected.min())
    #expect(numbers.max() == expected.max())
    #expect(numbers.sum() == expected.reduce(0, +))
    let average: Double? = numbers.average()
    #expect(average == Double(expected.reduce(0, +)) / Double(expected.count))
    #expect(try JSONDecoder().decode([Int].self, from: JSONEncoder().encode(numbers)) == expected)
  }

  @Test func collectionsOfValues() throws {
    let instance = try shelter.openChests()
    try instance.write {
      let chest = Chest(1)
      chest.numbers.append(objectsIn: [3, 1, 3])
      chest.sizes.insert(objectsIn: [2.5, nil, 1])
      instance.realm.add(chest)
    }
    let chest = instance.chest(1)!
    try values(chest.numbers, [3, 1, 3])
    try values(AnyRealmCollection(chest.numbers), [3, 1, 3])
    try values(chest.numbers.sorted(ascending: true), [1, 3, 3])
    #expect(chest.sizes.min() == 1)
    #expect(chest.sizes.max() == 2.5)
    #expect(chest.sizes.sum() == 3.5)
  }

  @Test func mapsOfObjects() throws {
    let named = kennel.named
    #expect(named.filter("age > %d", 1).map(\.id) == [0, 2])
    #expect(try named.filtered("age == 1").map(\.id) == [1])
    #expect(named.where { $0.age < 5 }.map(\.id) == [1, 2])
    #expect(named.sorted(byKeyPath: "age").map(\.id) == [1, 2, 0])
    #expect(named.sorted(by: \.age, ascending: false).first?.id == 0)
    #expect(named.distinct(by: ["weight"]).map(\.id) == [0, 1])
    let least: Int? = named.min(ofProperty: "age")
    let most: Int? = named.max(ofProperty: "age")
    let sum: Int = named.sum(ofProperty: "age")
    let average: Double? = named.average(ofProperty: "age")
    #expect(least == 1)
    #expect(most == 5)
    #expect(sum == 9)
    #expect(average == 3)
    #expect(named.min(of: \.weight) == 2.5)
    #expect(named.max(of: \.age) == 5)
    #expect(named.sum(of: \.weight) == 2.5)
    #expect(named.average(of: \.age) == 3)
    #expect((named.value(forKey: "k0") as? Hound)?.age == 5)
    try instance.write { named.setValue(7, forKeyPath: "k2.age") }
    #expect(named.contains { key, value in key == "k2" && value?.age == 7 })
    #expect(named.freeze().thaw() == named)
  }

  @Test func mapsOfValues() throws {
    let instance = try shelter.openChests()
    try instance.write { instance.realm.add(Chest(1)) }
    let chest = instance.chest(1)!
    let scores = chest.scores
    #expect(scores.min() == nil)
    #expect(scores.sum() == 0)
    try instance.write {
      scores["b"] = 2
      scores.updateValue(4, forKey: "a")
      scores.merge(["a": 1, "c": 3]) { $0 + $1 }
      scores.removeObject(for: "nothing")
    }
    #expect(scores.keys == ["a", "b", "c"])
    #expect(scores.values == [5, 2, 3])
    #expect(scores.count == 3)
    #expect(scores.asKeyValueSequence().map(\.key) == ["a", "b", "c"])
    #expect(scores.map(\.value) == [5, 2, 3])
    #expect(scores["d", default: 9] == 9)
    #expect(scores.min() == 2)
    #expect(scores.max() == 5)
    #expect(scores.sum() == 10)
    let average: Double? = scores.average()
    #expect(average == 10.0 / 3)
    #expect(Array(scores.sorted(ascending: true)) == [2, 3, 5])
    #expect(scores.distinct().count == 3)
    let copy = try JSONDecoder().decode(
      Map<String, Int>.self, from: JSONEncoder().encode(scores))
    #expect(copy.values == [5, 2, 3])
    try instance.write { scores.removeAll() }
    #expect(scores.count == 0)
  }

  @Test func optionalValuesOfMaps() {
    let map = Map<String, Double?>()
    #expect(map.min() == nil)
    #expect(map.max() == nil)
    #expect(map.sum() == 0)
    for (key, value) in [("a", 2), ("b", nil), ("c", .nan), ("d", 1.5)] as [(String, Double?)] {
      map.updateValue(value, forKey: key)
    }
    let average: Double? = map.average()
    #expect(map.min() == 1.5)
    #expect(map.max() == 2)
    #expect(map.sum() == 3.5)
    #expect(average == 1.75)
  }
}
