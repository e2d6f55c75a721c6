import Tarn
import TestSupport
import Testing

@testable import TarnSync

private final class Keyless: Object {
  @Persisted(primaryKey: true) var _id: String?
  @Persisted var text: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Keys that PostgreSQL does not take.
@Suite struct NilKeyTests {
  @Test func `a store with an object whose key is nil is refused`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: #function, objectTypes: [Keyless.self, Remark.self]), queue: nil)
    try realm.write {
      for id in ["a", nil] { realm.create(Keyless.self, value: ["_id": id, "text": "x"]) }
    }
    let error = #expect(throws: ServerError.self) {
      try NilKeys.refuse(in: realm.store.newestSnapshot(), classes: nil)
    }
    #expect(error?.message.contains("Keyless._id") == true)
    #expect(error?.hint == "Give the object a key, or delete it.")
    try NilKeys.refuse(in: realm.store.newestSnapshot(), classes: ["Remark"])
    try realm.write { realm.delete(realm.objects(Keyless.self).where { $0._id == nil }) }
    try NilKeys.refuse(in: realm.store.newestSnapshot(), classes: nil)
  }
}
