import Foundation
import TestSupport
import Testing

@testable import Tarn

private struct Tint: CustomPersistable, Hashable {
  var red: Int
  var blue: Int
  init(_ red: Int, _ blue: Int) { (self.red, self.blue) = (red, blue) }
  init(persistedValue: TintRow) { (red, blue) = (persistedValue.red, persistedValue.blue) }
  var persistableValue: TintRow { TintRow(value: ["red": red, "blue": blue]) }
}

private class TintRow: EmbeddedObject {
  @Persisted var red = 0
  @Persisted var blue = 0
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Palette: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var list: List<Tint>
  @Persisted var map: Map<String, Tint>
  @Persisted var optionals: Map<String, Tint?>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Values of custom types that are stored as embedded objects, in collections.
struct CustomElementTests {
  private let folder = TemporaryFolder()

  private func open() throws -> Realm {
    try Realm(
      configuration: Realm.Configuration(
        fileURL: folder.url("palettes.realm"), objectTypes: [Palette.self, TintRow.self],
        durability: .relaxed))
  }

  @Test func valuesComeBackAsTheyWere() throws {
    let palette = Palette()
    palette.list = [Tint(1, 2), Tint(3, 4)]
    palette.map = ["a": Tint(5, 6), "b": Tint(7, 8)]
    palette.optionals = ["a": Tint(9, 10), "b": nil]
    func check() {
      #expect(Array(palette.list) == [Tint(1, 2), Tint(3, 4)])
      #expect(palette.map["a"] == Tint(5, 6))
      #expect(palette.map.values.last == Tint(7, 8))
      #expect(palette.map.keys == ["a", "b"])
      #expect(palette.map["c"] == nil)
      #expect(palette.optionals["a"] == Tint(9, 10))
      #expect(palette.optionals["b"] == .some(nil))
    }
    check()
    let realm = try open()
    try realm.write {
      realm.add(palette)
      check()
    }
    check()
    try realm.write {
      palette.map["b"] = Tint(0, 1)
      palette.map["c"] = Tint(2, 2)
      palette.map["a"] = nil
    }
    #expect(palette.map.map { "\($0.key)\($0.value.red)\($0.value.blue)" } == ["b01", "c22"])
    let rows = realm.dynamicObjects("TintRow")
    #expect(rows.count == 5, "what was replaced or taken out is gone")
    for (_, tint) in palette.map { #expect(tint.red < 5) }
    try realm.write { realm.delete(palette) }
    #expect(rows.isEmpty)
  }

  /// The key stays when the object that stands for its value is deleted, as that of an object does.
  @Test func aValueWhoseObjectWasDeletedIsTheTypesDefault() throws {
    let realm = try open()
    let palette = Palette()
    palette.map = ["a": Tint(5, 6)]
    try realm.write {
      realm.add(palette)
      realm.delete(realm.dynamicObjects("TintRow"))
    }
    #expect(palette.map.keys == ["a"])
    #expect(palette.map["a"] == Tint(0, 0))
    #expect(palette.map.values == [Tint(0, 0)])
    #expect(palette.map.map(\.value) == [Tint(0, 0)])
  }

  @Test func nullIsTakenWhereTheValueIsOptional() throws {
    let realm = try open()
    let nulls: [String: Any] = ["a": NSNull(), "b": Tint(1, 2)]
    let unmanaged = Palette(value: ["id": 1, "optionals": nulls])
    #expect(unmanaged.optionals["a"] == .some(nil))
    try realm.write {
      let palette = realm.create(Palette.self, value: ["id": 2, "optionals": nulls])
      palette.setValue(nulls, forKey: "optionals")
      #expect(palette.optionals["a"] == .some(nil))
      #expect(palette.optionals["b"] == Tint(1, 2))
      palette.optionals.setValue(NSNull(), forKey: "b")
      #expect(palette.optionals.keys == ["a", "b"])
      #expect(palette.optionals["b"] == .some(nil))
      realm.add(unmanaged)
      #expect(unmanaged.optionals["a"] == .some(nil))
      let dynamic = try #require(realm.dynamicObject(ofType: "Palette", forPrimaryKey: 2))
      dynamic["optionals"] = ["c": NSNull()]
      #expect(palette.optionals.keys == ["c"])
      let checked = try realm.create(
        Palette.self, checking: ["id": 3, "optionals": ["d": NSNull()]])
      #expect(checked.optionals["d"] == .some(nil))
    }
  }

  /// Like a single property of the type, whose default stands for null.
  @Test func nullInAMapIsTheTypesDefault() throws {
    let realm = try open()
    let unmanaged = Palette(value: ["id": 1, "map": ["a": NSNull()]])
    #expect(unmanaged.map["a"] == Tint(0, 0))
    try realm.write {
      let palette = realm.create(Palette.self, value: ["id": 2, "map": ["a": NSNull()]])
      palette.map.setValue(NSNull(), forKey: "b")
      #expect(palette.map.keys == ["a", "b"])
      #expect(palette.map.values == [Tint(0, 0), Tint(0, 0)])
      realm.add(unmanaged)
      #expect(unmanaged.map["a"] == Tint(0, 0))
      let checked = try realm.create(Palette.self, checking: ["id": 3, "map": ["d": NSNull()]])
      #expect(checked.map["d"] == Tint(0, 0))
      #expect(throws: Realm.InvalidValue.self) {
        try realm.create(Palette.self, checking: ["id": 4, "list": [NSNull()]])
      }
    }
  }
}
