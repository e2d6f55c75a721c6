import Foundation
import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// What batches say of each kind of change.
@Suite struct ChangeBatchTests {
  private let shelter: Shelter
  private let instance: Instance
  private var realm: Realm { instance.realm }

  init() throws {
    shelter = try Shelter()
    shelter.moreTypes = [FedDog.self, FedPerson.self, FedNote.self, FedAddress.self, FedRoom.self]
    instance = try shelter.open()
  }

  private func dog(_ id: Int, age: Int = 0) -> FedDog {
    let dog = FedDog()
    dog.id = id
    dog.age = age
    return dog
  }

  private func add(_ ids: Int..., age: Int = 0) throws {
    try realm.write { for id in ids { realm.add(dog(id, age: age)) } }
  }

  private func find(_ id: Int) throws -> FedDog {
    try #require(realm.object(ofType: FedDog.self, forPrimaryKey: id))
  }

  @Test func nothingIsNoBatch() throws {
    let cursor = try MemoryCursor(realm).cursor
    #expect(try cursor.next() == nil)
  }

  @Test func commitsAreMergedIntoOneBatch() throws {
    try add(1, 2, 3)
    let memory = try MemoryCursor(realm)
    try add(4)
    try realm.write { try find(1).name = "Rex" }
    try realm.write { realm.delete(try find(2)) }
    let batch = try #require(try memory.cursor.next())
    let dogs = batch[FedDog.self]
    #expect(dogs.inserted.map(\.id) == [4])
    #expect(dogs.modified.map(\.object.id) == [1])
    #expect(dogs.modified.first?.properties == ["name"])
    #expect(dogs.modified.first?.isModified(\.name) == true)
    #expect(dogs.modified.first?.isModified(\.age) == false)
    #expect(dogs.deleted.map(\.number) == [2])
    #expect(dogs.upserts.map(\.id) == [1, 4])
    #expect(batch.to - batch.from == 3)
    #expect(batch.classNames == ["FedDog"])
    #expect(batch[FedPerson.self].isEmpty)
    #expect(batch.changes.reachesNewest)
    #expect(!batch.isRepeated)
    #expect(batch.fullResync == nil)
  }

  @Test func objectsAreFrozenAndStay() throws {
    let memory = try MemoryCursor(realm)
    try add(1, age: 3)
    let batch = try #require(try memory.cursor.next())
    try realm.write { try find(1).age = 4 }
    #expect(batch[FedDog.self].inserted.map(\.age) == [3])
    #expect(batch[FedDog.self].inserted.first?.isFrozen == true)
  }

  @Test func whatCameAndWentIsNotTold() throws {
    let memory = try MemoryCursor(realm)
    try add(1)
    try realm.write { realm.delete(try find(1)) }
    try add(2)
    let dogs = try #require(try memory.cursor.next())[FedDog.self]
    #expect(dogs.inserted.map(\.id) == [2])
    #expect(dogs.removals == [])
  }

  @Test func whatWasToldAndWentIsTold() throws {
    let memory = try MemoryCursor(realm)
    try add(1)
    #expect(try memory.cursor.next()?[FedDog.self].inserted.map(\.id) == [1])
    try realm.write { realm.delete(try find(1)) }
    try add(2)
    let batch = try #require(try memory.cursor.next())
    #expect(batch.isRepeated)
    #expect(batch[FedDog.self].inserted.map(\.id) == [2])
    #expect(batch[FedDog.self].deleted.map(\.number) == [1])
  }

  @Test func anotherObjectOfTheSameKeyIsReplaced() throws {
    try add(1)
    try realm.write { realm.create(FedPerson.self, value: ["name": "Ann"]) }
    let memory = try MemoryCursor(realm)
    try realm.write { realm.deleteAll() }
    try add(1)
    try realm.write { realm.create(FedPerson.self, value: ["name": "Ann"]) }
    let batch = try #require(try memory.cursor.next())
    #expect(batch[FedDog.self].replaced.map(\.id) == [1])
    #expect(batch[FedPerson.self].replaced.map(\.name) == ["Ann"])
    #expect(batch[FedDog.self].removals == [])
    #expect(batch[FedPerson.self].removals == [])
    #expect(batch[FedPerson.self].inserted.count == 0)
  }

