import Foundation
import Testing

@testable import Tarn

/// What can be passed to another instance, and that it is the same there.
struct ReferenceKindTests {
  private let a: Instance
  private let b: Instance

  init() throws {
    let shelter = try Shelter()
    a = try shelter.openIce(glaciers: 2)
    b = try shelter.openIce()
  }

  private func passed<Confined: ThreadConfined>(_ thing: Confined) throws -> Confined {
    let reference = ThreadSafeReference(to: thing)
    #expect(!reference.isInvalidated)
    let found = try #require(b.realm.resolve(reference))
    #expect(found.realm == b.realm)
    #expect(found.isFrozen == false)
    return found
  }

  @Test func objects() throws {
    let glacier = a.glacier(1)!
    #expect(try passed(glacier).text == glacier.text)
    #expect(try passed(glacier as Object) as? Glacier == b.glacier(1))
    #expect(try passed(glacier as ObjectBase) is Glacier)
    #expect(try passed(glacier.drill!).depth == 1)
    #expect(try passed(glacier.stones[1]).weight == 11)
    let dynamic = a.realm.dynamicObjects("Glacier")[1]
    #expect(try passed(dynamic)["name"] as? String == "glacier 2")
  }

  @Test func collectionsOfObjects() throws {
    let glacier = a.glacier(1)!
    #expect(try passed(glacier.stones).map(\.weight) == [10, 11, 12, 10])
    #expect(try Set(passed(glacier.found).map(\.weight)) == [10, 11, 12])
    #expect(try passed(glacier.named)["stone 11"]??.weight == 11)
    #expect(try passed(glacier.drills).map(\.depth) == [1, 2])
    #expect(try passed(glacier.dynamicList("stones"))[1]["weight"] as? Int == 11)
    #expect(try passed(glacier.stones[0].glaciers).map(\.id) == [1, 1])
    #expect(try passed(AnyRealmCollection(glacier.stones)).count == 4)
    #expect(try passed(glacier.stones.projectTo.weight).map { $0 } == [10, 11, 12, 10])
  }

  @Test func collectionsOfValues() throws {
    let glacier = a.glacier(2)!
    #expect(try passed(glacier.depths).map { $0 } == [2, 9, 16])
    #expect(try passed(glacier.words).contains("word 2"))
    #expect(try passed(glacier.scores)["2 0"] == .some(0))
    #expect(try passed(glacier.depths.sorted(ascending: false)).map { $0 } == [16, 9, 2])
    let map = try #require(glacier.anything.dictionaryValue)
    #expect(try passed(map)["number"] == .int(2))
    #expect(try passed(#require(map["list"]?.listValue))[0] == .int(2))
  }

  @Test func resultsKeepWhatTheyAskFor() throws {
    let asked = a.stones.where { $0.weight > 10 }.sorted(by: \.weight, ascending: false)
    #expect(try passed(asked).map(\.weight) == [22, 21, 20, 12, 11])
    #expect(
      try passed(asked) == b.stones.where { $0.weight > 10 }.sorted(by: \.weight, ascending: false))
    let stones = a.glacier(1)!.stones
    #expect(try passed(stones.where { $0.weight > 10 }).map(\.weight) == [11, 12])
    #expect(try passed(stones.distinct(by: ["weight"])).map(\.weight) == [10, 11, 12])
    #expect(try passed(AnyRealmCollection(asked)).first?.weight == 22)
    let links = a.glacier(1)!.stones[0].glaciers.where { $0.age > 0 }
    #expect(try passed(links).map(\.id) == [1, 1])
    #expect(try passed(a.realm.dynamicObjects("Glacier")).count == 2)
    // They are live there.
    let found = try passed(asked)
    try b.write { b.realm.add(Stone(30)) }
    #expect(found.first?.weight == 30)
  }

  @Test func projections() throws {
    let card = GlacierCard(projecting: a.glacier(1)!)
    #expect(try passed(card).title == "glacier 1")
    #expect(try passed(card as Projection<Glacier>) is GlacierCard)
    #expect(try passed(card.weights).map { $0 } == [10, 11, 12, 10])
    let cards = a.realm.objects(GlacierCard.self).where { $0.age > 1 }
    #expect(try passed(cards).map(\.title) == ["glacier 2"])
  }

  @Test func sections() throws {
    let sections = a.glaciers.sectioned(by: \.age, ascending: false)
    #expect(try passed(sections).allKeys == [2, 1])
    #expect(try passed(sections) == b.glaciers.sectioned(by: \.age, ascending: false))
    #expect(try passed(sections[1]).map(\.id) == [1])
    let moods = a.glaciers.sectioned(by: \.mood)
    #expect(try passed(moods[0]).key == moods[0].key)
    let cards = a.realm.objects(GlacierCard.self).sectioned(by: \.years)
    #expect(try passed(cards[0]).map(\.title) == ["glacier 1"])
  }

  @Test func whatIsFrozenComesToLife() throws {
    let glacier = a.glacier(1)!.freeze()
    try a.write { a.glacier(1)!.age = 7 }
    // What is frozen holds the version that the other instance starts at.
    let live = try passed(glacier)
    #expect(live.age == 1)
    b.realm.refresh()
    #expect(live.age == 7)
    #expect(glacier.age == 1)
    // And the other way, into a frozen Realm, on any thread.
    let frozen = a.realm.freeze()
    let found = try #require(frozen.resolve(ThreadSafeReference(to: b.glacier(1)!)))
    #expect(found.isFrozen)
    #expect(found.age == 7)
    #expect(found == a.glacier(1)!.freeze())
  }
}
