import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// What a program is told that misuses a migration.
struct MigrationTrapTests: TrapSuite {
  /// Migrates the pets of the test, in whose folder the shelter of the process lies.
  private static func migrate(
    _ shelter: Shelter, _ types: [ObjectBase.Type],
    _ body: @escaping @Sendable (Migration) -> Void
  ) throws {
    try Realm.performMigration(
      for: PetChild.configuration(path(shelter), types, version: 1) { migration, _ in
        body(migration)
      })
  }

  private static func path(_ shelter: Shelter) -> String { shelter.folder + "/../pets.realm" }

  /// A mistake in the block of a migration.
  private static func row(
    _ name: String, _ message: String, to types: [ObjectBase.Type] = PetsRenamed.types,
    _ mistake: @escaping @Sendable (Migration) -> Void
  ) -> TrapCase {
    TrapCase(name, message) { try migrate($0, types, mistake) }
  }

  private static func renaming(
    _ name: String, _ from: String, _ to: String, _ reason: String,
    to types: [ObjectBase.Type] = PetsRenamed.types
  ) -> TrapCase {
    row(name, "Cannot rename property 'Pet.\(from)' to '\(to)': \(reason)", to: types) {
      $0.renameProperty(onType: "Pet", from: from, to: to)
    }
  }

  /// Those that stop before the file changes.
  static let mistakes: [TrapCase] = [
    renaming("renaming of what is not there", "fur", "title", "the file has no such property."),
    renaming("renaming to what is not there", "name", "fur", "the model has no property 'fur'."),
    renaming("renaming of what stays", "age", "title", "the model still has 'age'."),
    renaming("renaming to what was there", "name", "age", "the file has 'age' already."),
    renaming(
      "renaming to another type", "age", "title", "their types differ.", to: PetsTitled.types),
    row("renaming in a class that is not there", "the file has no class 'Dog'.") {
      $0.renameProperty(onType: "Dog", from: "name", to: "title")
    },
    row("setting an old object", "outside of a write transaction") {
      $0.enumerateObjects(ofType: "Pet") { old, _ in old?.age = 1 }
    },
    row("deleting an old object", "Only new objects of a migration can be deleted.") { migration in
      migration.enumerateObjects(ofType: "Pet") { old, _ in migration.delete(old!) }
    },
    row("changing a key that stays", "Pet.id is the primary key, which cannot change") {
      $0.enumerateObjects(ofType: "Pet") { _, new in new?.id = 9 }
    },
  ]

  /// Those after a migration that was right.
  static let laterMistakes: [TrapCase] = [
    TrapCase("keeping an object", "has been deleted or invalidated") { shelter in
      let kept = Kept()
      try migrate(shelter, PetsRenamed.types) { migration in
        migration.enumerateObjects(ofType: "Pet") { _, new in kept.object = new }
      }
      _ = kept.object?.title
    },
    TrapCase("refreshing the old classes", "the file was migrated to schema version 1") {
      shelter in
      let realm = try Realm(
        configuration: PetChild.configuration(path(shelter), PetsOld.types),
        scheduler: ManualScheduler())
      _ = realm.objects(PetsOld.Pet.self).count
      try migrate(shelter, PetsTyped.types) { _ in }
      realm.refresh()
    },
  ]

  private final class Kept: @unchecked Sendable {
    // because: the migration's block runs on the thread that calls for it.
    var object: MigrationObject?
  }

  @Test(arguments: mistakes.map(\.name))
  func stopsAndLeavesTheFile(_ name: String) async throws {
    let file = try PetFile()
    let before = try file.contents()
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = file.folder.path as String, name] in
      try await MigrationTrapTests.mistakes.named(name).run(Shelter(within: folder))
    }
    try expect(Self.mistakes.named(name).message, in: result)
    #expect(try file.contents() == before)
  }

  @Test(arguments: laterMistakes.map(\.name))
  func stopsLater(_ name: String) async throws {
    let file = try PetFile()
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = file.folder.path as String, name] in
      try await MigrationTrapTests.laterMistakes.named(name).run(Shelter(within: folder))
    }
    try expect(Self.laterMistakes.named(name).message, in: result)
  }
}

/// A property less, and one more of another type.
enum PetsTitled {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var title: String
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self] }
}