  @Test func deletedObjectsHaveTheirPrimaryKeys() throws {
    try realm.write {
      realm.create(FedPerson.self, value: ["name": "Ann"])
      realm.add(FedPerson())
      realm.create(FedNote.self)
      realm.add(dog(7))
    }
    let note = try #require(realm.objects(FedNote.self).first)
    let memory = try MemoryCursor(realm)
    let number = Int64(note._key)
    try realm.write { realm.deleteAll() }
    let batch = try #require(try memory.cursor.next())
    let people = Set(batch[FedPerson.self].deleted.map(\.primaryKey))
    #expect(people == [.string("Ann"), .null])
    #expect(batch[FedDog.self].deleted.map(\.primaryKey) == [.int(7)])
    #expect(batch[FedNote.self].deleted.map(\.primaryKey) == [nil])
    #expect(batch[FedNote.self].deleted.map(\.objectKey) == [number])
  }

  @Test func objectsLeaveAndEnterASelection() throws {
    try add(1, 2, age: 5)
    try realm.write { try find(2).age = 1 }
    let memory = try MemoryCursor(realm, of: .objects(of: FedDog.self) { $0.age > 3 })
    try realm.write {
      try find(1).age = 2
      try find(2).age = 9
    }
    let dogs = try #require(try memory.cursor.next())[FedDog.self]
    #expect(dogs.left.map(\.number) == [1])
    #expect(dogs.upserts.map(\.id) == [2])
  }

  /// With old values only objects that matched before leave a selection or are deleted.
  @Test func oldValuesTellWhatMatched() throws {
    try add(1, 2, 3, 4, 5, age: 5)
    try realm.write { for id in [2, 4] { try find(id).age = 1 } }
    let memory = try MemoryCursor(
      realm, of: .objects(of: FedDog.self) { $0.age > 3 }, keeping: .oldValues)
    try realm.write {
      try find(1).age = 2
      try find(2).age = 9
      try find(5).age = 6
      realm.delete(try find(3))
      realm.delete(try find(4))
    }
    let dogs = try #require(try memory.cursor.next())[FedDog.self]
    #expect(dogs.left.map(\.number) == [1])
    #expect(dogs.entered.map(\.object.id) == [2])
    #expect(dogs.modified.map(\.object.id) == [5])
    let old = dogs.modified.map { $0.oldValues["age"] }
    #expect(old == [.int(5)])
    #expect(dogs.deleted.map(\.number) == [3])
    let rex = try #require(dogs.deleted.first)
    let last = dogs.oldValues(of: rex)["age"]
    #expect(last == .int(5))
  }

  @Test func objectsThatNeverMatchedAreNotTold() throws {
    try add(1, age: 1)
    let memory = try MemoryCursor(
      realm, of: .objects(of: FedDog.self) { $0.age > 3 }, keeping: .oldValues)
    try realm.write { try find(1).age = 2 }
    #expect(try memory.cursor.next() == nil)
  }

  @Test func aLinkedObjectDecides() throws {
    try realm.write {
      let ann = realm.create(FedPerson.self, value: ["name": "Ann", "rank": 1])
      realm.add(dog(1))
      try find(1).owner = ann
    }
    let memory = try MemoryCursor(realm, of: .objects(of: FedDog.self) { $0.owner.rank > 3 })
    let ann = try #require(realm.objects(FedPerson.self).first)
    try realm.write { ann.rank = 4 }
    let entered = try #require(try memory.cursor.next())
    #expect(entered[FedDog.self].entered.map(\.object.id) == [1])
    #expect(entered[FedDog.self].entered.first?.properties == [])
    try entered.acknowledge()
    try realm.write { ann.rank = 0 }
    #expect(try memory.cursor.next()?[FedDog.self].left.map(\.number) == [1])
  }

