import Foundation
import Testing

@testable import Tarn

/// Whatever can be read can be read of frozen things, and is the same.
struct FreezingReadingTests {
  @Test func queriesAndAggregates() throws {
    let a = try Shelter().openIce(glaciers: 9)
    let frozen = a.realm.freeze()
    func check(_ query: (Results<Glacier>) -> Results<Glacier>) {
      let live = query(a.glaciers)
      let expected: [Int] = live.map(\.id)
      #expect(query(frozen.objects(Glacier.self)).map(\.id) == expected)
      #expect(live.freeze().map(\.id) == expected)
      #expect(live.freeze().count == live.count)
      #expect(live.freeze().sum(of: \.age) == live.sum(of: \.age) as Int)
    }
    check { $0 }
    check { $0.where { $0.age > 3 } }
    check { $0.where { $0.name.contains("4") || $0.size > 1.5 } }
    check { $0.sorted(by: \.age, ascending: false).where { $0.mood == .wild } }
    check { $0.sorted(byKeyPath: "largest.weight", ascending: false) }
    let glaciers = frozen.objects(Glacier.self)
    #expect(glaciers.max(of: \.age) == 9)
    #expect(glaciers.average(of: \.size) == 1.25)
    #expect(glaciers.index(of: glaciers[4]) == 4)
    #expect(glaciers.index(of: a.glacier(1)!) == nil)
    #expect(glaciers.index(matching: { $0.age == 4 }) == 3)
    #expect(glaciers.where { $0.age == 40 }.first == nil)
    #expect(glaciers.last?.id == 9)
    #expect(glaciers.objects(at: [1, 3]).map(\.id) == [2, 4])
    #expect(glaciers.value(forKeyPath: "@max.age") as? Int == 9)
    #expect(glaciers.description == a.glaciers.description)
    let largest = a.glacier(2)!.largest!.freeze()
    #expect(glaciers.where { $0.largest == largest }.map(\.id) == [2])
    #expect(a.glaciers.where { $0.largest == largest }.map(\.id) == [2])
  }

  @Test func objectsOfAllKinds() throws {
    let a = try Shelter().openIce(glaciers: 3)
    let frozen = a.realm.freeze()
    for id in 1...3 {
      let live = try #require(a.glacier(id))
      let glacier = try #require(frozen.object(ofType: Glacier.self, forPrimaryKey: id))
      #expect(glacier.text == live.text)
      #expect(live.freeze().text == live.text)
      #expect(glacier.map == live.map)
      #expect(glacier.anything.dictionaryValue?["number"] == .int(id))
      #expect(glacier["size"] as? Double == Double(id) / 4)
      #expect(glacier.value(forKeyPath: "drill.depth") as? Int == id)
      #expect(glacier.detached().depths == live.detached().depths)
      #expect(glacier.objectSchema.className == "Glacier")
      #expect(glacier.description == live.description)
    }
    #expect(frozen.object(ofType: Glacier.self, forPrimaryKey: 4) == nil)
    #expect(frozen.schema.objectSchema.map(\.className) == ["Drill", "Glacier", "Stone"])
  }

  @Test func collectionsOfAllKinds() throws {
    let a = try Shelter().openIce(glaciers: 1, depths: 3_000)
    let live = a.glacier(1)!
    let frozen = live.freeze()
    try a.write { a.realm.delete(a.stones) }
    #expect(frozen.stones.map(\.weight) == [10, 11, 12, 10])
    #expect(live.stones.isEmpty)
    #expect(frozen.stones.sorted(by: \.weight, ascending: false).map(\.weight) == [12, 11, 10, 10])
    #expect(frozen.found.where { $0.weight > 10 }.map(\.weight) == [12, 11])
    #expect(frozen.named.keys == ["none", "stone 10", "stone 11", "stone 12"])
    #expect(frozen.named.where { $0.weight < 12 }.count == 2)
    #expect(frozen.named["stone 11"]??.weight == 11)
    try #require(frozen.depths.count == 3_000)
    #expect(frozen.depths[2_999] == 2_999 * 7 + 1)
    #expect(Array(frozen.depths) == Array(live.depths))
    #expect(frozen.depths.sum() == live.depths.sum())
    #expect(frozen.depths[5..<7].map { $0 } == [36, 43])
    #expect(frozen.depths.index(of: 43) == 6)
    #expect(frozen.words.contains("ice"))
    #expect(!frozen.words.contains("fire"))
    #expect(frozen.scores.map(\.value) == [0, nil, 2])
    #expect(frozen.stones[0].glaciers.map(\.id) == [1, 1])
    #expect(frozen.stones[0].glaciers.where { $0.age == 1 }.count == 2)
    #expect(frozen.stones.value(forKeyPath: "@sum.weight") as? Int == 43)
    #expect(AnyRealmCollection(live.depths).freeze().max() == 2_999 * 7 + 1)
    #expect(frozen.drills.map(\.depth) == [1, 2])
  }

  @Test func dynamicObjects() throws {
    let a = try Shelter().openIce(glaciers: 2)
    let frozen = a.realm.freeze()
    try a.write { a.realm.deleteAll() }
    let glacier = try #require(frozen.dynamicObject(ofType: "Glacier", forPrimaryKey: 2))
    #expect(glacier.name as? String == "glacier 2")
    #expect(glacier.isFrozen)
    #expect((glacier.largest as? Stone)?.weight == 22)
    #expect((glacier.depths as? List<Int>)?.count == 3)
    #expect(glacier.dynamicList("stones").map { $0.weight as? Int } == [20, 21, 22, 20])
    #expect(frozen.dynamicObjects("Stone").sorted(byKeyPath: "weight").count == 6)
    let map: Map<String, DynamicObject?> = glacier.dynamicMap("named")
    #expect(map.count == 4)
  }

  @Test func encoding() throws {
    let a = try Shelter().openIce(glaciers: 2)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let live = try encoder.encode(a.stones)
    #expect(try encoder.encode(a.stones.freeze()) == live)
    let frozen = a.glacier(1)!.freeze()
    #expect(try encoder.encode(frozen.depths) == Data("[1,8,15]".utf8))
    #expect(try encoder.encode(frozen.anything) == encoder.encode(a.glacier(1)!.anything))
    #expect(try encoder.encode(frozen.largest?.detached()).count > 10)
  }

  @Test func objectsWhoseRowHasOldColumns() throws {
    let shelter = try Shelter()
    let a = try shelter.openIce(glaciers: 1)
    let frozen = a.realm.freeze()
    var wider = shelter.iceConfiguration
    wider.objectTypes? += [Cat.self, Home.self]
    let b = try Instance(wider, shelter)
    try b.write { b.realm.add(Cat(1)) }
    #expect(frozen.objects(Glacier.self)[0].age == 1)
    #expect(!frozen.schema.objectSchema.contains { $0.className == "Cat" })
    #expect(b.realm.freeze().objects(Cat.self).count == 1)
    a.realm.refresh()
    #expect(a.realm.freeze().dynamicObjects("Cat").count == 1)
  }
}
