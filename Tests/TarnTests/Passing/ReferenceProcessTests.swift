import Foundation
import TestSupport
import Testing

@testable import Tarn

/// References in sight of another process.
struct ReferenceProcessTests {
  static func delete(_ path: String) throws {
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [Glacier.self, Stone.self, Drill.self])
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.delete(realm.object(ofType: Glacier.self, forPrimaryKey: 1)!) }
  }

  @Test func anotherProcessDeletesTheObject() async throws {
    let shelter = try Shelter()
    let references = try Self.references(shelter)
    let said = KeptErrors(in: shelter.folder)
    said.tell(
      await #expect(processExitsWith: .success) {
        [path = shelter.iceConfiguration.fileURL!.path as String, said = said as KeptErrors] in
        said.keep()
        try ReferenceProcessTests.delete(path)
      })
    #expect(references.first.isInvalidated)
    #expect(!references.second.isInvalidated)
    let realm = try Realm(
      configuration: shelter.iceConfiguration, scheduler: ManualScheduler())
    #expect(realm.resolve(references.first) == nil)
    #expect(realm.resolve(references.second)?.id == 2)
  }

  private static func references(
    _ shelter: Shelter
  ) throws -> (first: ThreadSafeReference<Glacier>, second: ThreadSafeReference<Glacier>) {
    let instance = try shelter.openIce(glaciers: 2)
    return (
      ThreadSafeReference(to: instance.glacier(1)!), ThreadSafeReference(to: instance.glacier(2)!)
    )
  }
}
