import Foundation
import Testing

@testable import Tarn

private struct Percent: FailableCustomPersistable, Equatable {
  var value: Int
  init(_ value: Int) { self.value = value }
  init?(persistedValue: Int) {
    guard (0...100).contains(persistedValue) else { return nil }
    value = persistedValue
  }
  var persistableValue: Int { value }
}

private struct Tag: CustomPersistable, Equatable {
  var name: String
  init(_ name: String) { self.name = name }
  init(persistedValue: String) { name = persistedValue }
  var persistableValue: String { name }
}

private struct Point2D: CustomPersistable, Equatable {
  var x: Double
  var y: Double
  init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
  init(persistedValue: PointObject) { (x, y) = (persistedValue.x, persistedValue.y) }
  var persistableValue: PointObject {
    let point = PointObject()
    (point.x, point.y) = (x, y)
    return point
  }
}

private class PointObject: EmbeddedObject {
  @Persisted var x: Double
  @Persisted var y: Double
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Parcel: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var tag = Tag("new")
  @Persisted var otherTag: Tag?
  @Persisted var share: Percent
  @Persisted var otherShare: Percent?
  @Persisted var point = Point2D(x: 1, y: 2)
  @Persisted var otherPoint: Point2D?
  @Persisted var points: List<Point2D>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The same columns without the conversions.
private class RawParcel: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var share: Int
  @Persisted var otherShare: Int?
  override class func className() -> String { "Parcel" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

struct CustomPersistableTests {
  private func open(_ shelter: Shelter, _ types: [ObjectBase.Type]) throws -> Instance {
    var configuration = shelter.configuration
    configuration.objectTypes = types
    return try Instance(configuration, shelter)
  }

  @Test func valuesComeBackAsTheyWere() throws {
    let a = try open(Shelter(), [Parcel.self, PointObject.self])
    let parcel = Parcel()
    #expect(parcel.share == Percent(0))
    #expect(parcel.otherTag == nil)
    parcel.otherTag = Tag("blue")
    parcel.share = Percent(40)
    try a.write { a.realm.add(parcel) }
    #expect(parcel.tag == Tag("new"))
    #expect(parcel.otherTag == Tag("blue"))
    #expect(parcel.share == Percent(40))
    #expect(parcel.otherShare == nil)
    #expect(parcel.point == Point2D(x: 1, y: 2))
    #expect(parcel.otherPoint == nil)
    try a.write {
      parcel.tag = Tag("")
      parcel.otherTag = nil
      parcel.otherShare = Percent(100)
      parcel.point = Point2D(x: 3, y: 4)
      parcel.otherPoint = Point2D(x: 5, y: 6)
    }
    #expect(parcel.tag == Tag(""))
    #expect(parcel.otherTag == nil)
    #expect(parcel.otherShare == Percent(100))
    #expect(parcel.point == Point2D(x: 3, y: 4))
    #expect(parcel.otherPoint == Point2D(x: 5, y: 6))
    let core = a.realm.core
    let points = try core.rows().count(of: core.binding(of: PointObject.self).classID)
    #expect(points == 2, "what was replaced is gone")
  }

  @Test func aStoredValueThatStandsForNothingIsNilWhereThatIsPossible() throws {
    let shelter = try Shelter()
    do {
      let a = try open(shelter, [RawParcel.self])
      try a.write { a.realm.create(RawParcel.self, value: ["id": 1, "otherShare": 400]) }
    }
    let a = try open(shelter, [Parcel.self, PointObject.self])
    let parcel = try #require(a.realm.object(ofType: Parcel.self, forPrimaryKey: 1))
    #expect(parcel.otherShare == nil)
    #expect(parcel.share == Percent(0))
    #expect(parcel.point == Point2D(x: 0, y: 0), "the column is younger than the row")
  }

  @Test func creatingTakesTheTypeOrWhatItIsStoredAs() throws {
    let a = try open(Shelter(), [Parcel.self, PointObject.self])
    try a.write {
      let parcel = a.realm.create(
        Parcel.self, value: ["id": 1, "tag": Tag("x"), "otherTag": "y", "share": 5])
      #expect(parcel.tag == Tag("x"))
      #expect(parcel.otherTag == Tag("y"))
      #expect(parcel.share == Percent(5))
    }
  }

  @Test func nullGivesATypeThatIsStoredAsAnObjectItsDefault() throws {
    let a = try open(Shelter(), [Parcel.self, PointObject.self])
    let null = NSNull()
    try a.write {
      let parcel = a.realm.create(
        Parcel.self, value: ["id": 1, "point": null, "otherPoint": null] as [String: Any])
      #expect(parcel.point == Point2D(x: 0, y: 0))
      #expect(parcel.otherPoint == nil)
      parcel.point = Point2D(x: 3, y: 4)
      a.realm.create(Parcel.self, value: ["id": 1, "point": null] as [String: Any], update: .all)
      #expect(parcel.point == Point2D(x: 0, y: 0))
      let checked = try a.realm.create(
        Parcel.self, checking: ["id": 2, "share": 1, "point": null] as [String: Any],
        unknownKeys: .refused)
      #expect(checked.point == Point2D(x: 0, y: 0))
    }
    let unmanaged = Parcel(value: ["id": 3, "point": null] as [String: Any])
    #expect(unmanaged.point == Point2D(x: 0, y: 0))
  }

  @Test func elementsStoredAsObjectsAreFoundByValue() throws {
    let a = try open(Shelter(), [Parcel.self, PointObject.self])
    let parcel = Parcel()
    parcel.points.append(objectsIn: [Point2D(x: 1, y: 1), Point2D(x: 2, y: 2)])
    #expect(parcel.points.index(of: Point2D(x: 2, y: 2)) == 1)
    try a.write { a.realm.add(parcel) }
    #expect(parcel.points.index(of: Point2D(x: 2, y: 2)) == 1)
    #expect(parcel.points.index(of: Point2D(x: 9, y: 2)) == nil)
  }

  @Test func aRequiredPropertyWithAValueThatStandsForNothingTraps() async throws {
    let shelter = try Shelter()
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = shelter.folder as String] in
      let shelter = try Shelter(within: folder)
      func open(_ types: [ObjectBase.Type]) throws -> Instance {
        var configuration = shelter.configuration
        configuration.objectTypes = types
        return try Instance(configuration, shelter)
      }
      do {
        let a = try open([RawParcel.self])
        try a.write { a.realm.create(RawParcel.self, value: ["id": 1, "share": 400]) }
      }
      let a = try open([Parcel.self, PointObject.self])
      _ = a.realm.object(ofType: Parcel.self, forPrimaryKey: 1)!.share
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("share"), "\(text)")
    #expect(text.contains("400"), "\(text)")
    #expect(text.contains("Percent"), "\(text)")
  }
}
