import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// When a cursor asks its consumer for a full resync, once.
@Suite struct FullResyncTests {
  private let shelter: Shelter
  private let instance: Instance
  private var realm: Realm { instance.realm }

  init() throws {
    shelter = try Shelter()
    shelter.moreTypes = [FedDog.self, FedPerson.self, FedNote.self, FedAddress.self, FedRoom.self]
    instance = try shelter.open()
    try add(1)
  }

  private func add(_ id: Int) throws {
    try realm.write { realm.create(FedDog.self, value: ["id": id]) }
  }

  /// The reason, the objects to begin with, and that all goes on normally after it.
  private func check(_ memory: MemoryCursor, _ reason: FullResyncReason) throws {
    let batch = try #require(try memory.cursor.next())
    #expect(batch.fullResync == reason)
    #expect(batch.snapshot != nil)
    let count = realm.objects(FedDog.self).count
    #expect(batch.objects(FedDog.self).count == count)
    let selected = try batch.selectedObjects(ofClass: "FedDog")
    #expect(try (0..<selected.count).map { try selected.object(at: $0).values }.count == count)
    #expect(try memory.cursor.next()?.fullResync == reason, "until it is acknowledged")
    try batch.acknowledge()
    #expect(try memory.cursor.next() == nil)
    try add(100)
    let next = try #require(try memory.cursor.next())
    #expect(next.fullResync == nil)
    #expect(next[FedDog.self].inserted.map(\.id) == [100])
  }

  @Test(arguments: FeedReason.allCases)
  func theFileKnowsWhy(_ reason: FeedReason) throws {
    try check(MemoryCursor(realm, reason: reason), FullResyncReason(reason))
  }

  @Test(arguments: FeedReason.allCases)
  func theProgramKnowsWhy(_ reason: FeedReason) throws {
    try check(MemoryCursor(realm, pending: reason), FullResyncReason(reason))
  }

  @Test func aCancelledWriteDoesNotEndTheReason() throws {
    let memory = try MemoryCursor(realm, pending: .restored)
    let place = memory.keeper.kept.acknowledged
    let batch = try #require(try memory.cursor.next())
    realm.beginWrite()
    try batch.acknowledge()
    realm.cancelWrite()
    memory.keeper.kept.acknowledged = place
    #expect(try memory.cursor.next()?.fullResync == .restored)
    try realm.write {
      realm.create(FedDog.self, value: ["id": 2])
      try batch.acknowledge()
    }
    #expect(try memory.cursor.next()?.fullResync == nil)
  }

  @Test func aMigration() throws {
    let memory = try MemoryCursor(realm)
    try add(2)
    try migrate()
    let before = try #require(try memory.cursor.next())
    #expect(before.fullResync == nil)
    #expect(before[FedDog.self].inserted.map(\.id) == [2])
    try before.acknowledge()
    try check(memory, .schema)
  }

  @Test(arguments: [OldValueLevel.keys, .oldValues])
  func aMigrationAfterCommitsThatAreNotSelected(_ level: OldValueLevel) throws {
    let memory = try MemoryCursor(realm, of: .objects(of: FedDog.self), keeping: level)
    try realm.write { realm.create(FedNote.self) }
    try migrate()
    try check(memory, .schema)
  }

  @Test func `a migration after changes of embedded objects, whose old values are kept`() throws {
    let dog = try #require(realm.object(ofType: FedDog.self, forPrimaryKey: 1))
    try realm.write { dog.kennel = FedAddress(value: ["city": "here"]) }
    let memory = try MemoryCursor(realm, keeping: .oldValues)
    try realm.write { dog.kennel?.city = "there" }
    try migrate()
    let before = try #require(try memory.cursor.next())
    #expect(before.fullResync == nil)
    #expect(before[FedDog.self].upserts.map(\.id) == [1])
    try before.acknowledge()
    try check(memory, .schema)
  }

  /// What a migration records; the classes stay as they are.
  private func migrate() throws {
    try realm.core.store.write { $0.recorder.changeSchema() }
    realm.refresh()
  }

  @Test func aLostRecord() throws {
    let memory = try MemoryCursor(realm)
    try add(2)
    let store = realm.core.store
    let version = try store.newestSnapshot().version
    try store.environment.write { transaction throws(StorageError) in
      _ = try TreeKey.changeHeader(version).withBytes { key throws(StorageError) in
        try transaction.delete(key)
      }
    }
    try check(memory, .unreadable)
  }

  @Test func aPositionOfAnotherHistory() throws {
    let memory = try MemoryCursor(realm)
    var place = memory.keeper.kept.acknowledged
    place.historyID.low &+= 1
    memory.keeper.kept = FeedState(acknowledged: place, reason: nil)
    try add(2)
    try check(memory, .restored)
  }

  @Test func aPositionThatTheFileHasNotReached() throws {
    let memory = try MemoryCursor(realm)
    var place = memory.keeper.kept.acknowledged
    place.version = Version(place.version.rawValue + 5)
    memory.keeper.kept = FeedState(acknowledged: place, reason: nil)
    try check(memory, .restored)
  }

  @Test func anotherCommitOfTheSameVersion() throws {
    let memory = try MemoryCursor(realm)
    var place = memory.keeper.kept.acknowledged
    place.commitID &+= 1
    memory.keeper.kept = FeedState(acknowledged: place, reason: nil)
    try check(memory, .restored)
  }
}