  @Test func embeddedObjectsBelongToTheirProperty() throws {
    try add(1)
    try realm.write {
      try find(1).kennel = FedAddress()
      try find(1).kennel?.room = FedRoom()
    }
    let memory = try MemoryCursor(realm)
    try realm.write { try find(1).kennel?.room?.number = 4 }
    let batch = try #require(try memory.cursor.next())
    #expect(batch[FedDog.self].modified.map(\.properties) == [["kennel"]])
    #expect(batch.classNames == ["FedDog"])
  }

  @Test func collectionsTellTheirEdits() throws {
    try add(1)
    try realm.write { try find(1).tags.append(objectsIn: ["a", "b", "c"]) }
    let memory = try MemoryCursor(realm)
    try realm.write {
      let tags = try find(1).tags
      tags.remove(at: 0)
      tags.append("d")
      tags[0] = "B"
    }
    let dogs = try #require(try memory.cursor.next())[FedDog.self]
    let edit = try #require(dogs.modified.first?.edit(of: \.tags))
    #expect(edit.deletions == [0])
    #expect(edit.insertions == [2])
    #expect(edit.modifications == [0])
    #expect(edit.oldCount == 3)
    #expect(edit.newCount == 3)
    #expect(dogs.modified.first?.edit(of: "age") == nil)
  }

  /// A selected property has its embedded objects whole, and a path selects within them.
  @Test func keyPathsSelectEmbeddedObjects() throws {
    try add(1)
    try realm.write {
      try find(1).kennel = FedAddress()
      try find(1).kennel?.room = FedRoom()
    }
    let whole = try MemoryCursor(
      realm, of: .objects(of: FedDog.self, keyPaths: ["kennel"]), keeping: .oldValues)
    let city = try MemoryCursor(
      realm, of: .objects(of: FedDog.self, keyPaths: ["kennel.city"]), keeping: .oldValues)
    let room = try MemoryCursor(
      realm, of: .objects(of: FedDog.self, keyPaths: ["kennel.room"]), keeping: .oldValues)
    try realm.write { try find(1).kennel?.room?.number = 4 }
    let batch = try #require(try whole.cursor.next())
    #expect(batch[FedDog.self].modified.map(\.properties) == [["kennel"]])
    let old = batch[FedDog.self].modified.first?.oldValues["kennel"]
    guard case .embedded(let kennel) = old, case .embedded(let former) = kennel["room"] else {
      Issue.record("no old value: \(String(describing: old))")
      return
    }
    #expect(former["number"] == .int(0))
    #expect(try city.cursor.next() == nil)
    #expect(try room.cursor.next()?[FedDog.self].modified.map(\.properties) == [["kennel"]])
    try realm.write { try find(1).kennel?.city = "Bonn" }
    #expect(try city.cursor.next()?[FedDog.self].modified.map(\.properties) == [["kennel"]])
    try batch.acknowledge()
    #expect(try whole.cursor.next()?[FedDog.self].modified.count == 1)
  }

  @Test func keyPathsNarrowWhatIsTold() throws {
    try add(1)
    let memory = try MemoryCursor(realm, of: .objects(of: FedDog.self, keyPaths: ["name"]))
    try realm.write { try find(1).age = 2 }
    #expect(try memory.cursor.next() == nil)
    try realm.write { try find(1).name = "Rex" }
    let batch = try #require(try memory.cursor.next())
    #expect(batch[FedDog.self].modified.map(\.properties) == [["name"]])
  }

  @Test func aLimitEndsABatchEarlier() throws {
    let memory = try MemoryCursor(realm)
    try add(1, age: 1)
    try realm.write { try find(1).age = 2 }
    try add(2)
    try realm.write { realm.delete(try find(2)) }
    let first = try #require(try memory.cursor.next(limit: .everyCommit))
    #expect(first[FedDog.self].inserted.map(\.age) == [2])
    #expect(!first.changes.reachesNewest)
    try first.acknowledge()
    let two = try #require(try memory.cursor.next(limit: BatchLimit(commits: 2)))
    #expect(two[FedDog.self].modified.map(\.object.id) == [1])
    #expect(two[FedDog.self].gone.map(\.number) == [2])
    #expect(two.to - two.from == 2)
  }

