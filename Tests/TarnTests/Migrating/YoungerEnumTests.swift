import Foundation
import TestSupport
import Testing

@testable import Tarn

enum CratesOld {
  class Crate: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var kind: String?
  }
}

enum CratesNew {
  enum Wood: String, PersistableEnum { case oak, fir }
  enum Size: Int, PersistableEnum {
    case small = 10
    case large = 20
  }
  /// With a case for zero there is nothing to fill in.
  enum Level: Int, PersistableEnum { case low, high }
  class Crate: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var kind: String?
    @Persisted(indexed: true) var wood: Wood
    @Persisted var size: Size
    @Persisted var level: Level
    @Persisted var lid: Wood?
  }
}

enum CratesLater {
  class Crate: Object {
    @Persisted(primaryKey: true) var id: Int
    /// Was an optional text.
    @Persisted var kind: CratesNew.Wood
  }
}

/// Objects that are older than a property of an enum have its first case, for conditions and groups
/// as for reading.
@Suite struct YoungerEnumTests {
  private typealias New = CratesNew.Crate
  private let folder = TemporaryFolder()

  private func open(_ type: Object.Type, version: UInt64 = 0) throws -> Realm {
    let realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: folder.url("crates.realm"), schemaVersion: version, objectTypes: [type],
        durability: .relaxed))
    try realm.checkIndexes()
    return realm
  }

  private func newest(_ realm: Realm) throws -> UInt64 {
    try realm.core.store.newestSnapshot().version.rawValue
  }

  private func fill(_ count: Int) throws -> Realm {
    let realm = try open(CratesOld.Crate.self)
    try realm.write {
      for id in 0..<count { realm.create(CratesOld.Crate.self, value: ["id": id]) }
      if count > 0 { realm.create(CratesOld.Crate.self, value: [count, "fir"]) }
    }
    return realm
  }

  private func expectFirstCases(_ realm: Realm, _ count: Int) throws {
    let crates = realm.objects(New.self)
    #expect(crates.allSatisfy { $0.wood == .oak && $0.size == .small && $0.lid == nil })
    #expect(crates.where { $0.wood == .oak && $0.size == .small && $0.lid == nil }.count == count)
    #expect(crates.filter("wood == 'oak' AND size == 10 AND level == 0").count == count)
    #expect(crates.grouped(by: \.wood).map { [$0.key.rawValue: $0.count] } == [["oak": count]])
    #expect(crates.grouped(by: \.size).map(\.key) == [.small])
    try realm.write { crates[1].wood = .fir }
    #expect(crates.where { $0.wood == .fir }.map(\.id) == [1])
    #expect(crates.where { $0.wood == .oak }.count == count - 1)
  }

  @Test(arguments: [0, 1] as [UInt64])
  func `a new property has the first case in objects that are older`(_ version: UInt64) throws {
    _ = try fill(900)
    try expectFirstCases(open(New.self, version: version), 901)
  }

  @Test func `the values are one commit, and once is enough`() throws {
    let version = try newest(fill(3))
    for _ in 0..<2 {
      let new = try open(New.self)
      #expect(try newest(new) == version + 1)
      #expect(new.objects(New.self).where { $0.size == .small }.count == 4)
    }
  }

  @Test func `an empty class gets no commit`() throws {
    let version = try newest(fill(0))
    #expect(try newest(open(New.self)) == version)
  }

  @Test func `null becomes the first case where a property is no longer optional`() throws {
    _ = try fill(2)
    let crates = try open(CratesLater.Crate.self, version: 1).objects(CratesLater.Crate.self)
    #expect(crates.map(\.kind) == [.oak, .oak, .fir])
    #expect(crates.where { $0.kind == .oak }.map(\.id) == [0, 1])
  }
}
