import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnSync

/// Logins, and what is kept of them.
@Suite struct AppTests {
  private let synced: SyncedApp
  private var app: App { synced.app }

  init() throws {
    synced = try SyncedApp(customDataTable: "person", deletionFunction: "public.delete_account")
  }

  @Test func `a user stays logged in, and the file is the owner's alone`() async throws {
    #expect(app.currentUser == nil)
    let user = try await app.login(
      credentials: .emailPassword(email: synced.role, password: "secret!"))
    #expect(user.id == synced.role)
    #expect(user.state == .loggedIn)
    let other = App(id: app.id, configuration: app.configuration, folder: app.folder)
    #expect(other.currentUser?.id == user.id)
    #expect(other.currentUser?.isLoggedIn == true)
    let folder = app.folder.appending(path: "users")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files == ["todo_2f1.json"])
    let path = folder.appending(path: "todo_2f1.json").path
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("secret!"))
  }

  @Test func `a login that the server refuses is no user`() async throws {
    let error = await #expect(throws: AppError.self) {
      try await app.login(credentials: .emailPassword(email: "nobody_there", password: "secret!"))
    }
    #expect(error?.code == .invalidCredentials)
    #expect(error?.message.contains("secret!") == false)
    #expect(app.currentUser == nil)
    var configuration = app.configuration
    configuration.anonymousRole = nil
    let closed = App(id: "closed", configuration: configuration, folder: app.folder)
    await #expect(throws: AppError.self) { try await closed.login(credentials: .anonymous) }
  }

  /// PostgreSQL would take it for another role, or for the system's user.
  @Test(arguments: ["", "x\u{0}y", String(repeating: "é", count: 32)])
  func `a name that no role can have is refused`(_ name: String) async throws {
    let all: [Credentials] = [
      .emailPassword(email: name, password: "…"), .passfile(role: name),
      .clientCertificate(
        role: name, certificate: URL(filePath: "/none"), key: URL(filePath: "/none")),
    ]
    for credentials in all {
      let error = await #expect(throws: AppError.self) {
        try await app.login(credentials: credentials)
      }
      #expect(error?.code == .invalidCredentials)
      #expect(error?.message.contains("the name of a role") == true)
    }
  }

  @Test func `the longest name is a role's`() async throws {
    let unique = "long_" + UUID().uuidString.lowercased().replacing("-", with: "")
    let longest = unique + String(repeating: "x", count: 63 - unique.utf8.count)
    try synced.server.rows("CREATE ROLE \(longest) LOGIN")
    let user = try await app.login(credentials: .emailPassword(email: longest, password: "…"))
    #expect(user.id == longest)
  }

  @Test func `users switch, log out and are removed`() async throws {
    let first = try await app.login(credentials: .anonymous)
    let role = try synced.database.makeClient()
    let second = try await app.login(credentials: .emailPassword(email: role, password: ""))
    #expect(app.currentUser == second)
    #expect(try app.switch(to: first) == first)
    #expect(app.currentUser == first)
    #expect(Set(app.allUsers.keys) == [first.id, second.id])
    try await first.logOut()
    #expect(first.state == .loggedOut)
    #expect(app.currentUser == second)
    #expect(throws: AppError.self) { try app.switch(to: first) }
    #expect(app.allUsers[first.id]?.isLoggedIn == false)
    try await first.remove()
    #expect(first.state == .removed)
    #expect(Set(app.allUsers.keys) == [second.id])
    let again = try await app.login(credentials: .anonymous)
    #expect(again.isLoggedIn)
  }

  @Test func `custom data is a row of a table`() async throws {
    try synced.server.rows("CREATE TABLE person (role name, name text, level int, list jsonb)")
    try synced.server.rows("GRANT SELECT ON person TO PUBLIC")
    try synced.server.rows(
      "INSERT INTO person VALUES ('\(synced.role)', 'Frodo', 3, '[1, \"a\"]'),"
        + " ('other', 'Sam', 1, NULL)"
    )
    let user = try await app.login(credentials: .anonymous)
    #expect(user.customData.isEmpty)
    let data = try await user.refreshCustomData()
    #expect(data["name"]?.stringValue == "Frodo")
    #expect(data["level"]?.intValue == 3)
    #expect(data["list"]?.listValue?.count == 2)
    #expect(user.customData["name"]?.stringValue == "Frodo")
  }

  @Test func `a profile is the row's columns`() async throws {
    try synced.server.rows("CREATE TABLE person (role name, name text, first_name text, level int)")
    try synced.server.rows("GRANT SELECT ON person TO PUBLIC")
    let role = "frodo-\(UUID().uuidString)@shire.example"
    try synced.server.rows("CREATE ROLE \(SQLText.name(role)) LOGIN")
    try synced.server.rows(
      "INSERT INTO person VALUES ($1, 'Frodo Baggins', 'Frodo', 3)", [role])
    let user = try await app.login(credentials: .emailPassword(email: role, password: "…"))
    #expect(user.profile.name == nil)
    #expect(user.profile.email == role)
    try await user.refreshCustomData()
    #expect(user.profile.name == "Frodo Baggins")
    #expect(user.profile.firstName == "Frodo")
    #expect(user.profile.lastName == nil)
    #expect(user.profile.metadata["level"]?.intValue == 3)
  }

  @Test func `calls with completion handlers do the same`() async throws {
    try synced.server.rows("CREATE TABLE person (role name, name text)")
    try synced.server.rows("GRANT SELECT ON person TO PUBLIC")
    try synced.server.rows("INSERT INTO person VALUES ('\(synced.role)', 'Frodo')")
    let app = app
    let user = try await withCheckedThrowingContinuation { continuation in
      app.login(credentials: .anonymous) { continuation.resume(with: $0) }
    }
    #expect(user == app.currentUser)
    let name = try await withCheckedThrowingContinuation { continuation in
      user.refreshCustomData { result in
        continuation.resume(with: result.map { $0["name"]?.stringValue })
      }
    }
    #expect(name == "Frodo")
    try await done { user.logOut(completion: $0) }
    #expect(user.state == .loggedOut)
    let error = await #expect(throws: AppError.self) {
      try await done { user.delete(completion: $0) }
    }
    #expect(error?.code == .userNotLoggedIn)
    try await done { user.remove(completion: $0) }
    #expect(user.state == .removed)
    let refused = await #expect(throws: AppError.self) {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<User, any Error>) in
        app.login(credentials: .emailPassword(email: "nobody_there", password: "…")) {
          continuation.resume(with: $0)
        }
      }
    }
    #expect(refused?.code == .invalidCredentials)
  }

  /// Waits for a call with a completion handler, and throws its error.
  private func done(
    _ call: (@escaping @Sendable ((any Error)?) -> Void) -> Void
  ) async throws {
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      call { error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }

  /// The statement of the article From Atlas Device Sync.
  private static func functionOfTheArticle() throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let article = try String(
      contentsOf: root.appending(
        path: "Sources/Tarn/Documentation.docc/FromAtlasDeviceSync.md"), encoding: .utf8)
    let block = article.firstMatch(
      of: /```sql\n(CREATE FUNCTION delete_account.*?)```/.dotMatchesNewlines())
    return String(try #require(block).1)
  }

  @Test func `a user is deleted by a function of the server`() async throws {
    let user = try await app.login(credentials: .anonymous)
    // There is no such function yet.
    let missing = await #expect(throws: AppError.self) { try await user.delete() }
    #expect(missing?.code == .serverUnavailable)
    #expect(user.isLoggedIn)
    try synced.server.run(Self.functionOfTheArticle(), for: "make the function")
    try await user.delete()
    #expect(user.state == .removed)
    #expect(app.allUsers.isEmpty)
    await #expect(throws: AppError.self) { try await app.login(credentials: .anonymous) }
    var configuration = app.configuration
    configuration.deletionFunction = nil
    configuration.anonymousRole = try synced.database.makeClient()
    let other = App(id: "other", configuration: configuration, folder: app.folder)
    let stays = try await other.login(credentials: .anonymous)
    let error = await #expect(throws: AppError.self) { try await stays.delete() }
    #expect(error?.code == .notConfigured)
    #expect(stays.isLoggedIn)
  }
}