  @Test func eachCommitPassesOverOthers() throws {
    let memory = try MemoryCursor(realm, of: .objects(of: FedDog.self))
    for _ in 0..<3 { try realm.write { realm.create(FedNote.self) } }
    #expect(try memory.cursor.next() == nil)
    try add(1)
    try add(2)
    let batch = try #require(try memory.cursor.next(limit: .everyCommit))
    #expect(batch.to - batch.from == 4)
    #expect(batch[FedDog.self].inserted.map(\.id) == [1])
  }

  @Test func aVersionIsReachedExactly() throws {
    let memory = try MemoryCursor(realm, of: .objects(of: FedDog.self))
    let start = memory.keeper.kept.acknowledged.version.rawValue
    try realm.write { realm.create(FedNote.self) }
    try add(1)
    #expect(try memory.cursor.next(through: start + 3) == nil)
    let batch = try #require(try memory.cursor.next(through: start + 1))
    #expect(batch.to == start + 1)
    #expect(batch.isEmpty)
    try batch.acknowledge()
    #expect(try memory.cursor.next(through: start + 1) == nil)
    #expect(try memory.cursor.next(through: start + 2)?.changes.isEmpty == false)
  }

  @Test func manyCommitsOfOtherClassesAreAnEmptyBatch() throws {
    let memory = try MemoryCursor(realm, of: .objects(of: FedDog.self))
    for _ in 0..<ChangeCursor.emptyCommits { try realm.write { realm.create(FedNote.self) } }
    let batch = try #require(try memory.cursor.next())
    #expect(batch.isEmpty)
    try batch.acknowledge()
    #expect(try memory.cursor.next() == nil)
  }

  @Test func onlyTheNextBatchIsAcknowledged() throws {
    let memory = try MemoryCursor(realm)
    try add(1)
    let first = try #require(try memory.cursor.next())
    try first.acknowledge()
    #expect(throws: Realm.Error.invalidInput) { try first.acknowledge() }
  }

  @Test func aClosedCursorTellsNothing() throws {
    let memory = try MemoryCursor(realm)
    try add(1)
    let batch = try #require(try memory.cursor.next())
    memory.cursor.close()
    #expect(memory.cursor.isClosed)
    #expect(memory.keeper.releaseCount == 1)
    #expect(throws: Realm.Error.fail) { try memory.cursor.next() }
    #expect(throws: Realm.Error.fail) { try batch.acknowledge() }
  }

  @Test func toolsReadClassesByName() throws {
    let memory = try MemoryCursor(realm, of: .objects(ofClass: "FedDog", filter: "age > 1"))
    try add(1, age: 1)
    try add(2, age: 2)
    let batch = try #require(try memory.cursor.next())
    let dogs = batch.changes(ofClass: "FedDog")
    #expect(dogs.inserted.map { $0["id"] as? Int } == [2])
    #expect(batch.objects(ofClass: "FedDog").count == 1)
  }

  @Test func positionsAreText() throws {
    let memory = try MemoryCursor(realm)
    try add(1)
    let position = try #require(try memory.cursor.next()).position
    #expect(ChangePosition(position.description) == position)
    #expect(ChangePosition("x") == nil)
    let data = try JSONEncoder().encode(position)
    #expect(try JSONDecoder().decode(ChangePosition.self, from: data) == position)
  }

  @Test func versionsAreCompared() throws {
    let memory = try MemoryCursor(realm)
    let start = memory.keeper.kept.acknowledged.version.rawValue
    try add(1)
    try add(2)
    let changes = try realm.changes(from: start, to: start + 1)
    #expect(changes[FedDog.self].inserted.map(\.id) == [1])
    #expect(try realm.changes(from: start, to: start).isEmpty)
    #expect(throws: Realm.Error.invalidInput) { try realm.changes(from: start, to: start + 3) }
    #expect(throws: Realm.Error.invalidInput) { try realm.changes(from: start + 1, to: start) }
  }
}

extension ObjectIdentity {
  /// An integer primary key.
  fileprivate var number: Int? { key() }
}
