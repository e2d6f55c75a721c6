import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// Which objects begin and cease to be selected, and what a cursor keeps to know that.
@Suite struct SelectionKindTests {
  private let shelter: Shelter
  private let instance: Instance
  private var realm: Realm { instance.realm }
  private let selection = CursorSelection.objects(of: FedDog.self) { $0.age > 3 }

  init() throws {
    shelter = try Shelter()
    shelter.moreTypes = [FedDog.self, FedPerson.self, FedNote.self, FedAddress.self, FedRoom.self]
    instance = try shelter.open()
  }

  private func add(_ ids: ClosedRange<Int>, age: Int = 0) throws {
    try realm.write {
      for id in ids { realm.create(FedDog.self, value: ["id": id, "age": age]) }
    }
  }

  private func find(_ id: Int) throws -> FedDog {
    try #require(realm.object(ofType: FedDog.self, forPrimaryKey: id))
  }

  private func level(of name: String) throws -> OldValueLevel? {
    try realm.core.store.cursors().first { $0.record.name == name }?.record.level
  }

  /// It begins to match, and something else changes in it.
  private func enter(_ id: Int) throws {
    try realm.write {
      try find(id).age = 9
      try find(id).name = "Rex"
    }
  }

  // MARK: - Entered

  @Test func aCursorWithAConditionKeepsOldValues() throws {
    try add(1...2)
    let cursor = try realm.cursor("a", of: selection)
    #expect(try level(of: "a") == .oldValues)
    try enter(1)
    let dogs = try #require(try cursor.next())[FedDog.self]
    #expect(dogs.entered.map(\.object.id) == [1])
    #expect(dogs.modified.isEmpty)
    _ = try realm.cursor("b", of: .objects(of: FedDog.self, keyPaths: ["age"]))
    #expect(try level(of: "b") == .keys)
    _ = try realm.cursor("c", of: selection, keeping: .keys)
    #expect(try level(of: "c") == .keys)
  }

  @Test func conditionsBehindLinksKeepOldValuesOfOtherClasses() throws {
    try add(1...2)
    try realm.write {
      let ann = realm.create(FedPerson.self, value: ["name": "Ann", "rank": 5])
      try find(2).owner = ann
    }
    let cursor = try realm.cursor("a", of: .objects(of: FedDog.self) { $0.owner.rank > 3 })
    let record = try #require(try realm.core.store.cursors().first).record
    #expect(record.related == ["FedPerson"])
    let ann = try #require(realm.objects(FedPerson.self).first)
    try realm.write {
      try find(1).owner = ann
      ann.rank = 4
    }
    let dogs = try #require(try cursor.next())[FedDog.self]
    #expect(dogs.entered.map(\.object.id) == [1])
    #expect(dogs.modified.isEmpty)
    #expect(dogs.left == [])
  }

  /// A change of a backlink is one of its target, but it is read from the objects that link.
  @Test func conditionsOnBacklinksKeepOldValuesOfTheirOrigins() throws {
    try add(1...2)
    let ann = try realm.write { realm.create(FedPerson.self, value: ["name": "Ann"]) }
    try realm.write { try find(1).owner = ann }
    let filter = "@links.FedDog.owner.@count > 1"
    let cursor = try realm.cursor("a", of: .objects(ofClass: "FedPerson", filter: filter))
    let record = try #require(try realm.core.store.cursors().first).record
    #expect(record.related == ["FedDog"])
    try realm.write { try find(2).owner = ann }
    let batch = try #require(try cursor.next())
    #expect(batch[FedPerson.self].entered.map(\.object.name) == ["Ann"])
    try batch.acknowledge()
    try realm.write { try find(1).age = 7 }
    #expect(try cursor.next() == nil)
    try realm.write { try find(1).owner = nil }
    #expect(try cursor.next()?[FedPerson.self].left.count == 1)
  }

  /// Without old values an object that may have begun to match is not hidden among others.
  @Test func withoutOldValuesNoneIsMissed() throws {
    try add(1...1)
    try add(2...3, age: 5)
    let cursor = try realm.cursor("a", of: selection, keeping: .keys)
    try enter(1)
    try realm.write {
      try find(2).age = 6
      try find(3).name = "Fido"
    }
    let dogs = try #require(try cursor.next())[FedDog.self]
    #expect(dogs.entered.map(\.object.id) == [1, 2])
    // Nothing that the condition reads has changed in it.
    #expect(dogs.modified.map(\.object.id) == [3])
  }

  @Test func withoutOldValuesOtherChangesLeaveNothing() throws {
    try add(1...1)
    let cursor = try realm.cursor("a", of: selection, keeping: .keys)
    try realm.write { try find(1).name = "Rex" }
    #expect(try cursor.next() == nil)
  }

  /// Commits before the cursor asked for old values did not keep them.
  @Test func aBatchThatSpansAnUpgradeMissesNone() throws {
    try add(1...1)
    try add(2...2, age: 5)
    try realm.cursor("a", of: selection, keeping: .keys).close()
    try enter(1)
    let cursor = try realm.cursor("a", of: selection)
    try enter(2)
    let dogs = try #require(try cursor.next())[FedDog.self]
    #expect(dogs.entered.map(\.object.id) == [1, 2])
    try cursor.next()?.acknowledge()
    try realm.write { try find(2).age = 8 }
    let next = try #require(try cursor.next())[FedDog.self]
    #expect(next.modified.map(\.object.id) == [2])
    #expect(next.entered.isEmpty)
  }

  // MARK: - Replaced

  @Test func newObjectsOfAnEmptiedClassAreInserted() throws {
    try realm.write {
      realm.create(FedPerson.self, value: ["name": "Ann"])
      realm.create(FedPerson.self, value: ["name": "Bob"])
    }
    try add(1...2)
    let start = try realm.core.store.newestSnapshot()
    let memory = try MemoryCursor(realm)
    for _ in 1...2 {
      try realm.write { realm.deleteAll() }
      try add(2...3)
      try realm.write {
        for name in ["Bob", "Cid", "Dan"] {
          realm.create(FedPerson.self, value: ["name": name])
        }
      }
    }
    try realm.write {
      realm.delete(realm.objects(FedPerson.self).where { $0.name == "Dan" })
    }
    let batch = try #require(try memory.cursor.next())
    let end = try realm.core.store.newestSnapshot().version.rawValue
    let compared = try realm.changes(from: start.version.rawValue, to: end)
    for changes in [batch.changes, compared] {
      let (dogs, people) = (changes[FedDog.self], changes[FedPerson.self])
      #expect(dogs.inserted.map(\.id) == [3])
      #expect(dogs.replaced.map(\.id) == [2])
      #expect(dogs.deleted.map(\.primaryKey) == [.int(1)])
      #expect(people.inserted.map(\.name) == ["Cid"])
      #expect(people.replaced.map(\.name) == ["Bob"])
      #expect(people.deleted.map(\.primaryKey) == [.string("Ann")])
    }
  }

  @Test func anObjectWhoseFormerWasNotSelectedIsInserted() throws {
    try add(1...2, age: 1)
    try add(3...3, age: 9)
    let cursor = try realm.cursor("a", of: selection)
    try realm.write { for id in 1...3 { realm.delete(try find(id)) } }
    try add(1...1, age: 9)
    try add(2...3, age: 2)
    let dogs = try #require(try cursor.next())[FedDog.self]
    #expect(dogs.inserted.map(\.id) == [1])
    #expect(dogs.replaced.map(\.id) == [])
    #expect(dogs.left.map(\.primaryKey) == [.int(3)])
    #expect(dogs.deleted == [])
  }
}
