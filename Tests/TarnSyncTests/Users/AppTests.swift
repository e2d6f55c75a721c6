import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnSync

/// Logins, and what is kept of them.
@Suite struct AppTests {
  private let synced: SyncedApp
  private var app: App { synced.app }

  init() throws { synced = try SyncedApp(customDataTable: "person") }

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
}
