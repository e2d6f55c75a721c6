import TestSupport
import Testing

@testable import Tarn

private class Listed: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: Int
}

private class Shelved: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var id: ObjectId
}

@Suite struct ObjectKeyIdentifiableTests {
  private func realm() throws -> Realm {
    try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "\(ObjectId.generate())", objectTypes: [Listed.self, Shelved.self]))
  }

  @Test func isTheRows() throws {
    let realm = try realm()
    let (one, other) = (Listed(value: ["_id": 1]), Listed(value: ["_id": 2]))
    #expect(one.id != other.id)
    let shelved = Shelved()
    try realm.write { realm.add([one, other, shelved]) }
    let found = try #require(realm.object(ofType: Listed.self, forPrimaryKey: 1))
    #expect(found.id == one.id)
    #expect(found.freeze().id == one.id)
    #expect(one.id != other.id)
  }

  private func identity<T: Identifiable>(_ object: T) -> T.ID { object.id }

  @Test func aPropertyNamedIdIsUsed() {
    let shelved = Shelved()
    #expect(identity(shelved) == shelved.id)
    let listed = Listed(value: ["_id": 1])
    #expect(identity(listed) == listed.id as UInt64)
  }
}
