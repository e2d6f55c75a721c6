import Foundation
import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// Files that are put back to an earlier state, and records that are damaged.
@Suite struct RestoredFileTests {
  private let folder = TemporaryFolder()

  private func configuration(_ name: String) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file(name)),
      objectTypes: [
        FedDog.self, FedPerson.self, FedNote.self, FedAddress.self, FedRoom.self,
      ], durability: .relaxed)
  }

  private func copy(_ name: String, to other: String) throws {
    try FileManager.default.copyItem(atPath: folder.file(name), toPath: folder.file(other))
  }

  private func add(_ ids: ClosedRange<Int>, to realm: Realm) throws {
    for id in ids { try realm.write { realm.create(FedDog.self, value: ["id": id]) } }
  }

  /// Adds, reports and acknowledges some dogs, and returns the position.
  private func consume(_ ids: ClosedRange<Int>, _ realm: Realm) throws -> ChangePosition {
    let cursor = try realm.cursor("a")
    defer { cursor.close() }
    try add(ids, to: realm)
    let batch = try #require(try cursor.next())
    #expect(batch[FedDog.self].inserted.count == ids.count)
    try batch.acknowledge()
    return batch.position
  }

  @Test func thePositionTellsThatTheFileIsOlder() throws {
    let late: ChangePosition
    do {
      let realm = try Realm(configuration: configuration("a.realm"), queue: nil)
      _ = try consume(1...3, realm)
      try copy("a.realm", to: "backup.realm")
      late = try consume(4...6, realm)
    }
    let restored = try Realm(configuration: configuration("backup.realm"))
    let batch = try #require(try restored.cursor("a", expecting: late).next())
    #expect(batch.fullResync == .restored)
    #expect(batch.objects(FedDog.self).map(\.id) == [1, 2, 3])
    try batch.acknowledge()
    try add(7...7, to: restored)
    let next = try restored.cursor("a", expecting: batch.position, taking: true).next()
    #expect(next?.fullResync == nil)
    #expect(next?[FedDog.self].inserted.map(\.id) == [7])
  }

  @Test func withoutAPositionAnOlderFileLooksLikeItself() throws {
    do {
      let realm = try Realm(configuration: configuration("a.realm"))
      _ = try consume(1...3, realm)
      try copy("a.realm", to: "backup.realm")
      _ = try consume(4...6, realm)
    }
    let restored = try Realm(configuration: configuration("backup.realm"))
    #expect(try restored.cursor("a").next() == nil)
  }

  /// Both copies went on: their versions have the same numbers, and other commits.
  @Test func copiesThatWentOnAreToldApart() throws {
    let other: ChangePosition
    do {
      let realm = try Realm(configuration: configuration("a.realm"))
      _ = try consume(1...3, realm)
      try copy("a.realm", to: "b.realm")
      other = try consume(4...6, realm)
    }
    let copy = try Realm(configuration: configuration("b.realm"))
    try add(7...12, to: copy)
    let batch = try #require(try copy.cursor("a", expecting: other).next())
    #expect(batch.fullResync == .restored)
    #expect(batch.objects(FedDog.self).count == 9)
  }

  /// A byte of a record that the cursor needs, the newest one or an older one: one full resync,
  /// then the cursor goes on, and so do writers.
  @Test(arguments: [KeptValues.keys, .oldValues], [false, true])
  func aDamagedRecordIsReportedOnce(_ values: KeptValues, isNewest: Bool) throws {
    let realm = try Realm(configuration: configuration("a.realm"))
    try add(1...3, to: realm)
    let cursor = try realm.cursor("a", keeping: values)
    let store = realm.core.store
    var starts = 0
    for round in 0..<12 {
      try realm.write {
        realm.objects(FedDog.self).first?.name = "name \(round)"
        realm.objects(FedDog.self).last?.tags.append("tag")
      }
      var version = try store.newestSnapshot().version
      try add(10 + round...10 + round, to: realm)
      if isNewest { version = version.next }
      try store.damageRecord(of: version, at: round * 7)
      let batch = try #require(try cursor.next())
      #expect(batch.fullResync == .unreadable, "round \(round)")
      starts += 1
      #expect(batch.objects(FedDog.self).count == 4 + round)
      try batch.acknowledge()
      #expect(try cursor.next() == nil)
      try realm.write { realm.objects(FedDog.self).first?.age += 1 }
      let next = try #require(try cursor.next())
      #expect(next.fullResync == nil)
      #expect(next[FedDog.self].modified.count == 1)
      try next.acknowledge()
    }
    #expect(starts == 12)
  }
}

extension Store {
  /// Changes a byte of the first value of a version's record.
  fileprivate func damageRecord(of version: Version, at offset: Int) throws(StorageError) {
    let token = try acquireGate()
    let outcome = Result { () throws(StorageError) in try damage(version, at: offset) }
    token.release()
    try outcome.get()
  }

  private func damage(_ version: Version, at offset: Int) throws(StorageError) {
    try environment.write { transaction throws(StorageError) in
      let found = try TreeKey.changeHeader(version).withBytes { key throws(StorageError) in
        try transaction.value(forKey: key).map { Array($0) }
      }
      var bytes = found ?? []
      bytes[offset % bytes.count] ^= 0x55
      try TreeKey.changeHeader(version).withBytes { key throws(StorageError) in
        try withBytes(of: bytes) { bytes throws(StorageError) in
          try transaction.put(bytes, forKey: key)
        }
      }
    }
  }
}
