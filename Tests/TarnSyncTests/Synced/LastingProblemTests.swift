import Foundation
import Tarn
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Problems of the server that no waiting ends.
@MainActor @Suite struct LastingProblemTests {
  /// What an administrator has not done.
  enum Lack: CaseIterable {
    case schema, classes, membership
  }

  /// How a program waits.
  enum Way: CaseIterable {
    case opening, asyncOpen, download, upload
  }

  private let database: PostgresDatabase
  private let server: ServerConnection
  private let role: String
  private let folder = TemporaryFolder()

  init() throws {
    database = try PostgresDatabase()
    server = try database.connect()
    role = "client_" + UUID().uuidString.prefix(8).lowercased()
    try server.rows("CREATE ROLE \(role) LOGIN")
  }

  private func prepare(_ lack: Lack) throws {
    if lack == .schema { return }
    _ = try ServerSetup.run(server)
    if lack == .membership { try migrate() } else { try join() }
  }

  /// Does what the message asks for.
  private func mend(_ lack: Lack) throws {
    switch lack {
    case .schema:
      _ = try ServerSetup.run(server)
      try migrate()
      try join()
    case .classes: try migrate()
    case .membership: try join()
    }
  }

  private func join() throws { try server.rows("GRANT \(ServerSchema.client) TO \(role)") }

