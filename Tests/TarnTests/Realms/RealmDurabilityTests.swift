import Foundation
import Tarn
import Testing

struct RealmDurabilityTests {
  private let shelter = Result { try Shelter() }

  @Test(arguments: Realm.Configuration.Durability.allCases)
  func `a Realm says what its commits wait for`(
    _ level: Realm.Configuration.Durability
  ) throws {
    let shelter = try shelter.get()
    shelter.durability = level
    let realm = try shelter.open(cats: 2).realm
    #expect(realm.durability == level)
    try realm.flush()
    #expect(realm.objects(Cat.self).count == 2)
  }

  @Test func `a file made for relaxed is relaxed for all`() throws {
    let shelter = try shelter.get()
    do { _ = try shelter.open(cats: 1) }
    shelter.durability = .full
    #expect(try shelter.open().realm.durability == .relaxed)
  }

  @Test func `neither a flush nor going on is possible in a write`() throws {
    let realm = try shelter.get().open(cats: 1).realm
    try realm.write {
      #expect(throws: Realm.Error.fail) { try realm.flush() }
      #expect(throws: Realm.Error.fail) { try realm.resumeWriting() }
    }
    try realm.resumeWriting()
  }

  @Test func `a Realm in memory needs no flush`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [Cat.self, Home.self, Stray.self]),
      scheduler: ManualScheduler())
    try realm.flush()
    #expect(realm.durability == .relaxed)
  }
}
