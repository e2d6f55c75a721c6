import Foundation
import TarnStore
import Testing

@testable import Tarn

/// From what is frozen to what lives where the code runs.
struct FreezingThawTests {
  @Test func everythingHasALiveCounterpart() throws {
    let a = try Shelter().openIce(glaciers: 2)
    let frozen = a.glacier(1)!.freeze()
    try a.write { a.glacier(1)!.change(to: 40) }
    let glacier = try #require(frozen.thaw())
    #expect(glacier.realm == a.realm)
    #expect(!glacier.isFrozen)
    #expect(glacier.age == 40)
    #expect(frozen.age == 1)
    #expect(frozen.drills.count == 2)
    #expect(frozen.drills.thaw()?[0].depth == 40)
    #expect(frozen.drills[0].thaw() == nil)
    #expect(frozen.depths.thaw() == glacier.depths)
    #expect(frozen.depths.thaw()?.first == 40)
    #expect(frozen.words.thaw()?.contains("word 40") == true)
    #expect(frozen.scores.thaw()?.keys.first == "40 0")
    #expect(frozen.named.thaw()?["stone 11"]??.isFrozen == false)
    #expect(frozen.stones[1].thaw()?.weight == 11)
    #expect(frozen.stones[1].glaciers.thaw()?.first?.age == 40)
    // Assigned another map, a property keeps the one that it has and changes its entries.
    #expect(frozen.anything.dictionaryValue?.thaw()?["number"] == .int(40))
    #expect(glacier.anything.dictionaryValue?.freeze().thaw()?["number"] == .int(40))
    let old = a.realm.freeze().objects(Glacier.self).where { $0.age < 40 }
    try a.write { a.realm.add(Glacier(3)) }
    #expect(old.count == 1)
    #expect(old.thaw()?.count == 2)
    #expect(frozen.stones.where { $0.weight > 10 }.thaw()?.realm == a.realm)
    #expect(AnyRealmCollection(frozen.stones).thaw()?.count == 4)
    #expect(frozen.dynamicList("stones").thaw()?[0].isFrozen == false)
    let dynamic = try #require(frozen.realm?.dynamicObject(ofType: "Glacier", forPrimaryKey: 2))
    #expect(dynamic.thaw()?.realm == a.realm)
    #expect(frozen.realm?.thaw() == a.realm)
  }

  @Test func whatIsGoneHasNone() throws {
    let a = try Shelter().openIce(glaciers: 2)
    let frozen = a.glacier(1)!.freeze()
    let (list, results) = (frozen.stones, frozen.stones.where { $0.weight > 0 })
    let links = frozen.stones[0].glaciers
    try a.write { a.realm.deleteAll() }
    #expect(frozen.thaw() == nil)
    #expect(list.thaw() == nil)
    #expect(results.thaw() == nil)
    #expect(links.thaw() == nil)
    #expect(frozen.named.thaw() == nil)
    #expect(frozen.drill?.thaw() == nil)
    #expect(AnyRealmCollection(list).thaw() == nil)
    #expect(frozen.realm?.objects(Glacier.self).thaw()?.isEmpty == true)
    #expect(frozen.name == "glacier 1")
    #expect(list.count == 4)
    #expect(results.count == 4)
  }

  @Test func whatIsLiveStaysAsItIs() throws {
    let a = try Shelter().openIce(glaciers: 1)
    let glacier = a.glacier(1)!
    let stones = glacier.stones
    #expect(glacier.thaw() === glacier)
    #expect(stones.thaw() === stones)
    #expect(a.realm.thaw() == a.realm)
    #expect(a.realm.thaw(glacier) === glacier)
    #expect(a.glaciers.thaw() == a.glaciers)
  }

  @Test func theLiveRealmIsNotRefreshed() throws {
    let shelter = try Shelter()
    let a = try shelter.openIce(glaciers: 1)
    let b = try shelter.openIce()
    #expect(b.glaciers.count == 1)
    try a.write {
      a.glacier(1)!.age = 70
      a.realm.add(Glacier(2))
    }
    let frozen = a.realm.freeze().objects(Glacier.self)
    #expect(b.realm.thaw(frozen[0])?.age == 1)
    #expect(b.realm.thaw(frozen[1]) == nil)
    #expect(b.realm.thaw(frozen)?.count == 1)
    b.realm.refresh()
    #expect(b.realm.thaw(frozen[1])?.id == 2)
    // Both live here: what was frozen goes back to where it came from.
    #expect(frozen[0].thaw()?.realm == a.realm)
  }

  @Test func aQueueHasItsOwn() throws {
    let shelter = try Shelter()
    let a = try shelter.openIce(glaciers: 1)
    let configuration = shelter.iceConfiguration
    nonisolated(unsafe) let frozen = a.glacier(1)!.freeze()  // because: it is frozen
    try a.write { a.glacier(1)!.age = 5 }
    let queue = DispatchQueue(label: "ice")
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      #expect(frozen.thaw()?.realm == realm)
      #expect(frozen.thaw()?.age == 5)
      #expect(frozen.age == 1)
      #expect(realm.thaw(frozen.stones)?.realm == realm)
      let again = realm.freeze()
      #expect(again.thaw() == realm)
    }
  }

  @Test func aThreadWithoutOneOpensIt() throws {
    let shelter = try Shelter()
    let a = try shelter.openIce(glaciers: 1)
    nonisolated(unsafe) let frozen = a.glacier(1)!.freeze()  // because: it is frozen
    nonisolated(unsafe) let live = a.realm  // because: only its identity is looked at
    let seen = Lock("")
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let glacier = frozen.thaw()
      let isOther = glacier?.realm != live
      try? glacier?.realm?.write { glacier?.age += 10 }
      seen.withLock { $0 = "\(glacier?.age ?? -1) \(frozen.age) \(isOther)" }
      done.signal()
    }
    done.wait()
    #expect(seen.withLock { $0 } == "11 1 true")
    a.realm.refresh()
    #expect(a.glacier(1)?.age == 11)
  }

  @Test func aThawedListTakesThawedObjects() throws {
    let a = try Shelter().openIce(glaciers: 2)
    let list = a.glacier(1)!.stones.freeze()
    let stone = a.glacier(2)!.stones[0].freeze()
    try a.write { list.thaw()!.append(stone.thaw()!) }
    #expect(a.glacier(1)!.stones.map(\.weight) == [10, 11, 12, 10, 20])
    #expect(list.count == 4)
  }
}
