import Foundation
import Testing

@testable import Tarn

/// What is frozen shows one version for good.
struct FreezingTests {
  @Test func aThousandCommitsDoNotChangeWhatIsFrozen() throws {
    let a = try Shelter().openIce(glaciers: 2)
    let glacier = try #require(a.glacier(1))
    let text = glacier.text
    var frozen: Glacier? = glacier.freeze()
    let results = a.glaciers.where { $0.age > 0 }.sorted(by: \.age, ascending: false)
    let before: [String] = results.map(\.text)
    var frozenResults: Results<Glacier>? = results.freeze()
    for number in 0..<1_000 {
      try a.write {
        glacier.change(to: number)
        if number % 100 == 0 { a.realm.delete(a.stones) }
      }
    }
    #expect(glacier.text != text)
    #expect(frozen?.text == text)
    #expect(frozenResults?.map(\.text) == before)
    #expect(a.realm.activeVersions == 2)
    frozen = nil
    #expect(a.realm.activeVersions == 2)
    frozenResults = nil
    #expect(a.realm.activeVersions == 1)
  }

  @Test func whatIsFrozenOutlivesItsRealm() throws {
    let shelter = try Shelter()
    let frozen: Glacier
    let text: String
    do {
      let a = try shelter.openIce(glaciers: 1)
      frozen = a.glacier(1)!.freeze()
      text = a.glacier(1)!.text
    }
    #expect(frozen.text == text)
    #expect(frozen.realm?.objects(Stone.self).count == 3)
    #expect(throws: Realm.Error.alreadyOpen) {
      try Realm.deleteFiles(for: shelter.iceConfiguration)
    }
    let b = try shelter.openIce()
    try b.write { b.realm.deleteAll() }
    #expect(frozen.text == text)
    #expect(b.realm.thaw(frozen) == nil)
  }

  @Test func nothingIsLeftBehind() throws {
    let shelter = try Shelter()
    weak var live: RealmCore?
    weak var frozen: RealmCore?
    do {
      let a = try shelter.openIce(glaciers: 2)
      live = a.realm.core
      let realm = a.realm.freeze()
      frozen = realm.core
      let results = realm.objects(Glacier.self).where { $0.age > 0 }
      #expect(results.count == 2)
      #expect(results[0].stones.where { $0.weight > 0 }.count == 4)
      #expect(realm.dynamicObjects("Stone").count == 6)
    }
    #expect(live == nil)
    #expect(frozen == nil)
    #expect(try Realm.deleteFiles(for: shelter.iceConfiguration))
  }

  @Test func theFrozenRealmOfAVersionIsShared() throws {
    let shelter = try Shelter()
    let a = try shelter.openIce(glaciers: 1)
    let b = try shelter.openIce()
    let frozen = a.realm.freeze()
    #expect(frozen.isFrozen)
    #expect(!a.realm.isFrozen)
    #expect(frozen != a.realm)
    #expect(a.realm.freeze() == frozen)
    #expect(b.realm.freeze() == frozen)
    #expect(frozen.freeze() == frozen)
    #expect(a.glacier(1)!.freeze().realm == frozen)
    #expect(b.glaciers.freeze().realm == frozen)
    try a.write { a.glacier(1)!.age = 7 }
    #expect(a.realm.freeze() != frozen)
    #expect(b.realm.freeze() == frozen)
    b.realm.refresh()
    #expect(b.realm.freeze() == a.realm.freeze())
    #expect(frozen.configuration == a.realm.configuration)
    // One that was opened with other classes has others of its own.
    var fewer = shelter.iceConfiguration
    fewer.objectTypes = [Stone.self, Glacier.self, Drill.self, Cat.self, Home.self]
    let c = try Instance(fewer, shelter)
    #expect(c.realm.freeze() != a.realm.freeze())
    #expect(c.realm.freeze().objects(Cat.self).isEmpty)
  }

  @Test func freezingWhatIsFrozenGivesItBack() throws {
    let a = try Shelter().openIce(glaciers: 1)
    let frozen = a.glacier(1)!.freeze()
    #expect(frozen.freeze() === frozen)
    let list = frozen.stones
    #expect(list.freeze() === list)
    #expect(frozen.realm?.freeze(list) === list)
    let map = frozen.named
    #expect(map.freeze() === map)
    let results = a.glaciers.freeze()
    #expect(results.freeze() == results)
  }

  @Test func whatIsReadThroughFrozenThingsIsFrozen() throws {
    let a = try Shelter().openIce(glaciers: 1)
    let glacier = a.glacier(1)!.freeze()
    let realm = try #require(glacier.realm)
    #expect(realm.isFrozen)
    #expect(glacier.isFrozen)
    #expect(!glacier.isInvalidated)
    #expect(glacier.drill?.isFrozen == true)
    #expect(glacier.largest?.isFrozen == true)
    #expect(glacier.stones.isFrozen)
    #expect(glacier.stones[0].isFrozen)
    #expect(glacier.found.isFrozen)
    #expect(glacier.found.first?.isFrozen == true)
    #expect(glacier.named.isFrozen)
    #expect(glacier.named["stone 10"]??.isFrozen == true)
    #expect(glacier.stones[0].glaciers.isFrozen)
    #expect(glacier.stones[0].glaciers[0].isFrozen)
    #expect(glacier.stones.where { $0.weight > 10 }.isFrozen)
    #expect(AnyRealmCollection(glacier.stones).isFrozen)
    #expect(glacier.depths.isFrozen)
    #expect(glacier.words.isFrozen)
    #expect(glacier.scores.isFrozen)
    #expect(glacier.anything.dictionaryValue?["list"]?.listValue?.isFrozen == true)
    #expect(glacier.dynamicList("stones")[0].isFrozen)
    #expect(realm.objects(Glacier.self).allSatisfy { $0.isFrozen })
    #expect(realm.dynamicObjects("Stone").allSatisfy { $0.isFrozen })
    #expect(glacier.stones.realm == realm)
    #expect(glacier.stones[0].realm == realm)
    #expect(!a.glacier(1)!.isFrozen)
    #expect(!a.glacier(1)!.stones.isFrozen)
    #expect(!a.glaciers.isFrozen)
    #expect(!Glacier(1).isFrozen)
    #expect(!Glacier(1).stones.isFrozen)
    #expect(!glacier.detached().isFrozen)
  }

  @Test func inAWriteTheStateBeforeItIsFrozen() throws {
    let a = try Shelter().openIce(glaciers: 2)
    let text = a.glacier(1)!.text
    try a.write {
      let glacier = a.glacier(1)!
      glacier.change(to: 50)
      glacier.stones.removeAll()
      a.realm.add(Glacier(3))
      a.realm.delete(a.glacier(2)!)
      let frozen = glacier.freeze()
      #expect(frozen.text == text)
      #expect(glacier.text != text)
      #expect(glacier.stones.freeze().count == 4)
      #expect(glacier.stones.isEmpty)
      #expect(a.glaciers.freeze().map(\.id) == [1, 2])
      #expect(a.realm.freeze().objects(Glacier.self).count == 2)
      #expect(a.realm.freeze(glacier.depths).count == 3)
      // What is thawed in the write shows it.
      #expect(frozen.thaw()?.age == 50)
      #expect(a.realm.freeze().object(ofType: Glacier.self, forPrimaryKey: 2)!.thaw() == nil)
    }
  }

  @Test func frozenRealmsDoNotMove() throws {
    let a = try Shelter().openIce(glaciers: 1)
    let frozen = a.realm.freeze()
    #expect(!frozen.autorefresh)
    #expect(a.realm.autorefresh)
    frozen.autorefresh = false
    try a.write { a.realm.deleteAll() }
    #expect(!frozen.refresh())
    #expect(!frozen.isInWriteTransaction)
    #expect(!frozen.isEmpty)
    #expect(a.realm.isEmpty)
    #expect(a.realm.freeze().isEmpty)
    #expect(frozen.objects(Glacier.self).count == 1)
  }

  @Test func frozenObjectsOfOneVersionCompareByRow() throws {
    let shelter = try Shelter()
    let a = try shelter.openIce(glaciers: 1)
    let live = a.glacier(1)!.stones[0]
    let frozen = live.freeze()
    #expect(frozen == live.freeze())
    #expect(frozen !== live.freeze())
    #expect(frozen != live)
    #expect(frozen.isSameObject(as: live.freeze()))
    #expect(!frozen.isSameObject(as: live))
    #expect(frozen.hashValue == live.freeze().hashValue)
    #expect(Set([frozen, live.freeze(), a.glacier(1)!.stones[1].freeze()]).count == 2)
    #expect(frozen == a.glacier(1)!.freeze().stones[0])
    #expect(frozen == a.stones.freeze().first { $0.weight == 10 })
    #expect(live != a.glacier(1)!.stones[0])
    #expect(a.glacier(1)!.freeze() == a.glacier(1)!.freeze())
    try a.write { live.weight += 1 }
    #expect(frozen != live.freeze())
    #expect(a.glaciers.freeze() == a.glaciers.freeze())
    #expect(a.glaciers.freeze() != a.glaciers)
    #expect(a.glacier(1)!.stones.freeze() == a.glacier(1)!.stones.freeze())
  }

  @Test func invalidatingAFrozenRealm() throws {
    let a = try Shelter().openIce(glaciers: 1)
    let frozen = a.realm.freeze()
    let glacier = frozen.objects(Glacier.self)[0]
    let (results, list) = (frozen.objects(Stone.self), glacier.stones)
    let links = list[0].glaciers
    frozen.invalidate()
    #expect(glacier.isInvalidated)
    #expect(results.isInvalidated)
    #expect(list.isInvalidated)
    #expect(links.isInvalidated)
    #expect(glacier.description == "[invalid object]")
    #expect(!a.glacier(1)!.isInvalidated)
    // The live Realm gives another one.
    #expect(a.realm.freeze() != frozen)
    #expect(a.glacier(1)!.freeze().age == 1)
    #expect(frozen.thaw() == a.realm)
  }

  @Test func aRealmInMemory() throws {
    let a = try Instance(
      Realm.Configuration(
        inMemoryIdentifier: "ice \(UUID())", objectTypes: [Glacier.self, Stone.self, Drill.self]))
    try a.write { a.realm.add(Glacier(1)) }
    let frozen = a.glacier(1)!.freeze()
    try a.write { a.glacier(1)!.name = "new" }
    #expect(frozen.name == "glacier 1")
    #expect(frozen.thaw()?.name == "new")
  }

  @Test func aReadOnlyRealm() throws {
    let shelter = try Shelter()
    _ = try shelter.openIce(glaciers: 1)
    var configuration = shelter.iceConfiguration
    configuration.readOnly = true
    let a = try Instance(configuration, shelter)
    #expect(a.glacier(1)!.freeze().name == "glacier 1")
    #expect(!a.realm.freeze().refresh())
  }
}
