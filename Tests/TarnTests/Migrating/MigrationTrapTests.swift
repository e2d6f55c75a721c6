import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// What a program is told that misuses a migration.
struct MigrationTrapTests {
  enum Mistake: String, CaseIterable, Codable {
    case renameUnknown, renameToUnknown, renameKept, renameToKnown, renameType
    case renameClass, setOld, deleteOld, unchangedKey, keptObject, refreshOldClasses

    var message: String {
      let change = "Cannot rename property 'Pet."
      return switch self {
      case .renameUnknown: "\(change)fur' to 'title': the file has no such property."
      case .renameToUnknown: "\(change)name' to 'fur': the model has no property 'fur'."
      case .renameKept: "\(change)age' to 'title': the model still has 'age'."
      case .renameToKnown: "\(change)name' to 'age': the file has 'age' already."
      case .renameType: "\(change)age' to 'title': their types differ."
      case .renameClass: "the file has no class 'Dog'."
      case .setOld: "outside of a write transaction"
      case .deleteOld: "Only new objects of a migration can be deleted."
      case .unchangedKey: "Pet.id is the primary key, which cannot change"
      case .keptObject: "has been deleted or invalidated"
      case .refreshOldClasses: "the file was migrated to schema version 1"
      }
    }

    func make(_ path: String) throws {
      switch self {
      case .keptObject:
        let kept = Kept()
        try run(path, PetsRenamed.types) { migration in
          migration.enumerateObjects(ofType: "Pet") { _, new in kept.object = new }
        }
        _ = kept.object?.title
      case .refreshOldClasses:
        let realm = try Realm(
          configuration: PetChild.configuration(path, PetsOld.types),
          scheduler: ManualScheduler())
        _ = realm.objects(PetsOld.Pet.self).count
        try run(path, PetsTyped.types) { _ in }
        realm.refresh()
      case .renameType:
        try run(path, PetsTitled.types) { migration in
          migration.renameProperty(onType: "Pet", from: "age", to: "title")
        }
      default: try run(path, PetsRenamed.types) { mistake($0) }
      }
      exit(0)
    }

    private func run(
      _ path: String, _ types: [ObjectBase.Type], _ body: @escaping @Sendable (Migration) -> Void
    ) throws {
      try Realm.performMigration(
        for: PetChild.configuration(path, types, version: 1) { migration, _ in body(migration) })
    }

    private func mistake(_ migration: Migration) {
      func rename(_ from: String, _ to: String, on type: String = "Pet") {
        migration.renameProperty(onType: type, from: from, to: to)
      }
      switch self {
      case .renameUnknown: rename("fur", "title")
      case .renameToUnknown: rename("name", "fur")
      case .renameKept: rename("age", "title")
      case .renameToKnown: rename("name", "age")
      case .renameClass: rename("name", "title", on: "Dog")
      case .setOld: migration.enumerateObjects(ofType: "Pet") { old, _ in old?.age = 1 }
      case .deleteOld:
        migration.enumerateObjects(ofType: "Pet") { old, _ in migration.delete(old!) }
      case .unchangedKey: migration.enumerateObjects(ofType: "Pet") { _, new in new?.id = 9 }
      default: break
      }
    }
  }

  private final class Kept: @unchecked Sendable {
    // because: the migration's block runs on the thread that calls for it.
    var object: MigrationObject?
  }

  @Test(arguments: Mistake.allCases)
  func traps(mistake: Mistake) async throws {
    let file = try PetFile()
    let before = try file.contents()
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = file.url.path as String, mistake = mistake as Mistake] in
      try mistake.make(path)
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains(mistake.message), "\(text)")
    if mistake != .keptObject, mistake != .refreshOldClasses {
      #expect(try file.contents() == before)
    }
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
