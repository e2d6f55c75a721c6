import Foundation
import TestSupport
import Testing

@testable import Tarn

private enum Rating: Int, PersistableEnum {
  case good = 5
  case better = 6
}

private class Parcel: Object {
  @Persisted(primaryKey: true) var id = 7
  @Persisted var label = "to whom it may concern"
  @Persisted var weight = 2.5
  @Persisted var note: String? = "fragile"
  @Persisted var rating: Rating
  @Persisted var token: ObjectId
  @Persisted var stamps: List<Int> = [1, 2]
  @Persisted var sizes: Map<String, Int> = ["s": 1]
  @Persisted var lid: Lid? = Lid()
  @Persisted var parts: List<Part>
  override class func propertiesMapping() -> [String: String] { ["weight": "grams"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Lid: EmbeddedObject {
  @Persisted var color = "red"
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Part: Object {
  @Persisted var name = "screw"
  @Persisted var count = 3
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Objects that are created by the names of their classes have the values that these declare.
struct DeclaredValueTests {
  private static let types: [ObjectBase.Type] = [Parcel.self, Lid.self, Part.self]

  private func check(_ parcel: Parcel) {
    #expect(parcel.label == "to whom it may concern")
    #expect(parcel.weight == 2.5)
    #expect(parcel.note == "fragile")
    #expect(parcel.rating == .good)
    #expect(parcel.token != ObjectId())
    #expect(Array(parcel.stamps) == [1, 2])
    #expect(parcel.sizes["s"] == 1)
    // One that is an object is left out.
    #expect(parcel.lid == nil)
  }

  @Test func dynamicObjects() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = Self.types
    let instance = try Instance(configuration, shelter)
    let realm = instance.realm
    try instance.write {
      realm.dynamicCreate("Parcel")
      realm.dynamicCreate(
        "Parcel",
        value: [
          "id": 8, "label": "x", "note": NSNull(), "stamps": [9], "grams": 1.0,
          "lid": [String: Any](), "parts": [["name": "nail"]],
        ] as [String: Any])
    }
    check(try #require(realm.object(ofType: Parcel.self, forPrimaryKey: 7)))
    let other = try #require(realm.object(ofType: Parcel.self, forPrimaryKey: 8))
    #expect(other.label == "x")
    #expect(other.note == nil)
    #expect(Array(other.stamps) == [9])
    #expect(other.weight == 1)
    #expect(other.lid?.color == "red")
    #expect(other.parts.map(\.name) == ["nail"])
    #expect(other.parts.map(\.count) == [3])
    // Only what is new has them.
    try instance.write {
      other.weight = 4
      other.stamps.removeAll()
      realm.dynamicCreate("Parcel", value: ["id": 8, "label": "y"], update: .modified)
    }
    #expect(other.label == "y")
    #expect(other.weight == 4)
    #expect(other.stamps.isEmpty)
    #expect(other.note == nil)
  }

  @Test func objectsOfMigrations() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Part.self]
    _ = try Realm(configuration: configuration)
    configuration.objectTypes = Self.types
    configuration.schemaVersion = 1
    configuration.migrationBlock = { migration, _ in
      migration.create("Parcel")
      migration.create("Parcel", value: ["id": 8, "note": NSNull()] as [String: Any])
    }
    let realm = try Realm(configuration: configuration)
    check(try #require(realm.object(ofType: Parcel.self, forPrimaryKey: 7)))
    let other = try #require(realm.object(ofType: Parcel.self, forPrimaryKey: 8))
    #expect(other.note == nil)
    #expect(other.weight == 2.5)
  }

  /// Of a class that the program does not have nothing is declared.
  @Test func classesThatTheProgramDoesNotHave() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Part.self]
    let writer = try Instance(configuration, shelter)
    configuration.objectTypes = []
    let other = try Instance(configuration, shelter)
    try other.write { other.realm.dynamicCreate("Part") }
    writer.realm.refresh()
    #expect(writer.realm.objects(Part.self).map(\.name) == [""])
  }
}
