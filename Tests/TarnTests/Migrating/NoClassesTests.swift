import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Programs without classes, such as tools, on files that were migrated.
@Suite struct NoClassesTests {
  private let file: PetFile

  init() throws {
    file = try PetFile()
    _ = try file.open(PetsOld.types, version: 3) { _ in }
  }

  @Test func theyTakeTheVersionOfTheFile() throws {
    for readOnly in [false, true] {
      var configuration = file.configuration([])
      configuration.readOnly = readOnly
      #expect(try Realm(configuration: configuration).dynamicObjects("Pet").count == 3)
    }
    #expect(try schemaVersionAtURL(file.url) == 3)
  }

  @Test func theySeeTheNextMigration() throws {
    let realm = try Realm(configuration: file.configuration([]))
    let cursor = try realm.cursor("tool", of: .objects(ofClass: "Pet"), startingAt: .newest)
    // As another program would.
    let queue = DispatchQueue(label: "migrating")
    try queue.sync {
      let migrated = try Realm(
        configuration: file.configuration(PetsOld.types, version: 4) { _, _ in }, queue: queue)
      try migrated.write { migrated.objects(PetsOld.Pet.self).first?.age = 11 }
    }
    #expect(try cursor.next() != nil)
    #expect(try Realm(configuration: file.configuration([])).dynamicObjects("Pet").count == 3)
  }

  @Test func aVersionThatIsGivenCounts() throws {
    #expect(throws: Realm.Error.schemaMismatch) {
      try Realm(configuration: file.configuration([], version: 2))
    }
    #expect(throws: Realm.Error.schemaMismatch) {
      try Realm(configuration: file.configuration(PetsOld.types))
    }
  }
}
