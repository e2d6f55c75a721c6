import Foundation
import Tarn
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Where the files of synchronized Realms are, and when they are closed.
@MainActor @Suite struct SyncedOpeningTests {
  private let synced: SyncedApp
  private let user: User

  init() async throws {
    synced = try SyncedApp()
    user = try await synced.app.login(
      credentials: .emailPassword(email: synced.role, password: "…"))
  }

  @Test func `the user's own file is made with its folder`() async throws {
    try synced.insert("a")
    var configuration = user.flexibleSyncConfiguration(
      initialSubscriptions: { $0.append(QuerySubscription<Todo>(name: "all")) })
    configuration.objectTypes = [Todo.self]
    let url = try #require(configuration.fileURL)
    #expect(!FileManager.default.fileExists(atPath: synced.folder.file("data/files")))
    let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
    #expect(realm.objects(Todo.self).count == 1)
    let folder = try FileManager.default.attributesOfItem(
      atPath: url.deletingLastPathComponent().path)
    #expect(folder[.posixPermissions] as? Int == 0o700)
  }

  @Test func `a folder that cannot be made is an error`() async throws {
    _ = try synced.folder.file("data/files", [])
    var configuration = user.flexibleSyncConfiguration()
    configuration.objectTypes = [Todo.self]
    let error = #expect(throws: Realm.Error.self) {
      _ = try Realm(configuration: configuration)
    }
    #expect(error?.code == .fileOperationFailed)
    #expect(error?.message.contains("data/files/todo_2f1") == true)
  }

  @Test func `asyncOpen lets go of the file before its callback has returned`() async throws {
    let configuration = synced.configuration(user, "one")
    for _ in 0..<20 {
      let count: Int = try await withCheckedThrowingContinuation { continuation in
        Realm.asyncOpen(
          configuration: configuration, callbackQueue: DispatchQueue(label: "callbacks")
        ) { result in
          continuation.resume(with: result.map { $0.objects(Todo.self).count })
        }
      }
      #expect(count == 0)
      #expect(try Realm.deleteFiles(for: configuration))
    }
  }

  @Test func `a Realm in memory ends with its last instance`() async throws {
    var configuration = synced.configuration(user, "one")
    configuration.inMemoryIdentifier = "synced \(UUID())"
    for round in 0..<10 {
      let realm = try await Realm(configuration: configuration)
      #expect(realm.objects(Todo.self).isEmpty, "\(round)")
      realm.syncSession?.suspend()
      try realm.write { realm.create(Todo.self, value: ["_id": "r\(round)", "owner": "frodo"]) }
    }
    #expect(try synced.todos() == [])
  }

  @Test func `everything is deleted where some classes have no subscription`() async throws {
    try synced.insert("a")
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    #expect(realm.objects(Todo.self).count == 1)
    try realm.write { realm.deleteAll() }
    try await realm.syncSession?.wait(for: .upload)
    #expect(try synced.todos() == [])
    // An object of a class without a subscription is there for a moment after the last one ended.
    try synced.insert("b")
    try await realm.syncSession?.wait(for: .download)
    realm.syncSession?.suspend()
    try await yieldUntil { realm.syncSession?.connectionState == .disconnected }
    let subscriptions = realm.subscriptions
    subscriptions.change { subscriptions.removeAll() }
    let error = #expect(throws: Realm.Error.self) { try realm.write { realm.deleteAll() } }
    #expect(error?.code == .noSubscriptionForWrite)
  }

  @Test func `results end their own subscription only`() async throws {
    let realm = try await Realm(configuration: synced.configuration(user, "one"))
    let subscriptions = realm.subscriptions
    let mine = realm.objects(Todo.self).where { $0.owner == "frodo" }
    mine.unsubscribe()
    #expect(realm.subscriptions.map(\.name) == ["mine"])
    try await mine.subscribe(waitForSync: .never)
    try await mine.subscribe(name: "again", waitForSync: .never)
    #expect(realm.subscriptions.map(\.name) == ["mine", nil, "again"])
    mine.unsubscribe()
    #expect(realm.subscriptions.map(\.name) == ["mine", nil])
    realm.objects(Todo.self).where { $0.owner == "frodo" }.unsubscribe()
    #expect(realm.subscriptions.map(\.name) == ["mine"])
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `errors keep their message`() async throws {
    let error = AppError(.invalidCredentials, "the role is unknown")
    #expect((error as any Error).localizedDescription == "the role is unknown")
    let sync = SyncError(.clientSessionError, ServerError("exchange", "the server is away"))
    #expect((sync as any Error).localizedDescription == sync.message)
    #expect(sync.message.contains("the server is away"))
  }
}
