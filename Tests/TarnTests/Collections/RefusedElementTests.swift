import Testing

@testable import Tarn

private class Moods: Object {
  @Persisted var list: List<StableMood?>
  @Persisted var set: MutableSet<StableMood?>
  @Persisted var map: Map<String, StableMood?>
  @Persisted var grades: List<StableGrade?>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Elements that their type refuses, where it is optional: they read as nil, as properties do.
struct RefusedElementTests {
  @Test func refusedElementsOfOptionalTypesAreNil() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Moods.self]
    let realm = try Realm(configuration: configuration)
    let moods = try realm.write {
      realm.create(
        Moods.self,
        value: [
          "list": ["calm", "odd"], "set": ["odd", "wild"], "map": ["a": "odd", "b": "calm"],
          "grades": [1, 700],
        ] as [String: Any])
    }
    #expect(moods.list[1] == nil)
    #expect(moods.list.last == .some(nil))
    #expect(Array(moods.list.map { $0 }) == [.calm, nil])
    #expect(Set(moods.set.map { $0 }) == [nil, .wild])
    #expect(moods.map["a"] == .some(nil))
    #expect(moods.map["b"] == .calm)
    try #require(moods.grades.count == 2)
    #expect(moods.grades[1] == nil)
    #expect(moods.freeze().list.map { $0 } == [.calm, nil])
    // What is stored stays.
    let stored = realm.dynamicObjects("Moods")[0].list as? List<String?>
    #expect(stored?.last == "odd")
  }
}
