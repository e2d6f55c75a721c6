import TestSupport

@testable import TarnSync

/// Two files that meet in a server.
class ReplicaPair {
  let database: PostgresDatabase
  let server: ServerConnection
  let a: FileReplica
  let b: FileReplica
  private let folder = TemporaryFolder()

  init() throws {
    let (database, role) = try FileReplica.server()
    self.database = database
    server = try database.connect()
    let connect = { try database.connect(as: role) }
    a = try FileReplica(folder.file("a"), connect)
    b = try FileReplica(folder.file("b"), connect)
  }

  deinit {
    a.end()
    b.end()
  }

  func synchronize() throws {
    for replica in [a, b, a] { try replica.synchronize() }
  }
}
