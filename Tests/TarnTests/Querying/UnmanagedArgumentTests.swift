import TestSupport
import Testing

@testable import Tarn

private class Mate: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var friend: Mate?
  @Persisted var friends: List<Mate>
  @Persisted var any: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Conditions on an object that is in no Realm: no property has it.
@Suite struct UnmanagedArgumentTests {
  private let folder = TemporaryFolder()
  private let realm: Realm

  init() throws {
    let configuration = Realm.Configuration(
      fileURL: folder.url("mates.realm"), objectTypes: [Mate.self], durability: .relaxed)
    realm = try Realm(configuration: configuration)
    try realm.write {
      let first = realm.create(Mate.self, value: ["id": 1])
      realm.create(
        Mate.self,
        value: ["id": 2, "friend": first, "friends": [first], "any": first] as [String: Any])
    }
  }

  @Test(arguments: [
    ("friend == %@", 0), ("friend != %@", 2), ("friend IN {%@}", 0), ("ANY friends == %@", 0),
    ("%@ IN friends", 0), ("NONE friends == %@", 2), ("#any == %@", 0), ("#any != %@", 2),
    ("NOT friend == %@", 2), ("friend == %@ OR id == 1", 1),
  ])
  func inText(_ condition: String, _ count: Int) throws {
    let stranger = Mate()
    #expect(realm.objects(Mate.self).filter(condition, stranger).count == count)
    try realm.write {
      #expect(realm.objects(Mate.self).filter(condition, stranger).count == count)
    }
  }

  @Test func inSwift() throws {
    let mates = realm.objects(Mate.self)
    let stranger = Mate()
    let first = try #require(mates.first)
    #expect(mates.where { $0.friend == stranger }.isEmpty)
    #expect(mates.where { $0.friend != stranger }.count == 2)
    #expect(mates.where { $0.friend.in([stranger]) }.isEmpty)
    #expect(mates.where { $0.friend.in([stranger, first]) }.count == 1)
    #expect(mates.where { $0.friends.contains(stranger) }.isEmpty)
    #expect(mates.where { !$0.friends.contains(stranger) }.count == 2)
    #expect(mates.where { $0.any == .object(stranger) }.isEmpty)
  }
}
