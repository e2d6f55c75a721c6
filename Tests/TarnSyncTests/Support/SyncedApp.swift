import Foundation
import Tarn
import TarnStore
import TestSupport

@testable import TarnSync

/// A thing to do, in the Realms of tests.
final class Todo: Object {
  @Persisted(primaryKey: true) var _id: String
  @Persisted var owner: String
  @Persisted var priority: Int?
  @Persisted var tags: List<String>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A class that no test subscribes to.
final class Remark: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var text: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A class whose objects only go to the server.
final class Reading: AsymmetricObject {
  @Persisted(primaryKey: true) var _id: String
  @Persisted var value: Int

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// An app with a server of a test's own.
struct SyncedApp {
  let database: PostgresDatabase
  let server: ServerConnection
  let app: App
  let role: String
  let folder = TemporaryFolder()

  /// - Parameters:
  ///   - classes: those of the server.
  ///   - table: of custom data.
  ///   - function: deletes users.
  init(
    classes: [ObjectBase.Type] = [Todo.self, Remark.self, Reading.self],
    customDataTable table: String? = nil, deletionFunction function: String? = nil
  ) throws {
    database = try PostgresDatabase()
    server = try database.connect()
    _ = try ServerSetup.run(server)
    let realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(filePath: folder.file("schema")), objectTypes: classes))
    try ServerMigration(server).run(realm.store.newestSnapshot().schema.schema)
    role = try database.makeClient()
    var configuration = AppConfiguration(
      baseURL: database.address(as: PostgresServer.administrator))
    configuration.anonymousRole = role
    configuration.customDataTable = table
    configuration.deletionFunction = function
    app = App(
      id: "todo/1", configuration: configuration, folder: URL(filePath: folder.file("data")))
  }

  /// A configuration with a file of its own, which has all todos of an owner.
  func configuration(
    _ user: User, _ name: String, owner: String? = "frodo", rerunOnOpen: Bool = false
  ) -> Realm.Configuration {
    var configuration = user.flexibleSyncConfiguration(
      initialSubscriptions: { subs in
        guard let owner else { return }
        subs.append(QuerySubscription<Todo>(name: "mine") { $0.owner == owner })
      }, rerunOnOpen: rerunOnOpen)
    configuration.fileURL = URL(filePath: folder.file(name))
    configuration.objectTypes = [Todo.self, Remark.self, Reading.self]
    return configuration
  }

  func insert(_ id: String, owner: String = "frodo") throws {
    try server.rows("INSERT INTO \"Todo\" (_id, owner) VALUES ($1, $2)", [id, owner])
  }

  func todos() throws -> [String] {
    try server.rows("SELECT _id FROM \"Todo\" ORDER BY _id").compactMap(\.[0])
  }
}