  private func migrate() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(filePath: folder.file("schema")), objectTypes: [Todo.self]), queue: nil)
    try ServerMigration(server).run(realm.store.newestSnapshot().schema.schema)
  }

  private func app() -> App {
    App(
      id: "todo", configuration: AppConfiguration(baseURL: database.address(as: role)),
      folder: URL(filePath: folder.file("data")))
  }

  private func configuration(_ app: App) async throws -> Realm.Configuration {
    let user = try await app.login(credentials: .emailPassword(email: role, password: "…"))
    var configuration = user.flexibleSyncConfiguration(
      initialSubscriptions: { $0.append(QuerySubscription<Todo>(name: "all")) })
    configuration.fileURL = URL(filePath: folder.file("one"))
    configuration.objectTypes = [Todo.self]
    return configuration
  }

  private func sentences(_ lack: Lack) -> [String] {
    switch lack {
    case .schema:
      ["cannot exchange with the server: the database is not prepared", "Run 'tarn server init'"]
    case .classes: ["the server does not have a class Todo", "Run 'tarn server migrate'"]
    case .membership:
      [
        "the login \(role) is not a member of tarn_client",
        "GRANT tarn_client TO \(SQLText.name(role))",
      ]
    }
  }

  private func message(
    _ way: Way, _ configuration: Realm.Configuration
  ) async throws -> String {
    switch way {
    case .opening:
      let error = await #expect(throws: Realm.Error.self) {
        _ = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
      }
      return error?.message ?? ""
    case .asyncOpen:
      let result = await withCheckedContinuation { continuation in
        Realm.asyncOpen(
          configuration: configuration, callbackQueue: DispatchQueue(label: "callbacks")
        ) { continuation.resume(returning: $0.map { _ in () }) }
      }
      let error = #expect(throws: Realm.Error.self) { try result.get() }
      return error?.message ?? ""
    case .download, .upload:
      let realm = try await Realm(configuration: configuration)
      let error = await #expect(throws: SyncError.self) {
        try await realm.syncSession?.wait(for: way == .upload ? .upload : .download)
      }
      return error?.message ?? ""
    }
  }

  @Test(arguments: Lack.allCases, Way.allCases)
  func `a program that waits gets the command line's sentence`(
    _ lack: Lack, _ way: Way
  ) async throws {
    try prepare(lack)
    let app = app()
    app.syncManager.errorHandler = { _, _ in }
    let configuration = try await configuration(app)
    let message = try await message(way, configuration)
    for part in sentences(lack) { #expect(message.contains(part), "\(message)") }
    // Another try that comes too late for the former answer.
    try mend(lack)
    let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
    try realm.write { realm.create(Todo.self, value: ["_id": "a", "owner": "frodo"]) }
    try await realm.syncSession?.wait(for: .upload)
    #expect(try server.value("SELECT count(*) FROM \"Todo\"") == "1")
  }

  /// In a process of its own: one log is for the whole process.
  @Test func `without a handler the problem is written once`() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      try await LastingProblemTests().waitThrice()
    }
    let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    let lines = said.split(separator: "\n").filter { $0.contains("synchronize") }
    #expect(lines.count == 1, "\(said)")
    #expect(lines.first?.contains("the database is not prepared") == true, "\(said)")
  }

  private func waitThrice() async throws {
    let realm = try await Realm(configuration: configuration(app()))
    for _ in 1...3 {
      await #expect(throws: SyncError.self) {
        try await realm.syncSession?.wait(for: .download)
      }
    }
  }

  @Test func `a wait for an upload ends where the server lacks a property`() async throws {
    try prepare(.membership)
    try join()
    try server.rows("ALTER TABLE \"Todo\" DROP COLUMN priority")
    let app = app()
    app.syncManager.errorHandler = { _, _ in }
    let realm = try await Realm(configuration: configuration(app), downloadBeforeOpen: .always)
    try realm.write { realm.create(Todo.self, value: ["_id": "a", "owner": "frodo"]) }
    let session = try #require(realm.syncSession)
    for _ in 1...2 {
      let error = await #expect(throws: SyncError.self) { try await session.wait(for: .upload) }
      #expect(error?.message.contains("Todo.priority") == true, "\(error?.message ?? "")")
    }
    try await session.wait(for: .download)
    try migrate()
    try await session.wait(for: .download)
    try await session.wait(for: .upload)
    #expect(try server.value("SELECT count(*) FROM \"Todo\"") == "1")
  }

  // MARK: - Problems of the file's user

  /// A Realm whose session has downloaded.
  private func opened(
    _ mode: ClientResetMode = .recoverUnsyncedChanges()
  ) async throws -> (User, Realm) {
    try prepare(.membership)
    try join()
    let app = app()
    app.syncManager.errorHandler = { _, _ in }
    let user = try await app.login(credentials: .emailPassword(email: role, password: "…"))
    var configuration = user.flexibleSyncConfiguration(
      clientResetMode: mode,
      initialSubscriptions: { $0.append(QuerySubscription<Todo>(name: "all")) })
    configuration.fileURL = URL(filePath: folder.file("one"))
    configuration.objectTypes = [Todo.self]
    return (user, try await Realm(configuration: configuration, downloadBeforeOpen: .always))
  }

  /// What a program gets that waits in each way.
  private func errors(_ realm: Realm) async throws -> [SyncError?] {
    let (session, subscriptions) = (try #require(realm.syncSession), realm.subscriptions)
    let upload = await #expect(throws: SyncError.self) { try await session.wait(for: .upload) }
    let download = await #expect(throws: SyncError.self) { try await session.wait(for: .download) }
    let update = await #expect(throws: SyncError.self) {
      try await subscriptions.update {
        subscriptions.removeAll()
        subscriptions.append(QuerySubscription<Todo>(name: "some") { $0.owner == "sam" })
      }
    }
    return [upload, download, update]
  }

  @Test(.timeLimit(.minutes(30))) func `no wait outlasts a reset that is manual`() async throws {
    let (_, realm) = try await opened(.manual())
    let session = try #require(realm.syncSession)
    session.suspend()
    try await yieldUntil { session.connectionState == .disconnected }
    try realm.write { realm.create(Todo.self, value: ["_id": "a", "owner": "frodo"]) }
    _ = try ServerRepair(server).restore()
    session.resume()
    for error in try await errors(realm) {
      #expect(error?.code == .clientResetError)
      #expect(error?.message.contains("Choose another ClientResetMode") == true)
    }
  }

  @Test(.timeLimit(.minutes(30))) func `no wait outlasts a logout`() async throws {
    let (user, realm) = try await opened()
    let session = try #require(realm.syncSession)
    try await user.logOut()
    try realm.write { realm.create(Todo.self, value: ["_id": "a", "owner": "frodo"]) }
    for error in try await errors(realm) {
      #expect(error?.code == .clientUserError)
      #expect(error?.message.contains("the user \(role) has logged out") == true)
    }
    try await user.app.login(credentials: .emailPassword(email: role, password: "…"))
    try await session.wait(for: .upload)
    #expect(try server.value("SELECT count(*) FROM \"Todo\"") == "1")
  }
}
