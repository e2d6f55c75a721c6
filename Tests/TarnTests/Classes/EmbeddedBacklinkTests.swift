import Foundation
import TestSupport
import Testing

@testable import Tarn

/// A stable's horse has hooves, each of which knows its horse, and a smith who knows his hooves.
private class Horse: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var hooves: List<Hoof>
  @Persisted var front: Hoof?
  @Persisted var byName: Map<String, Hoof?>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Hoof: EmbeddedObject {
  @Persisted var size = 0
  @Persisted var smith: Smith?
  @Persisted var nail: HoofNail?
  @Persisted(originProperty: "hooves") var horses: LinkingObjects<Horse>
  @Persisted(originProperty: "front") var frontHorses: LinkingObjects<Horse>
  @Persisted(originProperty: "byName") var namedHorses: LinkingObjects<Horse>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class HoofNail: EmbeddedObject {
  @Persisted(originProperty: "nail") var hooves: LinkingObjects<Hoof>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Smith: Object {
  @Persisted var name = ""
  @Persisted(originProperty: "smith") var hooves: LinkingObjects<Hoof>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Links back from embedded objects, and to them.
struct EmbeddedBacklinkTests {
  private let folder = TemporaryFolder()

  @Test func anEmbeddedObjectKnowsWhatItBelongsTo() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: folder.url("horses.realm"),
        objectTypes: [Horse.self, Hoof.self, HoofNail.self, Smith.self], durability: .relaxed))
    let smith = Smith()
    let horse = Horse()
    horse.hooves.append(
      objectsIn: (1...3).map { size in
        let hoof = Hoof()
        hoof.size = size
        hoof.smith = smith
        return hoof
      })
    horse.front = Hoof()
    horse.front?.nail = HoofNail()
    horse.byName["left"] = Hoof()
    #expect(horse.hooves[0].horses.isEmpty)
    #expect(smith.hooves.isEmpty)
    try realm.write { realm.add(horse) }
    #expect(horse.hooves[1].horses.map(\.id) == [0])
    #expect(horse.hooves[1].frontHorses.isEmpty)
    #expect(horse.front?.frontHorses.first?.id == 0)
    #expect(horse.front?.horses.count == 0)
    #expect(horse.byName["left"]??.namedHorses.count == 1)
    #expect(horse.front?.nail?.hooves.first?.frontHorses.first?.id == 0)
    #expect(smith.hooves.map(\.size) == [1, 2, 3])
    #expect(smith.hooves.sum(of: \.size) == 6)
    #expect(smith.hooves.where { $0.size > 1 }.count == 2)
    #expect(smith.hooves.sorted(by: \.size, ascending: false).first?.size == 3)
    #expect(smith.hooves[0].horses.first?.isSameObject(as: horse) == true)
    try realm.write { horse.hooves.removeFirst() }
    #expect(smith.hooves.map(\.size) == [2, 3])
    #expect(smith.hooves.description.contains("LinkingObjects<Hoof>"))
    let frozen = smith.hooves.freeze()
    try #require(frozen.map(\.size) == [2, 3])
    #expect(frozen[0].horses.map(\.id) == [0])
    let dynamic = realm.dynamicObjects("Horse")[0]
    #expect(dynamic.objectSchema["hooves"]?.objectClassName == "Hoof")
    #expect(realm.schema["Hoof"]?["horses"]?.type == .linkingObjects)
    try realm.write { realm.delete(horse) }
    #expect(smith.hooves.isEmpty)
  }
}
