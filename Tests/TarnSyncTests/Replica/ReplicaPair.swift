import Foundation
import TarnStore
import TestSupport

@testable import TarnSync

/// Two files that meet in a server.
class ReplicaPair {
  let database: PostgresDatabase
  let server: ServerConnection
  let a: FileReplica
  let b: FileReplica
  private let folder = TemporaryFolder()
  private let connect: () throws -> ServerConnection
  private var files = 2

  init() throws {
    let (database, role) = try FileReplica.server()
    self.database = database
    server = try database.connect()
    connect = { try database.connect(as: role) }
    a = try FileReplica(folder.file("a"), connect)
    b = try FileReplica(folder.file("b"), connect)
  }

  deinit {
    a.end()
    b.end()
  }

  /// A store that has downloaded nothing yet.
  func freshStore() throws -> FileReplica {
    files += 1
    return try FileReplica(folder.file("\(files)"), connect)
  }

  /// A store with objects from before its first exchange.
  func olderStore(_ body: (WriteSession) throws -> Void) throws -> FileReplica {
    files += 1
    let path = folder.file("\(files)")
    let store = try TestReplica.open(path, FileReplica.classes)
    try store.writeInTurn(body)
    return try FileReplica(path, connect)
  }

  /// A copy of a store as it is now.
  func copy(of replica: FileReplica) throws -> FileReplica {
    files += 1
    let path = folder.file("\(files)")
    try FileManager.default.copyItem(atPath: replica.path, toPath: path)
    return try FileReplica(path, connect)
  }

  func synchronize() throws {
    for replica in [a, b, a] { try replica.synchronize() }
  }
}
