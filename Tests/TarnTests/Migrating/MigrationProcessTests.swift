import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// Migrations among processes: each exit test is one of its own.
struct MigrationProcessTests {
  static let points = [
    "migration.begun", "migration.ran", "commit.begun", "commit.rows", "migration.rows",
    "migration.schema", "commit.record", "commit.head", "storage.beforeCommit",
    "storage.afterCommit", "commit.done", "commit.counted", "commit.released",
  ]

  @Test(arguments: points)
  func killedAtAnyPoint(point: String) async throws {
    let file = try PetFile()
    let before = try file.contents()
    let said = file.keptErrors
    let result = await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = file.url.path as String, point = point as String, said = said as KeptErrors] in
      said.keep()
      setenv("TARN_FAULT", point, 1)
      FaultPoint.armFromEnvironment()
      _ = try Realm(configuration: PetChild.aged(path))
      exit(0)
    }
    said.tell(result)
    let instance = Self.points.firstIndex(of: point)!
    if instance >= Self.points.firstIndex(of: "storage.afterCommit")! {
      #expect(try schemaVersionAtURL(file.url) == 1)
    } else {
      #expect(try file.contents() == before)
    }
    try file.open(PetsAged.types, version: 1) { realm in
      #expect(realm.objects(PetsAged.Pet.self).map(\.id) == [1, 2, 3])
      try realm.write { realm.objects(PetsAged.Pet.self)[0].name = "goes on" }
    }
  }

  @Test func oneOfTwoMigrates() async throws {
    let file = try PetFile()
    let (firstSaid, secondSaid) = (file.keptErrors, file.keptErrors)
    async let first = #expect(processExitsWith: .success) {
      [path = file.url.path as String, said = firstSaid as KeptErrors] in
      said.keep()
      try PetChild.migrateTogether(path, "first", "second")
    }
    async let second = #expect(processExitsWith: .success) {
      [path = file.url.path as String, said = secondSaid as KeptErrors] in
      said.keep()
      try PetChild.migrateTogether(path, "second", "first")
    }
    firstSaid.tell(await first)
    secondSaid.tell(await second)
    let runs = file.folder.names.filter { $0.hasPrefix("pets.realm.ran") }
    #expect(runs.count == 1)
    #expect(try schemaVersionAtURL(file.url) == 1)
  }

  @Test func aProcessWithTheOldClassesStaysAndIsTold() async throws {
    let file = try PetFile()
    let (oldSaid, newSaid) = (file.keptErrors, file.keptErrors)
    async let old = #expect(processExitsWith: .success) {
      [path = file.url.path as String, said = oldSaid as KeptErrors] in
      said.keep()
      try PetChild.watchOldClasses(path)
    }
    async let new = #expect(processExitsWith: .success) {
      [path = file.url.path as String, said = newSaid as KeptErrors] in
      said.keep()
      try PetChild.migrateOnceWatched(path)
    }
    oldSaid.tell(await old)
    newSaid.tell(await new)
    try file.open(PetsTyped.types, version: 1) { realm in
      #expect(realm.objects(PetsTyped.Pet.self).count == 3)
    }
  }

  @Test func aFileThatAnotherProcessHasOpenIsNotDeleted() async throws {
    let file = try PetFile()
    let held = try Realm(configuration: file.configuration(PetsOld.types), queue: nil)
    let said = file.keptErrors
    let result = await #expect(processExitsWith: .success) {
      [path = file.url.path as String, said = said as KeptErrors] in
      said.keep()
      var configuration = PetChild.configuration(path, PetsTyped.types)
      configuration.deleteRealmIfMigrationNeeded = true
      let error = #expect(throws: Realm.Error.self) {
        try Realm(configuration: configuration, queue: nil)
      }
      guard error?.code == .alreadyOpen else { fatalError("\(String(describing: error))") }
    }
    said.tell(result)
    // The test may go on on another thread than the one that opened it.
    withExtendedLifetime(held) {}
    try file.open(PetsOld.types) { realm in
      #expect(realm.objects(PetsOld.Pet.self).count == 3)
    }
  }
}

/// What the processes of these tests do.
enum PetChild {
  static func configuration(
    _ path: String, _ types: [ObjectBase.Type], version: UInt64 = 0,
    _ block: MigrationBlock? = nil
  ) -> Realm.Configuration {
    PetFile.configuration(URL(fileURLWithPath: path), types, version: version, block)
  }

  /// A migration that gives every pet a new key.
  static func aged(_ path: String) -> Realm.Configuration {
    configuration(path, PetsAged.types, version: 1) { migration, _ in
      migration.enumerateObjects(ofType: "Pet") { _, new in new?.nick = "migrated" }
    }
  }

  private static func mark(_ path: String) {
    guard FileManager.default.createFile(atPath: path, contents: nil) else {
      fatalError("cannot make \(path)")
    }
  }

  /// Whoever migrates does not end before the other is there, too.
  static func migrateTogether(_ path: String, _ own: String, _ other: String) throws {
    mark("\(path).\(own)")
    let configuration = configuration(path, PetsTyped.types, version: 1) { migration, _ in
      mark("\(path).ran-\(own)")
      guard waitUntil({ FileManager.default.fileExists(atPath: "\(path).\(other)") }) else {
        fatalError("the other process does not come")
      }
      migration.enumerateObjects(ofType: "Pet") { old, new in new?.age = "\(old?.age ?? 0)" }
    }
    let realm = try Realm(configuration: configuration)
    guard realm.objects(PetsTyped.Pet.self).map(\.age) == ["10", "20", "30"] else {
      fatalError("\(realm.objects(PetsTyped.Pet.self))")
    }
  }

  /// Migrates once `watchOldClasses` runs elsewhere.
  static func migrateOnceWatched(_ path: String) throws {
    guard waitUntil({ FileManager.default.fileExists(atPath: "\(path).ready") }) else {
      fatalError("the process with the old classes does not come")
    }
    try Realm.performMigration(for: configuration(path, PetsTyped.types, version: 1))
  }

  static func watchOldClasses(_ path: String) throws {
    let scheduler = ManualScheduler()
    let realm = try Realm(
      configuration: configuration(path, PetsOld.types), scheduler: scheduler)
    let pets = realm.objects(PetsOld.Pet.self)
    var error: Realm.Error?
    let token = pets.observe { change in
      switch change {
      case .initial: mark("\(path).ready")
      case .update: fatalError("an update of what this process cannot show")
      case .error(let told): error = told as? Realm.Error
      }
    }
    let end = ContinuousClock.now + .seconds(300)
    while error == nil, ContinuousClock.now < end {
      scheduler.wait(timeout: 1)
      scheduler.pump()
    }
    guard error?.code == .schemaMismatch else { fatalError("not told: \(error as Any)") }
    guard pets.map(\.age) == [10, 20, 30] else { fatalError("the old state is gone") }
    do {
      try realm.write {}
      fatalError("a write over another schema")
    } catch Realm.Error.schemaMismatch {}
    token.invalidate()
  }
}
