// As a program imports it: what the library keeps for itself must not get in the way of names.
import Tarn
import TestSupport
import Testing

/// Properties that are called like what the library notes of an object.
class CabinetDrawer: Object {
  @Persisted(primaryKey: true) var key: String
  @Persisted var binding: Int
  @Persisted var createdInWrite: Int
  @Persisted var context: Int?
  @Persisted var core: String
  @Persisted var generation: Int64
  @Persisted var image: String
  @Persisted var life: Double
  @Persisted var slot: List<Int>
  @Persisted var state: Bool
  @Persisted var warmColumns: Int
  @Persisted var working: CabinetDrawer?
}

@Suite struct ClientNamesTests {
  @Test func propertiesMayBeCalledLikeWhatTheLibraryKeeps() throws {
    let position = TemporaryFolder()
    let configuration = Realm.Configuration(
      fileURL: position.url("names.realm"), objectTypes: [CabinetDrawer.self])
    let realm = try Realm(configuration: configuration)
    try realm.write {
      let drawer = realm.create(
        CabinetDrawer.self,
        value: [
          "key": "a", "binding": 1, "createdInWrite": 2, "context": 3, "core": "b", "generation": 4,
          "image": "c", "life": 5.5, "slot": [6, 7], "state": true, "warmColumns": 8,
        ])
      drawer.working = drawer
    }
    let drawer = try #require(realm.object(ofType: CabinetDrawer.self, forPrimaryKey: "a"))
    #expect(drawer.key == "a")
    #expect(drawer.core == "b")
    #expect(drawer.image == "c")
    #expect(drawer.binding == 1)
    #expect(drawer.createdInWrite == 2)
    #expect(drawer.context == 3)
    #expect(drawer.generation == 4)
    #expect(drawer.life == 5.5)
    #expect(Array(drawer.slot) == [6, 7])
    #expect(drawer.state)
    #expect(drawer.warmColumns == 8)
    #expect(drawer.working == drawer)
    #expect(realm.objects(CabinetDrawer.self).where { $0.state && $0.generation == 4 }.count == 1)
  }
}
