import Foundation
import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// What a file keeps without a cursor, and how it is asked for.
@Suite struct RetentionTests {
  private let shelter: Shelter

  init() throws {
    shelter = try Shelter()
    shelter.moreTypes = [FedDog.self, FedPerson.self, FedNote.self, FedAddress.self, FedRoom.self]
  }

  private func open(_ retention: Retention? = nil, origin: String? = nil) throws -> Realm {
    var configuration = shelter.configuration
    configuration.retention = retention
    configuration.origin = origin
    return try Realm(configuration: configuration)
  }

  private func add(_ ids: ClosedRange<Int>, to realm: Realm) throws {
    for id in ids { try realm.write { realm.create(FedDog.self, value: ["id": id]) } }
  }

  @Test func theFileKeepsWhatAnyProgramAskedFor() throws {
    let realm = try open(Retention(versions: 5))
    _ = try open(Retention(versions: 3))
    _ = try open(Retention(bytes: 100, keepsOldValues: true))
    _ = try open()
    let retention = try realm.retention
    #expect(
      retention == [
        Retention(versions: 5, keepsOldValues: true), Retention(bytes: 100, keepsOldValues: true),
      ])
    try add(1...20, to: realm)
    try realm.core.store.pruneUnneeded()
    let newest = try realm.core.store.newestSnapshot().version.rawValue
    #expect(try realm.versions.map(\.version) == Array(newest - 4...newest))
  }

  @Test func onlySettingItKeepsLess() throws {
    let realm = try open(Retention(versions: 10))
    try add(1...10, to: realm)
    try realm.setRetention(Retention(versions: 2))
    #expect(try realm.versions.count == 2)
    #expect(try realm.retention == [Retention(versions: 2)])
    try realm.setRetention(nil)
    #expect(try realm.retention == [])
    #expect(try realm.versions.count == 1)
    #expect(try realm.core.store.newestSnapshot().head.featureFlags == 0)
  }

  @Test func aReadOnlyRealmLeavesTheFileAlone() throws {
    _ = try open()
    var configuration = shelter.configuration
    configuration.readOnly = true
    configuration.retention = Retention(versions: 5)
    #expect(try Realm(configuration: configuration).retention == [])
  }

  @Test func versionsHaveNames() throws {
    let realm = try open(Retention(versions: 10), origin: "importer")
    let start = Date().addingTimeInterval(-1)
    try add(1...2, to: realm)
    // The instances of a thread are one, and keep the name of the first.
    let scheduler = ManualScheduler()
    let unnamed = try Realm(configuration: shelter.configuration, scheduler: scheduler)
    try unnamed.write { unnamed.create(FedNote.self) }
    let versions = try realm.versions.suffix(3)
    #expect(versions.map(\.origin).prefix(2) == ["importer", "importer"])
    #expect(versions.last?.origin.hasSuffix("[\(getpid())]") == true)
    #expect(versions.map(\.classNames) == [["FedDog"], ["FedDog"], ["FedNote"]])
    for version in versions {
      #expect(version.byteCount > 0)
      #expect(!version.isMigration)
      let date = try #require(version.date)
      #expect((start...Date().addingTimeInterval(1)).contains(date))
    }
  }

  @Test func aCursorStartsAtTheOldestVersion() throws {
    let realm = try open(Retention(versions: 4))
    try add(1...9, to: realm)
    try realm.core.store.pruneUnneeded()
    let cursor = try realm.cursor("a", startingAt: .oldest)
    let batch = try #require(try cursor.next())
    // The oldest of four records leads to the version that it starts at.
    #expect(batch[FedDog.self].inserted.map(\.id) == [7, 8, 9])
    try batch.acknowledge()
    cursor.close()
    #expect(try realm.cursor("a", startingAt: .oldest).next() == nil)
  }

  @Test func withoutRecordsTheOldestVersionIsTheNewest() throws {
    let realm = try open()
    try add(1...2, to: realm)
    try realm.core.store.pruneUnneeded()
    let cursor = try realm.cursor("a", startingAt: .oldest)
    #expect(try cursor.next() == nil)
    try add(3...3, to: realm)
    #expect(try cursor.next()?[FedDog.self].inserted.map(\.id) == [3])
  }

  @Test func aCursorHasALimit() throws {
    let realm = try open()
    let cursor = try realm.cursor("a", limit: LagLimit(bytes: 200))
    try add(1...20, to: realm)
    let batch = try #require(try cursor.next())
    #expect(batch.fullResync == .expired)
    try batch.acknowledge()
    cursor.close()
    // Opened without one, it keeps what it has.
    let again = try realm.cursor("a")
    try add(21...40, to: realm)
    #expect(try again.next()?.fullResync == .expired)
  }

  @Test func aCursorCanBeTaken() throws {
    let realm = try open()
    let first = try realm.cursor("a")
    try add(1...1, to: realm)
    let batch = try #require(try first.next())
    #expect(throws: Realm.Error.self) { try realm.cursor("a") }
    let second = try realm.cursor("a", taking: true)
    let error = #expect(throws: Realm.Error.self) { try batch.acknowledge() }
    #expect(error?.message.contains("was taken") == true)
    #expect(try second.next()?[FedDog.self].inserted.map(\.id) == [1])
  }

  @Test func durationsAreMicroseconds() {
    #expect(Duration.seconds(90).wholeMicroseconds == 90_000_000)
    #expect(Duration.nanoseconds(1_999).wholeMicroseconds == 1)
    #expect(Duration.seconds(Int64.max).wholeMicroseconds == .max)
    let age = Retention(age: .seconds(3600), versions: 7)
    #expect(Retention(age.policy.limits[0], keepsOldValues: false) == age)
  }
}
