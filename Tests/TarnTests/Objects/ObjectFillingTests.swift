import Foundation
import Testing

@testable import Tarn

private class Part: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var parts: List<Part>
  @Persisted(onDelete: .cascade) var screws: List<Screw>
  @Persisted(onDelete: .cascade) var label: Screw?
  @Persisted var other: Screw?
  @Persisted var home: Street?
  @Persisted var streets: List<Street>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Screw: Object {
  @Persisted var length = 0
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

struct ObjectFillingTests {
  private func open() throws -> Instance {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [
      Part.self, Screw.self, Street.self, StreetMap.self, Resident.self,
    ]
    return try Instance(configuration, shelter)
  }

  @Test func dictionariesAndArraysStandForObjectsAtAnyDepth() {
    let part = Part(value: [
      "id": 1, "screws": [["length": 3], [4]], "label": [5],
      "parts": [["id": 2, "parts": [["id": 3]]]], "home": ["name": "Mill Road"],
      "streets": [["High Street", 2]],
    ])
    #expect(part.realm == nil)
    #expect(part.screws.map(\.length) == [3, 4])
    #expect(part.label?.length == 5)
    #expect(part.parts[0].parts[0].id == 3)
    #expect(part.home?.name == "Mill Road")
    #expect(part.streets[0].number == 2)
  }

  @Test func anotherObjectsEmbeddedOnesAreCopied() throws {
    let a = try open()
    let first = Part(value: ["id": 1, "home": ["name": "Mill Road"], "streets": [["Low Street"]]])
    try a.write { a.realm.add(first) }
    let second = Part(value: first)
    second.id = 2
    try a.write { a.realm.add(second) }
    #expect(first.home?.name == "Mill Road")
    #expect(second.home?.name == "Mill Road")
    try #require(first.streets.count == 1)
    #expect(second.streets[0].name == "Low Street")
    #expect(first.home?.isSameObject(as: second.home) == false)
  }

  @Test func nestedValuesLeaveWhatTheyDoNotNameAsItIs() throws {
    let a = try open()
    try a.write {
      let values: [String: Any] = [
        "id": 1, "label": [7], "home": ["name": "Mill Road", "number": 4],
        "parts": [["id": 2, "label": [8]]],
      ]
      a.realm.create(Part.self, value: values)
      a.realm.create(
        Part.self, value: ["id": 3, "parts": [["id": 1, "home": ["number": 5]]]],
        update: .modified)
    }
    let first = try #require(a.realm.object(ofType: Part.self, forPrimaryKey: 1))
    #expect(first.label?.length == 7)
    #expect(first.parts[0].label?.length == 8)
    #expect(first.home?.name == "Mill Road")
    #expect(first.home?.number == 5)
  }

  @Test func namesThatTheClassDoesNotHaveAreIgnored() throws {
    let a = try open()
    #expect(Part(value: ["colour": 1, "id": 4]).id == 4)
    try a.write {
      let part = a.realm.create(Part.self, value: ["id": 5, "colour": 1, "screws": [["x": 2]]])
      #expect(part.screws.count == 1)
      a.realm.dynamicCreate("Part", value: ["id": 6, "colour": 1])
    }
    #expect(a.realm.objects(Part.self).count == 2)
  }

  @Test func whatAPropertyOwnsIsDeletedWithItsObject() throws {
    let a = try open()
    let part = Part(value: ["id": 1, "screws": [[1], [2]], "label": [3], "other": [4]])
    try a.write { a.realm.add(part) }
    let screws = a.realm.objects(Screw.self)
    #expect(screws.count == 4)
    try a.write { part.screws.remove(at: 0) }
    #expect(screws.count == 4, "taking one out leaves it")
    try a.write { a.realm.delete(part) }
    #expect(screws.map(\.length).sorted() == [1, 4])
  }

  @Test func aRuleThatOneProgramAsksForStays() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Part.self, Screw.self, Street.self, StreetMap.self, Resident.self]
    _ = try Instance(configuration, shelter)
    let a = try Instance(configuration, shelter)
    let schema = a.realm.core.shown().schema.schema.named("Part")!
    #expect(schema.named("label")?.deleteRule == .cascade)
    #expect(schema.named("other")?.deleteRule == .nullify)
  }

  @Test func manyObjectsAreDeletedWithOneLookAtTheirLists() throws {
    let a = try open()
    let part = Part(value: ["id": 1])
    try a.write {
      a.realm.add(part)
      part.screws.append(objectsIn: (0..<3_000).map { Screw(value: [$0]) })
    }
    try a.write { a.realm.delete(a.realm.objects(Screw.self).where { $0.length >= 10 }) }
    #expect(part.screws.map(\.length) == Array(0..<10))
    try a.write { a.realm.delete(part.screws) }
    #expect(part.screws.isEmpty)
    #expect(a.realm.objects(Screw.self).isEmpty)
    try a.write { a.realm.deleteAll() }
    #expect(a.realm.isEmpty)
    #expect(part.isInvalidated)
  }
}

struct CancelledObjectTests {
  private func open(returnsObjects: Bool) throws -> Instance {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [
      Part.self, Screw.self, Street.self, StreetMap.self, Resident.self,
    ]
    configuration.returnsObjectsOfCancelledWrites = returnsObjects
    return try Instance(configuration, shelter)
  }

  private struct Cancelled: Error {}

  @Test func aCancelledWriteGivesItsObjectsBack() throws {
    let a = try open(returnsObjects: true)
    let kept = Screw(value: [9])
    try a.write { a.realm.add(kept) }
    let part = Part(value: [
      "id": 1, "screws": [["length": 3], [4]], "home": ["name": "Mill Road"],
    ])
    let first = part.screws[0]
    #expect(throws: Cancelled.self) {
      try a.write {
        a.realm.add(part)
        first.length = 7
        part.label = kept
        part.parts.append(part)
        throw Cancelled()
      }
    }
    #expect(part.realm == nil)
    #expect(!part.isInvalidated)
    #expect(part.screws.count == 2)
    #expect(part.screws[0] === first)
    #expect(first.length == 7)
    #expect(first.realm == nil)
    #expect(part.label === kept || part.label?.isSameObject(as: kept) == true)
    #expect(part.parts[0] === part)
    #expect(part.home?.name == "Mill Road")
    #expect(a.realm.objects(Screw.self).count == 1)
    try a.write { a.realm.add(part) }
    #expect(part.realm == a.realm)
    #expect(a.realm.objects(Screw.self).count == 3)
    #expect(part.label?.length == 9)
    #expect(part.parts[0].isSameObject(as: part))
  }

  @Test func whatTheWriteDeletedAgainStaysInvalid() throws {
    let a = try open(returnsObjects: true)
    let screw = Screw(value: [1])
    a.realm.beginWrite()
    a.realm.add(screw)
    a.realm.delete(screw)
    a.realm.cancelWrite()
    #expect(screw.isInvalidated)
  }

  @Test func withoutTheWishTheyAreInvalidated() throws {
    let a = try open(returnsObjects: false)
    let screw = Screw(value: [1])
    a.realm.beginWrite()
    a.realm.add(screw)
    a.realm.cancelWrite()
    #expect(screw.isInvalidated)
  }
}
