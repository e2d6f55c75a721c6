import Foundation
import Synchronization
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// How a migration runs: all of it or nothing, once, and what others see of it.
struct MigrationRunTests {
  private struct Refusal: Error {}

  @Test func aBlockThatThrowsLeavesTheFileAsItWas() throws {
    let file = try PetFile()
    let before = try file.contents()
    let block: MigrationBlock = { migration, _ in
      try migration.enumerateObjects(ofType: "Pet") { old, new in
        new?.age = "changed"
        if old?.id as? Int == 2 { throw Refusal() }
      }
    }
    let error = #expect(throws: Realm.Error.self) {
      try file.open(PetsTyped.types, version: 1, block) { _ in }
    }
    #expect(error?.code == .fail)
    #expect(error?.message.contains("Refusal") == true)
    let own: MigrationBlock = { _, _ in throw Realm.Error(.invalidInput, message: "mine") }
    let thrown = #expect(throws: Realm.Error.self) {
      try file.open(PetsTyped.types, version: 1, own) { _ in }
    }
    #expect(thrown?.code == .invalidInput)
    #expect(thrown?.message == "mine")
    #expect(try file.contents() == before)
    try file.open(PetsOld.types) { realm in try realm.write { realm.deleteAll() } as Void }
  }

  @Test func anEnumThatIsAddedHasItsFirstCase() throws {
    let file = try PetFile()
    try file.open(PetsMoody.types, version: 1) { realm in
      let pets = realm.objects(PetsMoody.Pet.self)
      #expect(pets.count > 1)
      #expect(pets.allSatisfy { $0.mood == .calm })
      try realm.write { pets[0].mood = .wild }
      #expect(pets.map(\.mood) == [.wild] + Array(repeating: .calm, count: pets.count - 1))
    }
  }

  @Test func aLowerVersionIsRefused() throws {
    let file = try PetFile()
    try file.open(PetsOld.types, version: 2) { _ in }
    let error = #expect(throws: Realm.Error.self) {
      try file.open(PetsOld.types, version: 1) { _ in }
    }
    #expect(error?.code == .schemaMismatch)
    #expect(
      error?.message.contains("Provided schema version 1 is less than last set version 2.") == true)
  }

  @Test func aNewFileGetsTheVersionWithoutTheBlock() throws {
    let folder = TemporaryFolder()
    let runs = Atomic(0)
    let block: MigrationBlock = { _, _ in runs.add(1, ordering: .relaxed) }
    let configuration = PetFile.configuration(
      folder.url("new.realm"), PetsOld.types, version: 7, block)
    let report = try Realm.performMigration(for: configuration)
    #expect(!report.wasNeeded)
    #expect(report.newSchemaVersion == 7)
    #expect(try schemaVersionAtURL(folder.url("new.realm")) == 7)
    #expect(runs.load(ordering: .relaxed) == 0)
    #expect(try Realm(configuration: configuration).isEmpty)
    #expect(throws: Realm.Error.fileNotFound) {
      try schemaVersionAtURL(folder.url("nothing.realm"))
    }
    try Data(repeating: 65, count: 20_000).write(to: folder.url("text.realm"))
    #expect(throws: Realm.Error.invalidDatabase) {
      try schemaVersionAtURL(folder.url("text.realm"))
    }
  }

  @Test func severalStepsInOneBlock() throws {
    let file = try PetFile()
    let seen = Lock<[UInt64]>([])
    let block: MigrationBlock = { migration, old in
      seen.withLock { $0.append(old) }
      if old < 1 { migration.renameProperty(onType: "Pet", from: "name", to: "title") }
      #expect(migration.oldSchema["Pet"]?["name"]?.type == .string)
      #expect(migration.newSchema["Pet"]?["title"]?.type == .string)
      #expect(migration.newSchema["Pet"]?["name"] == nil)
    }
    for _ in 0..<2 { try file.open(PetsRenamed.types, version: 3, block) { _ in } }
    #expect(seen.withLock { $0 } == [0])
  }

  @Test func objectsOfBothSides() throws {
    let file = try PetFile()
    let kept = Lock<Int>(0)
    let block: MigrationBlock = { migration, _ in
      var enumerated = 0
      migration.enumerateObjects(ofType: "Pet") { old, new in
        enumerated += 1
        let home = old?.home as? DynamicObject
        #expect(home?.street as? String == (enumerated < 3 ? "street \(enumerated)" : nil))
        #expect(new?.value(forKeyPath: "home.street") as? String == home?.street as? String)
        if enumerated == 1 { migration.create("Pet", value: ["id": 50, "name": "born"]) }
        if enumerated == 2, let new { migration.delete(new) }
      }
      #expect(enumerated == 3)
      var ids: [Int] = []
      migration.enumerateObjects(ofType: "Pet") { old, new in
        #expect(old?.id as? Int == new?.id as? Int)
        ids.append(old?.id as? Int ?? 0)
      }
      #expect(ids == [1, 3], "what was deleted does not come again")
      migration.enumerateObjects(ofType: "House") { old, new in
        #expect(old?.value(forKeyPath: "pet.id") as? Int != nil)
        kept.withLock { if new?.pet != nil { $0 += 1 } }
      }
      migration.create("Collar", value: [3])
      migration.enumerateObjects(ofType: "Collar") { old, new in
        #expect(old == nil)
        #expect(new?.size as? Int == 3)
      }
    }
    try file.open(PetsAdded.types, version: 1, block) { realm in
      #expect(realm.objects(PetsAdded.Pet.self).map(\.id) == [1, 3, 50])
    }
    #expect(kept.withLock { $0 } == 1)
  }

  @Test func aDryRunTellsAllAndWritesNothing() throws {
    let file = try PetFile()
    let before = try file.bytes
    let progress = Lock<[MigrationProgress]>([])
    let configuration = file.configuration(PetsTyped.types, version: 1) { migration, _ in
      migration.enumerateObjects(ofType: "Pet") { old, new in
        if old?.id as? Int == 3 { return migration.delete(new!) }
        new?.age = "\(old?.age ?? 0)"
      }
    }
    let report = try Realm.performMigration(for: configuration, dryRun: true) { step in
      progress.withLock { $0.append(step) }
    }
    #expect(report.wasNeeded)
    #expect(report.oldSchemaVersion == 0)
    #expect(report.newSchemaVersion == 1)
    #expect(report.differences == ["Property 'Pet.age' has been changed from int to string."])
    let counts = try #require(report.classes["Pet"])
    #expect(counts.enumerated == 3)
    #expect(counts.modified == 2)
    #expect(counts.deleted == 1)
    #expect(counts.remaining == 2)
    #expect(counts.inserted == 0)
    #expect(report.description.contains("Pet: 2 objects; 0 inserted, 1 deleted, 2 modified"))
    #expect(progress.withLock { $0.first?.totalObjects } == 3)
    #expect(progress.withLock { $0.last?.completedObjects } == 3)
    #expect(try file.bytes == before)
    #expect(try schemaVersionAtURL(file.url) == 0)
    let done = try Realm.performMigration(for: configuration)
    #expect(done == report)
    #expect(try !Realm.performMigration(for: configuration).wasNeeded)
    #expect(try schemaVersionAtURL(file.url) == 1)
    let missing = PetFile.configuration(file.folder.url("no.realm"), PetsOld.types, version: 1)
    #expect(throws: Realm.Error.fileNotFound) {
      try Realm.performMigration(for: missing, dryRun: true)
    }
  }

  @Test func deletingInsteadOfMigrating() throws {
    let file = try PetFile()
    var configuration = file.configuration(PetsTyped.types)
    configuration.deleteRealmIfMigrationNeeded = true
    do {
      let held = try Realm(configuration: file.configuration(PetsOld.types))
      let error = #expect(throws: Realm.Error.self) {
        try Realm(configuration: configuration, scheduler: ManualScheduler())
      }
      #expect(error?.code == .alreadyOpen)
      #expect(held.objects(PetsOld.Pet.self).count == 3)
    }
    #expect(try Realm(configuration: configuration).objects(PetsTyped.Pet.self).isEmpty)
    try file.open(PetsTyped.types) { realm in
      try realm.write { _ = realm.create(PetsTyped.Pet.self, value: ["id": 1]) }
    }
    #expect(try Realm(configuration: configuration).objects(PetsTyped.Pet.self).count == 1)
    configuration.schemaVersion = 4
    #expect(try Realm(configuration: configuration).objects(PetsTyped.Pet.self).isEmpty)
    #expect(try schemaVersionAtURL(file.url) == 4)
  }

  @Test func anOlderProgramDoesNotDeleteTheDataOfANewerOne() throws {
    let file = try PetFile()
    try file.open(PetsTyped.types, version: 14) { _ in }
    let before = try file.bytes
    // The classes match, one of them differs, or none is in the file.
    for types in [PetsTyped.types, PetsOld.types, [PetsHomeless.Pet.self]] {
      var older = file.configuration(types, version: 13)
      older.deleteRealmIfMigrationNeeded = true
      func refused(_ what: Comment) {
        let error = #expect(throws: Realm.Error.self, what) { try Realm(configuration: older) }
        #expect(error?.code == .schemaMismatch, what)
        #expect(error?.message.contains("13 is less than last set version 14") == true, what)
      }
      refused("closed")
      let held = try Realm(configuration: file.configuration(PetsTyped.types, version: 14))
      refused("open")
      #expect(held.objects(PetsTyped.Pet.self).count == 3)
    }
    #expect(try file.bytes == before)
  }

  @Test func aFileThatANewerProgramMigratedMeanwhileIsNotDeleted() throws {
    let file = try PetFile()
    try file.open(PetsTyped.types, version: 2) { _ in }
    let location = file.configuration(PetsOld.types).location
    let error = #expect(throws: StorageError.self) {
      try StoreRegistry.removeUnused(location, schemaVersion: 1)
    }
    #expect(error?.code == .olderProgram)
    try file.open(PetsTyped.types, version: 2) { realm in
      #expect(realm.objects(PetsTyped.Pet.self).count == 3)
    }
  }

  @Test func aClassThatNeitherSideHasIsNotEnumerated() throws {
    let file = try PetFile()
    let configuration = file.configuration(PetsRenamed.types, version: 1) { migration, _ in
      migration.enumerateObjects(ofType: "Dog") { _, _ in Issue.record("called") }
      migration.enumerateObjects(ofType: "Pet") { old, new in new?.title = old?.name }
    }
    let report = try Realm.performMigration(for: configuration)
    #expect(report.classes["Pet"]?.enumerated == 3)
    #expect(report.classes["Dog"] == nil)
  }

  @Test func readOnlyFilesAreNotMigrated() throws {
    let file = try PetFile()
    var configuration = file.configuration(PetsOld.types, version: 1)
    configuration.readOnly = true
    #expect(throws: Realm.Error.schemaMismatch) { try Realm(configuration: configuration) }
    configuration.schemaVersion = 0
    #expect(try Realm(configuration: configuration).objects(PetsOld.Pet.self).count == 3)
  }

  // MARK: - Other instances

  @Test func anInstanceWithTheOldClassesStaysAndIsTold() throws {
    let file = try PetFile()
    let scheduler = ManualScheduler()
    let realm = try Realm(
      configuration: file.configuration(PetsOld.types), scheduler: scheduler)
    let pets = realm.objects(PetsOld.Pet.self)
    var told: [String] = []
    let token = pets.observe { change in
      switch change {
      case .initial: told.append("initial")
      case .update: told.append("update")
      case .error(let error): told.append("error \((error as? Realm.Error)?.code as Any)")
      }
    }
    while scheduler.pump() {}
    try Realm.performMigration(for: file.configuration(PetsTyped.types, version: 1))
    while scheduler.pump() {}
    #expect(told == ["initial", "error Optional(Tarn.Realm.Error.Code.schemaMismatch)"])
    #expect(pets.map(\.age) == [10, 20, 30])
    let error = #expect(throws: Realm.Error.self) { try realm.write {} }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.message.contains("'Pet.age' is string in the file but int") == true)
    token.invalidate()
  }

  @Test func anInstanceGoesOnOverAMigrationThatItFits() throws {
    let file = try PetFile()
    let scheduler = ManualScheduler()
    let realm = try Realm(
      configuration: file.configuration(PetsHomeless.types), scheduler: scheduler)
    let pets = realm.objects(PetsHomeless.Pet.self)
    let first = pets[0]
    var told: [String] = []
    let token = pets.observe { change in
      if case .update(_, let deletions, let insertions, let modifications) = change {
        told.append("-\(deletions) +\(insertions) ~\(modifications)")
      }
    }
    while scheduler.pump() {}
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Pet") { old, new in
        if old?.id as? Int == 1 { new?.name = "renamed" }
        if old?.id as? Int == 3, let new { migration.delete(new) }
      }
    }
    try Realm.performMigration(for: file.configuration(PetsTyped.types, version: 1, block))
    while scheduler.pump() {}
    #expect(told == ["-[2] +[] ~[0]"])
    #expect(first.name == "renamed")
    try realm.write { first.name = "again" }
    #expect(try file.contents().contains("id=1 name=again"))
    token.invalidate()
  }

  @Test func anInstanceGoesOnWhenAnotherAddsClasses() throws {
    let file = try PetFile()
    let scheduler = ManualScheduler()
    let realm = try Realm(
      configuration: file.configuration(PetsOld.types), scheduler: scheduler)
    let first = realm.objects(PetsOld.Pet.self)[0]
    try file.open(PetsAdded.types) { other in
      try other.write { other.objects(PetsAdded.Pet.self)[0].weight = 3 }
    }
    realm.refresh()
    #expect(first.age == 10)
    try realm.write { first.age = 11 }
    try file.open(PetsAdded.types) { other in
      let pet = other.objects(PetsAdded.Pet.self)[0]
      #expect(pet.age == 11)
      #expect(pet.weight == 3)
    }
  }

  @Test func oneThreadCannotHaveBothVersions() throws {
    let file = try PetFile()
    let held = try Realm(configuration: file.configuration(PetsOld.types))
    let error = #expect(throws: Realm.Error.self) {
      try Realm(configuration: file.configuration(PetsTyped.types, version: 1))
    }
    #expect(error?.code == .alreadyOpen)
    #expect(held.objects(PetsOld.Pet.self).count == 3)
    #expect(try schemaVersionAtURL(file.url) == 0)
  }
}
