import TarnStore
import TestSupport

@testable import TarnSync

/// A file that is exchanged with a server, for tests.
class TestReplica {
  let path: String
  let store: Store
  let replica: Replica
  private let connect: () throws -> ServerConnection
  private var replicator: Replicator?
  private(set) var refused: [RefusedCommit] = []
  private(set) var notices: [SyncNotice] = []

  /// - Parameters:
  ///   - definitions: the classes of the file.
  ///   - names: the classes that are exchanged.
  init(
    _ path: String, _ definitions: [ClassDefinition], exchanging names: [String],
    _ connect: @escaping () throws -> ServerConnection
  ) throws {
    self.path = path
    self.connect = connect
    store = try Self.open(path, definitions)
    replica = try Replica(store, classes: names)
    replica.noticed = { [unowned self] in notices.append($0) }
  }

  static func open(_ path: String, _ definitions: [ClassDefinition]) throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.classes = definitions
    return try StoreRegistry.open(path, options)
  }

  /// A server with classes, after some SQL, and a login.
  static func server(
    _ definitions: [ClassDefinition], _ statement: String
  ) throws -> (PostgresDatabase, String) {
    let database = try PostgresDatabase()
    let connection = try database.connect()
    _ = try ServerSetup.run(connection)
    let folder = TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let store = try open(folder.file("schema"), definitions)
    try ServerMigration(connection).run(store.newestSnapshot().schema.schema)
    try connection.rows(statement)
    return (database, try database.makeClient())
  }

  func connected() throws -> Replicator {
    if let replicator { return replicator }
    let made = try Replicator(replica, connect()) { [unowned self] in refused.append($0) }
    prepare(made)
    replicator = made
    return made
  }

  /// Called for each new connection.
  func prepare(_ replicator: Replicator) {}

  func synchronize() throws { try connected().synchronize() }
  func disconnect() { replicator = nil }

  /// Releases the file.
  func end() {
    replicator = nil
    replica.close()
  }

  func commit(_ body: (WriteSession) throws -> Void) throws { try store.writeInTurn(body) }
}
