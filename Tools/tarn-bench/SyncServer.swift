import BenchFloors
import Foundation
import LocalServer
import Tarn
import TarnStore
import TarnSync
import ToolSupport

/// A server with the class of the workloads, and files that are exchanged with it.
final class SyncServer {
  let address: String
  private let server: PostgresServer
  private let bench: Bench
  private var files = 0

  init(_ bench: Bench) throws {
    self.bench = bench
    server = try PostgresServer("-c shared_buffers=256MB -c max_wal_size=4GB")
    let administrator = server.address("postgres")
    try Self.run(administrator, "CREATE DATABASE bench")
    let owner = server.address("bench")
    _ = try ServerSetup.run(ServerConnection(ServerAddress(owner)))
    let realm = try Realm(
      configuration: bench.configuration("server-schema"), scheduler: bench.scheduler)
    try ServerMigration(ServerConnection(ServerAddress(owner))).run(
      Self.store(realm).newestSnapshot().schema.schema, classes: ["Person"])
    try Self.run(owner, "CREATE ROLE bench LOGIN; GRANT tarn_client TO bench")
    address = server.address("bench", as: "bench")
    ownerAddress = owner
  }

  let ownerAddress: String

  static func run(_ address: String, _ statements: String) throws {
    var seconds = 0.0
    try floor(bf_pg_run(address, statements, &seconds), "a statement")
  }

  func run(_ statements: String) throws { try Self.run(ownerAddress, statements) }

  func number(_ statement: String) throws -> Int64 {
    var number: Int64 = 0
    try floor(bf_pg_number(ownerAddress, statement, &number), "a statement")
    return number
  }

  /// Persons with these numbers, without a word to any replica.
  func fill(_ count: Int) throws {
    try run(
      """
      INSERT INTO "Person" (_id, name, age, score, dob, "isActive", city)
      SELECT n, 'abcdefghijkl', n % 100, n / 1e6, timestamptz 'epoch', n % 2 = 0, 'city-' || n % 100
      FROM generate_series(1, \(count)) n
      """)
    try run("ANALYZE \"Person\"")
  }

  static func store(_ realm: Realm) throws -> Store {
    guard let path = realm.configuration.fileURL?.path,
      let store = StoreRegistry.store(at: .file(path))
    else { throw ToolError("the store is not open") }
    return store
  }

  /// Brings a class of a file.
  func migrate(_ store: Store, _ name: String) throws {
    try ServerMigration(ServerConnection(ServerAddress(ownerAddress))).run(
      store.newestSnapshot().schema.schema, classes: [name])
  }

  /// A new file.
  func file() throws -> Realm {
    files += 1
    return try Realm(
      configuration: bench.configuration("sync-\(files)-\(UUID().uuidString)"),
      scheduler: bench.scheduler)
  }

  func session(_ realm: Realm) throws -> ReplicaSession {
    try ReplicaSession(Self.store(realm), classes: ["Person"], to: ServerAddress(address))
  }

  /// Exchanges until both have everything.
  func synchronize(_ realm: Realm) throws {
    let replica = try Replica(Self.store(realm), classes: ["Person"])
    defer { replica.close() }
    try replicator(replica).synchronize()
  }

  func replicator(_ replica: Replica) throws -> Replicator {
    try Replicator(replica, ServerConnection(ServerAddress(address)))
  }

  /// The processor time that the server's processes have used, in seconds.
  func processorTime() throws -> Double {
    var ticks = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") where Int(name) != nil
    {
      guard let text = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
        text.contains("(postgres)")
      else { continue }
      let fields = text.splitASCII(")").last?.splitASCII(" ") ?? []
      if fields.count > 12 { ticks += (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) }
    }
    return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
