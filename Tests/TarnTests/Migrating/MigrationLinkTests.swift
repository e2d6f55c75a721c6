import Foundation
import TestSupport
import Testing

@testable import Tarn

private enum MeadowOld {
  class Meadow: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var best: Sheep?
    @Persisted var flock: List<Sheep>
    @Persisted var grass: List<String>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class Sheep: Object {
    @Persisted var name = ""
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private enum MeadowNew {
  class Meadow: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var first: Sheep?
    @Persisted var all: List<Sheep>
    @Persisted var kinds: MutableSet<Sheep>
    @Persisted var byName: Map<String, Sheep?>
    @Persisted var any: AnyRealmValue
    @Persisted var plants: MutableSet<String>
    @Persisted var size: Float
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class Sheep: Object {
    @Persisted var name = ""
    @Persisted var friend: Sheep?
    @Persisted var lambs: List<Sheep>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

/// What objects of the new side of a migration can be given.
struct MigrationLinkTests: TrapSuite {
  private let folder = TemporaryFolder()
  private static var old: [ObjectBase.Type] { [MeadowOld.Meadow.self, MeadowOld.Sheep.self] }
  private static var new: [ObjectBase.Type] { [MeadowNew.Meadow.self, MeadowNew.Sheep.self] }

  private static func fill(_ url: URL) throws {
    let realm = try Realm(configuration: PetFile.configuration(url, old))
    try realm.write {
      realm.create(
        MeadowOld.Meadow.self,
        value: [
          "id": 1, "best": ["name": "Dolly"], "flock": [["name": "Molly"], ["name": "Polly"]],
          "grass": ["clover", "fern"],
        ])
    }
  }

  private static func migrate(
    _ url: URL, _ change: @escaping @Sendable (MigrationObject, MigrationObject, Migration) -> Void
  ) throws -> Realm {
    let configuration = PetFile.configuration(url, new, version: 1) { migration, _ in
      migration.enumerateObjects(ofType: "Meadow") { change($0!, $1!, migration) }
    }
    return try Realm(configuration: configuration)
  }

  @Test func oldObjectsStandForTheNewOnesOfTheirRows() throws {
    let url = folder.url("meadows.realm")
    try Self.fill(url)
    let realm = try Self.migrate(url) { old, new, migration in
      new.first = old.best
      new.all = old.flock
      new.kinds = old.flock
      new.byName = ["best": old.best]
      new.any = old.best
      new.plants = old.grass
      (new.all as? List<MigrationObject>)?.append(old.best as! MigrationObject)
      (new.all as? List<MigrationObject>)?.append(
        migration.create("Sheep", value: ["name": "Holly"]))
    }
    let meadow = try #require(realm.objects(MeadowNew.Meadow.self).first)
    #expect(meadow.first?.name == "Dolly")
    #expect(meadow.byName["best"]??.name == "Dolly")
    let names: [String] = meadow.all.map(\.name)
    #expect(names == ["Molly", "Polly", "Dolly", "Holly"])
    #expect(meadow.kinds.count == 2)
    #expect(meadow.any.object(MeadowNew.Sheep.self)?.name == "Dolly")
    #expect(meadow.plants == ["clover", "fern"])
    #expect(realm.objects(MeadowNew.Sheep.self).count == 4)
    try realm.checkIndexes()
  }

  @Test func anObjectThatWasDeletedIsRefused() async throws {
    let url = folder.url("meadows.realm")
    try Self.fill(url)
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = url.path as String] in
      _ = try MigrationLinkTests.migrate(URL(fileURLWithPath: path)) { old, new, migration in
        migration.enumerateObjects(ofType: "Sheep") { migration.delete($1!) }
        new.first = old.best
      }
    }
    try expect("An object of class 'Sheep' was deleted in this migration", in: result)
  }

  @Test func objectsOfTheProgramsClassesAreCopied() throws {
    let url = folder.url("meadows.realm")
    try Self.fill(url)
    let realm = try Self.migrate(url) { _, new, migration in
      let sheep = MeadowNew.Sheep(value: ["name": "Tilly", "lambs": [["name": "Billy"]]])
      sheep.friend = sheep
      new.first = sheep
      new.all = [sheep, sheep]
      new["kinds"] = [MeadowNew.Sheep(value: ["name": "Willy"])]
      new.byName = ["x": MeadowNew.Sheep(value: ["Jilly"])]
      new.any = MeadowNew.Sheep(value: ["Lilly"])
      new.size = 1.5
      #expect(sheep.realm == nil)
      #expect((new.size as? Float) == 1.5)
      migration.create("Meadow", value: ["id": 2, "first": sheep, "size": 2.5])
    }
    let meadow = try #require(realm.objects(MeadowNew.Meadow.self).first)
    #expect(meadow.first?.name == "Tilly")
    #expect(meadow.first?.lambs.first?.name == "Billy")
    #expect(meadow.first?.friend?.isSameObject(as: meadow.first) == true)
    #expect(meadow.size == 1.5)
    try #require(meadow.all.count == 2)
    #expect(meadow.all[0].isSameObject(as: meadow.all[1]))
    #expect(meadow.kinds.first?.name == "Willy")
    #expect(meadow.byName["x"]??.name == "Jilly")
    #expect(meadow.any.object(MeadowNew.Sheep.self)?.name == "Lilly")
    let other = try #require(realm.object(ofType: MeadowNew.Meadow.self, forPrimaryKey: 2))
    #expect(other.first?.friend?.name == "Tilly")
    #expect(other.size == 2.5)
    try realm.checkIndexes()
  }

  @Test func soAreThoseThatARealmDoesNotHave() throws {
    let url = folder.url("meadows.realm")
    do { _ = try Realm(configuration: PetFile.configuration(url, Self.new)) }
    let realm = try Realm(configuration: PetFile.configuration(url, []))
    try realm.write {
      let meadow = realm.dynamicCreate("Meadow", value: ["id": 1, "size": 0.5])
      meadow["first"] = MeadowNew.Sheep(value: ["name": "Tilly", "friend": ["name": "Milly"]])
      meadow["size"] = 2
    }
    let meadow = realm.dynamicObjects("Meadow")[0]
    #expect(meadow.value(forKeyPath: "first.friend.name") as? String == "Milly")
    #expect(meadow.size as? Float == 2)
    #expect(realm.dynamicObjects("Sheep").count == 2)
  }
}
