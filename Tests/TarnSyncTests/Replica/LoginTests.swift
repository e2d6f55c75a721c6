import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// A file that another login exchanges than before.
@Suite struct LoginTests {
  private let database: PostgresDatabase
  private let server: ServerConnection
  private let folder = TemporaryFolder()

  /// The login of the next connection.
  private final class Login {
    var role: String
    init(_ role: String) { self.role = role }
  }

  private let login: Login
  private let file: FileReplica

  init() throws {
    let (database, role) = try FileReplica.server()
    self.database = database
    server = try database.connect()
    let login = Login(role)
    self.login = login
    file = try FileReplica(folder.file("a")) { try database.connect(as: login.role) }
    try file.create("Note", .string("a"), a: 1)
    try file.create("Note", .string("b"), a: 2)
    try file.synchronize()
    file.disconnect()
    try file.create("Note", .string("c"), a: 3)
    try file.set("Note", .string("a"), 1, .int(9))
  }

  private func notes() throws -> [String?] {
    try server.rows("SELECT _id || a FROM \"Note\" ORDER BY _id").map { $0[0] }
  }

  @Test func `a renamed login goes on with the same replica`() throws {
    defer { file.end() }
    let (id, number) = (file.replica.state.id, file.replica.state.number)
    let name = login.role + "_x"
    try server.rows("ALTER ROLE \(login.role) RENAME TO \(name)")
    login.role = name
    try file.synchronize()
    #expect(try notes() == ["a9", "b2", "c3"])
    #expect(file.replica.state.id == id)
    #expect(file.replica.state.number == number)
    #expect(try server.rows("SELECT role FROM tarn.replica") == [[name]])
    #expect(file.refused.isEmpty)
  }

  /// A copy of a database in another cluster has the names of logins, with other numbers.
  @Test func `a login of the same name goes on with the same replica`() throws {
    defer { file.end() }
    try server.rows("UPDATE tarn.replica SET login = 1")
    let id = file.replica.state.id
    try file.synchronize()
    #expect(try notes() == ["a9", "b2", "c3"])
    #expect(file.replica.state.id == id)
    #expect(try server.value("SELECT login = role::regrole FROM tarn.replica") == "t")
  }

  @Test func `another login goes on as a replica of its own and keeps unsent commits`() throws {
    defer { file.end() }
    let id = file.replica.state.id
    try server.run(
      """
      ALTER TABLE "Note" ENABLE ROW LEVEL SECURITY;
      CREATE POLICY p ON "Note" USING (_id <> 'b')
      """, for: "test")
    login.role = try database.makeClient()
    try file.synchronize()
    #expect(try notes() == ["a9", "b2", "c3"])
    #expect(file.replica.state.id != id)
    // The new login does not see all rows.
    #expect(try Set(file.objects().keys) == ["Note a", "Note c"])
    #expect(file.refused.isEmpty)
    try file.set("Note", .string("c"), 1, .int(4))
    try file.synchronize()
    #expect(try notes() == ["a9", "b2", "c4"])
  }
}
