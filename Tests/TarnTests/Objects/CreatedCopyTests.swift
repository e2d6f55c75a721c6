import Foundation
import Testing

@testable import Tarn

/// `create(value:)` copies what it is given.
struct CreatedCopyTests {
  @Test func unmanagedObjectsStayUnmanaged() throws {
    let instance = try Shelter().openStable()
    let mother = StableHorse(value: ["id": 2, "legs": [["n": 3]], "spot": ["x": 5]])
    let original = StableHorse(value: ["id": 1, "scores": [1, 2]])
    original.mother = mother
    original.foals.append(objectsIn: [mother, original])
    original.any = .object(mother)
    original.friends["self"] = original
    try instance.write {
      let copy = instance.realm.create(StableHorse.self, value: original)
      #expect(original.realm == nil)
      #expect(mother.realm == nil)
      #expect(mother.legs[0].realm == nil)
      #expect(copy.mother?.id == 2)
      #expect(copy.mother?.legs.map(\.n) == [3])
      #expect(copy.mother?.spot == StableSpot(x: 5))
      #expect(Array(copy.scores) == [1, 2])
      try #require(copy.foals.map(\.id) == [2, 1])
      #expect(copy.foals[1].isSameObject(as: copy))
      #expect(copy.any.object(StableHorse.self)?.isSameObject(as: copy.mother) == true)
      #expect(copy.friends["self"]??.isSameObject(as: copy) == true)
      // Nested in values, too.
      let other = StableHorse(value: [3])
      let leg = StableLeg(value: [1])
      let box = instance.realm.create(
        StableBox.self, value: ["horse": other, "boxes": [["horse": other]]] as [String: Any])
      instance.realm.create(StableHorse.self, value: ["id": 4, "front": leg, "legs": [leg, leg]])
      #expect(other.realm == nil)
      #expect(box.horse?.id == 3)
      #expect(leg.realm == nil)
      #expect(box.boxes[0].horse?.isSameObject(as: box.horse) == true)
    }
    let four = try #require(instance.realm.object(ofType: StableHorse.self, forPrimaryKey: 4))
    #expect(four.front?.n == 1)
    #expect(four.legs.map(\.n) == [1, 1])
    original.friends.removeAll()
    original.foals.removeAll()
    mother.id = 7
    #expect(instance.realm.objects(StableHorse.self).count == 4)
  }

  @Test func objectsOfAnotherRealmAreCopiedWithAllTheyLeadTo() throws {
    let first = try Shelter().openStable()
    let second = try Shelter().openStable()
    let horse = try StableEntry.create.make(
      ["legs": [["n": 1, "horse": ["id": 9]]], "scores": [4], "otherMood": "frantic"], in: first)
    try first.write {
      horse.mother = horse
      horse.any = .fromArray([.object(horse), 1])
      horse.foals.append(horse.legs[0].horse!)
    }
    for source in [horse, horse.freeze()] {
      try second.write {
        second.realm.deleteAll()
        let copy = second.realm.create(StableHorse.self, value: source)
        #expect(copy.mother?.isSameObject(as: copy) == true)
        #expect(Array(copy.scores) == [4])
        #expect(copy.any.listValue?[0].object(StableHorse.self)?.isSameObject(as: copy) == true)
        #expect(copy.foals[0].isSameObject(as: copy.legs[0].horse))
        #expect(copy.foals[0].id == 9)
        let box = second.realm.create(StableBox.self, value: ["horse": copy, "number": 1])
        #expect(box.horse?.isSameObject(as: copy) == true)
        let raw = second.realm.dynamicObject(ofType: "StableHorse", forPrimaryKey: 1)
        #expect(raw?.otherMood as? String == "frantic", "as it is stored")
      }
      #expect(second.realm.objects(StableHorse.self).count == 2)
    }
    // A frozen object of the same file, which may be older than what is there.
    try first.write {
      horse.mother = nil
      horse.any = .none
      horse.foals.removeAll()
      horse.legs.removeAll()
    }
    try first.write {
      let frozen = horse.freeze()
      let copy = first.realm.create(StableHorse.self, value: frozen, update: .modified)
      #expect(copy.isSameObject(as: horse))
      let box = first.realm.create(StableBox.self, value: ["boxes": [["number": 2]]])
      #expect(box.boxes[0].realm != nil)
      #expect(box.number == 0)
    }
  }

  @Test func dynamicObjectsAreCopiedToo() throws {
    let first = try Shelter().openStable()
    let second = try Shelter().openStable()
    _ = try StableEntry.create.make(["legs": [["n": 1]], "foals": [["id": 2]]], in: first)
    let source = try #require(first.realm.dynamicObject(ofType: "StableHorse", forPrimaryKey: 1))
    try second.write {
      let typed = second.realm.create(StableHorse.self, value: source)
      #expect(typed.legs.map(\.n) == [1])
      #expect(typed.foals.map(\.id) == [2])
      second.realm.deleteAll()
      let dynamic = second.realm.dynamicCreate("StableHorse", value: source)
      #expect(dynamic.dynamicList("foals").first?.id as? Int == 2)
      second.realm.deleteAll()
      second.realm.dynamicCreate("StableBox", value: ["horse": StableHorse(value: [5])])
    }
    #expect(second.realm.objects(StableBox.self)[0].horse?.id == 5)
  }

  @Test func aLongChainIsCopiedWithoutRecursion() throws {
    let instance = try Shelter().openStable()
    let boxes = (0..<20_000).map { StableBox(value: [$0]) }
    for (box, next) in zip(boxes, boxes.dropFirst()) { box.next = next }
    var reader = ValueReader(.copied, instance.realm.core, keepsRefused: true)
    let copy = StableBox()
    try reader.fill(copy, ClassReflection.of(StableBox.self), from: boxes[0])
    #expect(reader.made.count == 20_000)
    #expect(copy.next?.next?.number == 2)
    // Links are let go of one by one: to let go of the first would follow them all.
    for box in boxes { box.next = nil }
    for made in reader.made { (made.object as? StableBox)?.next = nil }
  }

  @Test func anEmbeddedObjectWithinItselfIsRefused() throws {
    let instance = try Shelter().openStable()
    let leg = StableLeg(value: [1])
    leg.inner = leg
    instance.realm.beginWrite()
    #expect(throws: Realm.InvalidValue.self) {
      try instance.realm.create(
        StableHorse.self, checking: ["id": 1, "front": leg], unknownKeys: .refused)
    }
    instance.realm.cancelWrite()
    leg.inner = nil
  }

  @Test func migrationsCopyOldObjects() throws {
    let shelter = try Shelter()
    _ = try StableEntry.create.make(["legs": [["n": 1]], "scores": [1]], in: shelter.openStable())
    var configuration = shelter.configuration
    configuration.objectTypes = Shelter.stableTypes
    configuration.schemaVersion = 1
    configuration.migrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "StableHorse") { old, new in
        guard let old, let new, old.id as? Int == 1 else { return }
        new.mother = StableHorse(value: ["id": 5, "foals": [["id": 6]]])
        new.weight = 2.5
        let copy = migration.create("StableBox", value: ["horse": ["id": 7], "number": 3.0])
        copy.label = NSNull()
      }
    }
    let realm = try Realm(configuration: configuration)
    let horse = try #require(realm.object(ofType: StableHorse.self, forPrimaryKey: 1))
    #expect(horse.mother?.id == 5)
    #expect(horse.mother?.foals.first?.id == 6)
    #expect(horse.weight == 2.5)
    #expect(realm.objects(StableBox.self).first?.horse?.id == 7)
  }
}
