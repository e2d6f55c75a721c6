import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// Cursors in a file.
@Suite struct CursorTests {
  private let shelter: Shelter
  private let instance: Instance
  private var realm: Realm { instance.realm }

  init() throws {
    shelter = try Shelter()
    shelter.moreTypes = [FedDog.self, FedPerson.self, FedNote.self, FedAddress.self, FedRoom.self]
    instance = try shelter.open()
  }

  private func add(_ id: Int) throws {
    try realm.write { realm.create(FedDog.self, value: ["id": id]) }
  }

  private func told(_ cursor: ChangeCursor) throws -> [Int]? {
    try cursor.next().map { $0[FedDog.self].upserts.map(\.id) }
  }

  @Test func itGoesOnWhereItEnded() throws {
    let first = try realm.cursor("a")
    try add(1)
    try first.next()?.acknowledge()
    try add(2)
    first.close()
    try add(3)
    #expect(try told(realm.cursor("a")) == [2, 3])
  }

  @Test func onlyWhatMayHaveBeenDeliveredIsRepeated() throws {
    let first = try realm.cursor("a")
    try add(1)
    try first.next()?.acknowledge()
    first.close()
    try add(2)
    let second = try realm.cursor("a")
    #expect(try second.next()?.isRepeated == false)
    #expect(try second.next()?.isRepeated == true)
    second.close()
    try add(3)
    let third = try realm.cursor("a")
    #expect(try third.next()?.isRepeated == true)
    try third.next()?.acknowledge()
    // A write that is open here keeps the note from being made, and is not waited for.
    try realm.write { third.close() }
    try add(4)
    #expect(try realm.cursor("a").next()?.isRepeated == true)
  }

  @Test func whatWasDeliveredAndWentAgainIsDeleted() throws {
    try add(1)
    let first = try realm.cursor("a")
    try add(2)
    _ = try first.next()
    first.close()
    try realm.write { realm.delete(realm.objects(FedDog.self)[1]) }
    // Nothing has changed since the acknowledged version, but the consumer may have the dog.
    let batch = try #require(try realm.cursor("a").next())
    #expect(batch[FedDog.self].deleted.count == 1)
  }

  @Test func itBeginsWithASnapshotOnce() throws {
    try add(1)
    let cursor = try realm.cursor("a", startingAt: .snapshot)
    let batch = try #require(try cursor.next())
    #expect(batch.fullResync == .snapshot)
    #expect(batch.objects(FedDog.self).map(\.id) == [1])
    try batch.acknowledge()
    #expect(try cursor.next() == nil)
  }

  @Test func anEffectInTheFileIsExactlyOnce() throws {
    let cursor = try realm.cursor("a")
    try add(1)
    let batch = try #require(try cursor.next())
    try realm.write(as: cursor) {
      realm.create(FedNote.self)
      try batch.acknowledge()
    }
    #expect(try cursor.next() == nil)
    try realm.write(as: cursor) { realm.create(FedNote.self) }
    #expect(try cursor.next() == nil)
    try add(2)
    #expect(try told(cursor) == [2])
  }

  @Test func aCancelledWriteAcknowledgesNothing() throws {
    let cursor = try realm.cursor("a")
    try add(1)
    let batch = try #require(try cursor.next())
    realm.beginWrite()
    realm.create(FedNote.self)
    try batch.acknowledge()
    realm.cancelWrite()
    #expect(try told(cursor) == [1])
  }

  @Test func anotherSelectionBeginsAnew() throws {
    try realm.cursor("a", of: .objects(of: FedDog.self) { $0.age > 3 }).close()
    let same = try realm.cursor("a", of: .objects(of: FedDog.self) { $0.age > 3 })
    #expect(try same.next() == nil)
    same.close()
    let other = try realm.cursor("a", of: .objects(of: FedDog.self) { $0.age > 4 })
    #expect(try other.next()?.fullResync == .selection)
  }

  @Test func aPositionIsGivenBack() throws {
    let first = try realm.cursor("a")
    try add(1)
    let position = try #require(try first.next()).position
    first.close()
    try add(2)
    // What the consumer has is not told again, although it was not acknowledged.
    let second = try realm.cursor("a", expecting: position)
    let batch = try #require(try second.next())
    #expect(batch[FedDog.self].inserted.map(\.id) == [2])
    #expect(!batch.isRepeated)
    second.close()
    let elsewhere = try #require(ChangePosition("\(position.historyID)/\(position.version)/0"))
    let third = try realm.cursor("a", expecting: elsewhere)
    #expect(try third.next()?.fullResync == .restored)
    try third.next()?.acknowledge()
    #expect(try third.next() == nil)
  }

  @Test func itHasOneOwner() throws {
    let first = try realm.cursor("a")
    #expect(throws: Realm.Error.busy) { try realm.cursor("a") }
    first.close()
    #expect(throws: Never.self) { try realm.cursor("a") }
  }
}
