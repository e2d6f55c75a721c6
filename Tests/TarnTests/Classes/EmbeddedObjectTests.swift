import Foundation
import Testing

@testable import Tarn

class Street: EmbeddedObject {
  @Persisted var name = ""
  @Persisted var number = 0
  @Persisted var map: StreetMap?
  @Persisted(originProperty: "home") var inhabitants: LinkingObjects<Resident>

  convenience init(_ name: String, _ number: Int = 0) {
    self.init()
    self.name = name
    self.number = number
  }
}

class StreetMap: EmbeddedObject {
  @Persisted var scale = 1.0
}

class Resident: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var home: Street?
  @Persisted var office: Street?
}

struct EmbeddedObjectTests {
  private func open() throws -> Instance {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Resident.self, Street.self, StreetMap.self]
    return try Instance(configuration, shelter)
  }

  private func rowCount(_ type: ObjectBase.Type, _ instance: Instance) throws -> Int {
    let core = instance.realm.core
    return try core.rows().count(of: core.binding(of: type).classID)
  }

  private func addResident(_ instance: Instance) throws -> Resident {
    let resident = Resident()
    resident.home = Street("High Street", 7)
    resident.home?.map = StreetMap()
    try instance.write { instance.realm.add(resident) }
    return resident
  }

  @Test func anEmbeddedObjectBecomesManagedWithItsParent() throws {
    let a = try open()
    let resident = try addResident(a)
    let home = try #require(resident.home)
    #expect(home.realm == a.realm)
    #expect(home.name == "High Street")
    #expect(home.map?.scale == 1)
    #expect(home.inhabitants.map(\.id) == [0])
    try a.write { home.number = 8 }
    #expect(resident.home?.number == 8)
  }

  @Test func assigningAnotherDeletesTheOneThatWasThere() throws {
    let a = try open()
    let resident = try addResident(a)
    let old = try #require(resident.home)
    try a.write { resident.home = Street("Low Street") }
    #expect(old.isInvalidated)
    #expect(resident.home?.name == "Low Street")
    #expect(try rowCount(Street.self, a) == 1)
    #expect(try rowCount(StreetMap.self, a) == 0)
    try a.write { resident.home = nil }
    #expect(try rowCount(Street.self, a) == 0)
  }

  @Test func assigningItToItselfKeepsIt() throws {
    let a = try open()
    let resident = try addResident(a)
    let home = try #require(resident.home)
    try a.write { resident.home = home }
    #expect(!home.isInvalidated)
    #expect(resident.home?.name == "High Street")
  }

  @Test func deletingTheParentDeletesAllThatIsInIt() throws {
    let a = try open()
    let resident = try addResident(a)
    try a.write { a.realm.delete(resident) }
    #expect(try rowCount(Street.self, a) == 0)
    #expect(try rowCount(StreetMap.self, a) == 0)
  }

  @Test func assigningItToAnotherParentMovesIt() throws {
    let a = try open()
    let resident = try addResident(a)
    let home = try #require(resident.home)
    let other = Resident()
    other.id = 1
    try a.write {
      a.realm.add(other)
      other.office = home
    }
    #expect(resident.home == nil)
    #expect(other.office?.name == "High Street")
    #expect(!home.isInvalidated)
    #expect(home.map != nil)
    try a.write { a.realm.delete(resident) }
    #expect(!home.isInvalidated)
  }

  @Test func itsObserverIsToldThatItWentWithItsParent() throws {
    let a = try open()
    let resident = try addResident(a)
    var calls: [String] = []
    let token = try #require(resident.home).observe { change in
      switch change {
      case .change(let street, let properties): calls.append("\(street.number) \(properties.count)")
      case .deleted: calls.append("deleted")
      case .error(let error): calls.append("\(error)")
      }
    }
    try a.write { resident.home?.number = 12 }
    a.pump()
    try a.write { a.realm.delete(resident) }
    a.pump()
    #expect(calls == ["12 1", "deleted"])
    token.invalidate()
  }

  @Test func valuesByNameMakeEmbeddedObjects() throws {
    let a = try open()
    try a.write {
      let values: [String: Any] = ["id": 4, "home": ["name": "Mill Road", "map": ["scale": 2.5]]]
      a.realm.create(Resident.self, value: values)
    }
    let resident = try #require(a.realm.object(ofType: Resident.self, forPrimaryKey: 4))
    let home = try #require(resident.home)
    #expect(home.name == "Mill Road")
    #expect(home.map?.scale == 2.5)
    try a.write {
      let values: [String: Any] = ["id": 4, "home": ["name": "Mill Road", "number": 3]]
      a.realm.create(Resident.self, value: values, update: .modified)
    }
    #expect(!home.isInvalidated, "with .modified it is the same object")
    #expect(home.number == 3, "with .modified it is the same object")
    try a.write {
      let values: [String: Any] = ["id": 4, "home": ["name": "Mill Road"]]
      a.realm.create(Resident.self, value: values, update: .all)
    }
    #expect(home.isInvalidated, "with .all it is another")
    #expect(resident.home?.number == 0, "with .all it is another")
  }

  @Test func anEmbeddedClassHasNoPrimaryKey() {
    class Keyed: EmbeddedObject {
      @Persisted(primaryKey: true) var id: Int
      override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
    #expect(throws: ModelError.self) { try ClassReflection(Keyed.self) }
  }
}
