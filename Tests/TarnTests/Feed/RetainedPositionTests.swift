import Foundation
import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// Positions and versions whose records are in the file, and those whose records are not.
@Suite struct RetainedPositionTests {
  private let shelter: Shelter
  private let instance: Instance
  private var realm: Realm { instance.realm }
  private var store: Store { realm.core.store }

  init() throws {
    shelter = try Shelter()
    shelter.moreTypes = [FedDog.self, FedPerson.self, FedNote.self, FedAddress.self, FedRoom.self]
    instance = try shelter.open()
  }

  private func add(_ ids: ClosedRange<Int>) throws {
    for id in ids { try realm.write { realm.create(FedDog.self, value: ["id": id]) } }
  }

  private func newestPosition() throws -> ChangePosition {
    ChangePosition(FeedPlace(try store.newestSnapshot().head))
  }

  // MARK: - Versions

  @Test func versionsWithoutRecordsAreNamed() throws {
    try realm.setRetention(Retention(versions: 3))
    try add(1...8)
    try store.pruneUnneeded()
    let newest = try store.newestSnapshot().version.rawValue
    #expect(try realm.changes(from: newest - 3, to: newest)[FedDog.self].inserted.count == 3)
    #expect(try realm.changes(from: newest - 6, to: newest - 6).isEmpty)
    for to in [newest - 3, newest] {
      let error = #expect(throws: Realm.Error.invalidInput) {
        try realm.changes(from: newest - 4, to: to)
      }
      let text =
        "The change records after version \(newest - 4) are no longer all in the file: "
        + "the oldest version to compare with is \(newest - 3)."
      #expect(error?.message.hasPrefix(text) == true, "\(String(describing: error))")
    }
  }

  /// A position that is kept elsewhere retains nothing.
  @Test func aPositionWithoutRecordsHasExpired() throws {
    try realm.setRetention(Retention(versions: 1))
    try add(1...2)
    let place = FeedPlace(try store.newestSnapshot().head)
    try add(3...9)
    try store.pruneUnneeded()
    let memory = try MemoryCursor(realm)
    memory.keeper.kept.acknowledged = place
    #expect(try memory.cursor.next()?.fullResync == .expired)
  }

  // MARK: - New cursors

  @Test func aNewCursorBeginsAtThePositionOfItsConsumer() throws {
    try realm.setRetention(Retention(versions: 10))
    try add(1...2)
    let position = try newestPosition()
    try add(3...4)
    for (name, start) in [("a", CursorStart.newest), ("b", .oldest)] {
      let cursor = try realm.cursor(name, startingAt: start, expecting: position)
      let batch = try #require(try cursor.next())
      #expect(batch.fullResync == nil)
      #expect(!batch.isRepeated)
      #expect(batch[FedDog.self].inserted.map(\.id) == [3, 4])
      try batch.acknowledge()
      #expect(try cursor.next() == nil)
    }
    let newest = try newestPosition()
    #expect(try realm.cursor("c", expecting: newest).next() == nil)
    let snapshot = try realm.cursor("d", startingAt: .snapshot, expecting: position)
    #expect(try snapshot.next()?.fullResync == .snapshot)
  }

  @Test func aNewCursorWithAPositionWithoutRecordsHasExpired() throws {
    try realm.setRetention(Retention(versions: 2))
    try add(1...2)
    let position = try newestPosition()
    try add(3...9)
    try store.pruneUnneeded()
    let cursor = try realm.cursor("a", expecting: position)
    let batch = try #require(try cursor.next())
    #expect(batch.fullResync == .expired)
    #expect(batch.objects(FedDog.self).count == 9)
    try batch.acknowledge()
    #expect(try cursor.next() == nil)
  }

  @Test func aNewCursorWithAPositionOfAnotherFileIsRestored() throws {
    try realm.setRetention(Retention(versions: 10))
    try add(1...2)
    let known = try newestPosition()
    try add(3...4)
    let other = try #require(ChangePosition("\(known.historyID)/\(known.version)/1"))
    #expect(try realm.cursor("a", expecting: other).next()?.fullResync == .restored)
    let later = try #require(ChangePosition("\(known.historyID)/\(known.version + 9)/1"))
    #expect(try realm.cursor("b", expecting: later).next()?.fullResync == .restored)
    let elsewhere = try #require(ChangePosition("\(UUID())/1/1"))
    let moved = try realm.cursor("c", startingAt: .snapshot, expecting: elsewhere)
    let batch = try #require(try moved.next())
    #expect(batch.fullResync == .restored)
    try batch.acknowledge()
    try add(5...5)
    #expect(try moved.next()?.fullResync == nil)
  }

  // MARK: - Repeated

  /// A batch that is made and not delivered is not repeated later.
  @Test func onlyDeliveriesAreRepeated() throws {
    let cursor = try realm.cursor("a")
    try add(1...3)
    let first = try #require(try cursor.nextToDeliver(limit: .everyCommit, isExact: false))
    #expect(!first.isRepeated)
    let again = try #require(try cursor.nextToDeliver(limit: .everyCommit, isExact: false))
    #expect(!again.isRepeated)
    again.noteDelivery()
    let repeated = try #require(try cursor.nextToDeliver(limit: .everyCommit, isExact: false))
    #expect(repeated.isRepeated)
    try repeated.acknowledge()
    #expect(try cursor.nextToDeliver(limit: .everyCommit, isExact: false)?.isRepeated == false)
  }

  /// The owner before was killed, and has noted how far it had delivered.
  @Test func notedDeliveriesBoundWhatIsRepeated() throws {
    try realm.cursor("a").close()
    try add(1...2)
    // An owner that neither closes nor acknowledges anything.
    let killed = try store.openCursor(CursorRequest("a"))
    let delivered = try newestPosition()
    try add(3...6)
    killed.release()
    let cursor = try realm.cursor(
      "a", of: .wholeRealm, startingAt: .newest, keeping: nil, limit: nil, expecting: nil,
      delivered: delivered, waiting: .zero, taking: false
    ) { held, _ throws(StorageError) in held }
    var repeated: [Bool] = []
    while let batch = try cursor.next(limit: .everyCommit) {
      repeated.append(batch.isRepeated)
      try batch.acknowledge()
    }
    #expect(repeated == [true, true, false, false, false, false])
  }
}
