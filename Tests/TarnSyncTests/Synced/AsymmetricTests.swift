import Foundation
import Tarn
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Objects that only go to a server.
@MainActor @Suite struct AsymmetricTests {
  private let synced: SyncedApp
  private let user: User

  init() async throws {
    synced = try SyncedApp()
    user = try await synced.app.login(
      credentials: .emailPassword(email: synced.role, password: "…"))
    try synced.server.rows("REVOKE SELECT, UPDATE, DELETE ON \"Reading\" FROM tarn_client")
  }

  private func readings() throws -> [[String?]] {
    try synced.server.rows("SELECT _id, value FROM \"Reading\" ORDER BY _id")
  }

  /// How many the file has.
  private func kept(_ realm: Realm) throws -> Int {
    let reader = try SnapshotReader(realm.store.newestSnapshot())
    let id = try #require(reader.schema.schema.named("Reading")?.id)
    var count = 0
    try reader.forEachCluster(in: id) { cluster in
      count += cluster.image.rowCount
      return true
    }
    return count
  }

  @Test func `an object goes to the server and is gone, with the right to insert alone`()
    async throws
  {
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    realm.syncSession?.suspend()
    try realm.write {
      for number in 1...3 {
        realm.create(Reading.self, value: ["_id": "r\(number)", "value": number])
      }
    }
    #expect(try kept(realm) == 3)
    realm.syncSession?.resume()
    try await realm.syncSession?.wait(for: .upload)
    #expect(try readings() == [["r1", "1"], ["r2", "2"], ["r3", "3"]])
    try await yieldUntil { try kept(realm) == 0 }
    // One that is sent again, because its answer was lost, is the same.
    try synced.server.rows("INSERT INTO \"Reading\" (_id, value) VALUES ('r4', 4)")
    try realm.write { realm.create(Reading.self, value: ["_id": "r4", "value": 40]) }
    try await realm.syncSession?.wait(for: .upload)
    try await yieldUntil { try kept(realm) == 0 }
    #expect(try readings().last == ["r4", "4"])
    #expect(realm.objects(Todo.self).isEmpty)
  }

  @Test func `an object that the server refuses is told and gone`() async throws {
    try synced.server.rows("ALTER TABLE \"Reading\" ADD CHECK (value < 100)")
    let told = Lock([SyncError]())
    synced.app.syncManager.errorHandler = { error, _ in
      if let error = error as? SyncError { told.withLock { $0.append(error) } }
    }
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    try realm.write { realm.create(Reading.self, value: ["_id": "r1", "value": 1_000]) }
    try await yieldUntil { told.withLock { !$0.isEmpty } }
    #expect(told.withLock { $0[0].code } == .writeRejected)
    try await yieldUntil { try kept(realm) == 0 }
    try realm.write { realm.create(Reading.self, value: ["_id": "r2", "value": 1]) }
    try await realm.syncSession?.wait(for: .upload)
    #expect(try readings() == [["r2", "1"]])
  }
}
