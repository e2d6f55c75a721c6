import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Every kind of change, with and without a higher version, with and without a block.
struct MigrationMatrixTests {
  private func pets(_ file: PetFile) throws -> [String] {
    try file.contents().split(separator: "\n").map(String.init).filter { $0.hasPrefix("Pet ") }
  }

  /// Opening with the version of the file throws an error that names the difference, and leaves
  /// the file as it was.
  private func expectMismatch(
    _ types: [ObjectBase.Type], _ message: String, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let file = try PetFile()
    let before = try file.contents()
    let error = #expect(throws: Realm.Error.self, sourceLocation: location) {
      try file.open(types) { _ in }
    }
    #expect(error?.code == .schemaMismatch, sourceLocation: location)
    let text = error?.message ?? ""
    #expect(text.contains("Migration is required"), "\(text)", sourceLocation: location)
    #expect(text.contains(message), "\(text)", sourceLocation: location)
    #expect(try file.contents() == before, sourceLocation: location)
  }

  private let oldPets = [
    "Pet age=10 home=>street 1 id=1 name=pet 1 nick=nil tag=a",
    "Pet age=20 home=>street 2 id=2 name=pet 2 nick=two tag=b",
    "Pet age=30 home=nil id=3 name=pet 3 nick=nil tag=a",
  ]

  @Test func nothingChanged() throws {
    let file = try PetFile()
    try file.open(PetsOld.types) { #expect($0.objects(PetsOld.Pet.self).count == 3) }
    #expect(try pets(file) == oldPets)
    try file.open(PetsOld.types, version: 1) { #expect($0.objects(PetsOld.Pet.self).count == 3) }
    #expect(try pets(file) == oldPets)
    #expect(try schemaVersionAtURL(file.url) == 1)
  }

  @Test(arguments: [0, 1] as [UInt64])
  func classesAndPropertiesAdded(version: UInt64) throws {
    let file = try PetFile()
    try file.open(PetsAdded.types, version: version) { realm in
      #expect(realm.objects(PetsAdded.Pet.self).where { $0.weight == 0 }.count == 3)
      #expect(realm.objects(PetsAdded.Collar.self).isEmpty)
    }
    #expect(try pets(file) == oldPets.map { $0 + " weight=0" })
  }

  @Test func addedPropertiesAreFilledByTheBlock() throws {
    let file = try PetFile()
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Pet") { old, new in
        new?.weight = (old?.age as? Int ?? 0) / 2
      }
      migration.create("Collar", value: ["size": 4])
    }
    try file.open(PetsAdded.types, version: 1, block) { realm in
      #expect(realm.objects(PetsAdded.Pet.self).where { $0.weight == 10 }.map(\.id) == [2])
      #expect(realm.objects(PetsAdded.Collar.self).map(\.size) == [4])
    }
  }

  @Test func indexesComeWithoutAVersionAndGoWithOne() throws {
    let file = try PetFile()
    try file.open(PetsIndexed.types) { realm in
      #expect(realm.objects(PetsIndexed.Pet.self).where { $0.age == 20 }.count == 1)
      let stored = realm.core.shown().schema.schema.named("Pet")!
      #expect(stored.named("tag")!.isIndexed)
      #expect(stored.named("age")!.isIndexed)
    }
    try file.open(PetsIndexed.types, version: 1) { realm in
      let stored = realm.core.shown().schema.schema.named("Pet")!
      #expect(!stored.named("tag")!.isIndexed)
      #expect(stored.named("age")!.isIndexed)
      #expect(realm.objects(PetsIndexed.Pet.self).where { $0.tag == "a" }.count == 2)
    }
    #expect(try pets(file) == oldPets)
  }

  @Test func aPropertyRemoved() throws {
    let file = try PetFile()
    try file.open(PetsAgeless.types) { #expect($0.objects(PetsAgeless.Pet.self).count == 3) }
    #expect(try pets(file) == oldPets)
    try file.open(PetsAgeless.types, version: 1) { realm in
      try realm.write { realm.objects(PetsAgeless.Pet.self)[0].name = "new" }
      try realm.checkIndexes()
    }
    #expect(
      try pets(file) == [
        "Pet home=>street 1 id=1 name=new nick=nil tag=a",
        "Pet home=>street 2 id=2 name=pet 2 nick=two tag=b",
        "Pet home=nil id=3 name=pet 3 nick=nil tag=a",
      ])
    // Added again it is another property: the old values are gone.
    try file.open(PetsOld.types, version: 2) { realm in
      #expect(realm.objects(PetsOld.Pet.self).map(\.age) == [0, 0, 0])
    }
  }

  @Test func aClassRemoved() throws {
    let file = try PetFile()
    try file.open(PetsHomeless.types) { #expect($0.objects(PetsHomeless.Pet.self).count == 3) }
    #expect(try pets(file) == oldPets)
    try file.open(PetsHomeless.types, version: 1) { _ in }
    #expect(try file.contents().contains("House pet=>1 street=street 1"))
    #expect(try pets(file)[0] == "Pet id=1 name=pet 1")
    let block: MigrationBlock = { migration, _ in
      #expect(migration.deleteData(forType: "House"))
      #expect(!migration.deleteData(forType: "House"))
      #expect(!migration.deleteData(forType: "Nothing"))
    }
    try file.open(PetsHomeless.types, version: 2, block) { realm in
      #expect(realm.schema.objectSchema.map(\.className) == ["Pet"])
    }
    #expect(try !file.contents().contains("House"))
    // The class may come again, and begins empty.
    try file.open(PetsOld.types, version: 2) { realm in
      #expect(realm.objects(PetsOld.House.self).isEmpty)
      try realm.write { _ = realm.create(PetsOld.House.self, value: ["street": "new"]) }
    }
    #expect(try file.contents().contains("House pet=nil street=new"))
  }

  @Test func dataDeletedOfAClassThatStays() throws {
    let file = try PetFile()
    let block: MigrationBlock = { migration, _ in
      #expect(migration.deleteData(forType: "House"))
      migration.create("House", value: ["street": "only"])
    }
    try file.open(PetsOld.types, version: 1, block) { realm in
      #expect(realm.objects(PetsOld.House.self).map(\.street) == ["only"])
      #expect(realm.objects(PetsOld.Pet.self).allSatisfy { $0.home == nil })
    }
  }

  @Test func aPropertyRenamed() throws {
    let file = try PetFile()
    try file.open(PetsRenamed.types) { realm in
      #expect(realm.objects(PetsRenamed.Pet.self).map(\.title) == ["", "", ""])
    }
    let another = try PetFile()
    try another.open(PetsRenamed.types, version: 1) { realm in
      #expect(realm.objects(PetsRenamed.Pet.self).map(\.title) == ["", "", ""])
      #expect(realm.schema["Pet"]?["name"] == nil)
    }
    let third = try PetFile()
    let block: MigrationBlock = { migration, _ in
      migration.renameProperty(onType: "Pet", from: "name", to: "title")
    }
    try third.open(PetsRenamed.types, version: 1, block) { realm in
      #expect(realm.objects(PetsRenamed.Pet.self).map(\.title) == ["pet 1", "pet 2", "pet 3"])
    }
  }

  @Test func aTypeChanged() throws {
    try expectMismatch(
      PetsTyped.types, "Property 'Pet.age' is int in the file but string in the class.")
    let file = try PetFile()
    try file.open(PetsTyped.types, version: 1) { realm in
      #expect(realm.objects(PetsTyped.Pet.self).map(\.age) == ["", "", ""])
    }
    let another = try PetFile()
    let block: MigrationBlock = { migration, version in
      #expect(version == 0)
      migration.enumerateObjects(ofType: "Pet") { old, new in
        new!["age"] = "\(old!["age"] as! Int) years"
      }
    }
    try another.open(PetsTyped.types, version: 1, block) { realm in
      #expect(
        realm.objects(PetsTyped.Pet.self).map(\.age) == ["10 years", "20 years", "30 years"])
    }
  }

  @Test func optionalFromRequired() throws {
    try expectMismatch(
      PetsLoose.types, "Property 'Pet.name' is required in the file but optional in the class.")
    let file = try PetFile()
    try file.open(PetsLoose.types, version: 1) { realm in
      #expect(realm.objects(PetsLoose.Pet.self).map(\.name) == ["pet 1", "pet 2", "pet 3"])
      #expect(realm.objects(PetsLoose.Pet.self).where { $0.age == 20 }.map(\.id) == [2])
    }
    let another = try PetFile()
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Pet") { old, new in
        if old!["id"] as? Int == 2 { new!["name"] = nil }
      }
    }
    try another.open(PetsLoose.types, version: 1, block) { realm in
      #expect(realm.objects(PetsLoose.Pet.self).map(\.name) == ["pet 1", nil, "pet 3"])
    }
  }

  @Test func requiredFromOptional() throws {
    try expectMismatch(
      PetsStrict.types, "Property 'Pet.nick' is optional in the file but required in the class.")
    let file = try PetFile()
    try file.open(PetsStrict.types, version: 1) { realm in
      #expect(realm.objects(PetsStrict.Pet.self).map(\.nick) == ["", "two", ""])
    }
    let another = try PetFile()
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Pet") { old, new in
        if old?.nick == nil { new?.nick = "none" }
      }
    }
    try another.open(PetsStrict.types, version: 1, block) { realm in
      #expect(realm.objects(PetsStrict.Pet.self).map(\.nick) == ["none", "two", "none"])
    }
  }

  @Test func aLinkToAnotherClass() throws {
    try expectMismatch(
      PetsMoved.types,
      "Property 'Pet.home' is a link to 'House' in the file but a link to 'Pet' in the class.")
    let file = try PetFile()
    try file.open(PetsMoved.types, version: 1) { realm in
      #expect(realm.objects(PetsMoved.Pet.self).allSatisfy { $0.home == nil })
    }
    let another = try PetFile()
    let block: MigrationBlock = { migration, _ in
      var last: MigrationObject?
      migration.enumerateObjects(ofType: "Pet") { _, new in
        new?.home = last
        last = new
      }
    }
    try another.open(PetsMoved.types, version: 1, block) { realm in
      #expect(realm.objects(PetsMoved.Pet.self).map { $0.home?.id } == [nil, 1, 2])
    }
  }
}
