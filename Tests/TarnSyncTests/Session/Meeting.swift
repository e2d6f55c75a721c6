import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// A server with a class, and files that meet there.
final class Meeting {
  let database: PostgresDatabase
  let connection: ServerConnection
  let address: ServerAddress
  let client: String
  private let folder = TemporaryFolder()

  init() throws {
    database = try PostgresDatabase([ServerPeer.thing])
    connection = try database.connect()
    client = try database.makeClient()
    address = try ServerAddress(database.address(as: client))
  }

  /// - Parameter isGrown: whether the class has another property.
  func file(_ name: String, isGrown: Bool = false) throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.classes = [
      ClassDefinition(
        name: "Thing",
        properties: [
          .init(name: "_id", type: .int, isPrimaryKey: true), .init(name: "a", type: .int),
          .init(name: "b", type: .int, isOptional: true),
        ] + (isGrown ? [.init(name: "later", type: .int)] : []))
    ]
    return try StoreRegistry.open(folder.file(name), options)
  }

  func session(
    _ file: Store, joiningAbove joiningBytes: Int = UnsentJoin.bytesMax,
    at other: ServerAddress? = nil, telling told: @escaping @Sendable (SyncEvent) -> Void = { _ in }
  ) throws -> HeldSession {
    try HeldSession(file, other ?? address, joiningBytes, told)
  }

  /// Lets the client connect, or ends its connections.
  func setOpen(_ isOpen: Bool) throws {
    try connection.rows("ALTER ROLE \(client) \(isOpen ? "LOGIN" : "NOLOGIN")")
    if !isOpen { try endConnections() }
  }

  func endConnections() throws {
    try connection.rows(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'tarn' AND pid <> pg_backend_pid() AND datname = current_database()
      """)
  }

  /// The keys on the server.
  func things() throws -> [String?] {
    try connection.rows("SELECT _id FROM \"Thing\" ORDER BY _id").map { $0[0] }
  }
}

/// A session that a test ends before its file goes.
final class HeldSession {
  private final class Flag: Sendable {
    let isSet = Lock(false)
  }

  private let session: ReplicaSession
  private let ended = Flag()

  init(
    _ file: Store, _ address: ServerAddress, _ joiningBytes: Int,
    _ told: @escaping @Sendable (SyncEvent) -> Void
  ) throws {
    let ended = ended
    session = try ReplicaSession(
      file, classes: ["Thing"], to: address, joiningAbove: joiningBytes
    ) { event in
      if case .ended = event { ended.isSet.withLock { $0 = true } }
      told(event)
    }
  }

  func reconnect() { session.reconnect() }

  func end() async throws {
    session.stop()
    try await yieldUntil { ended.isSet.withLock { $0 } }
  }
}

extension Store {
  func add(_ key: Int64, _ a: Int64) throws {
    try writeInTurn { session in
      try session.create([ColumnID(0): .int(key), ColumnID(1): .int(a)], in: ClassID(0))
    }
  }

  func set(later: Int64, _ key: Int64) throws {
    try writeInTurn { session in
      let found = try session.find(primaryKey: .int(key), in: ClassID(0))
      let key = try #require(found)
      try session.set(ColumnID(3), at: key, in: ClassID(0), to: .int(later))
    }
  }

  func later() throws -> [Int64: Int64] { try numbers(ColumnID(3), in: ClassID(0)) }

  func things() throws -> [Int64: Int64] { try numbers(ColumnID(1), in: ClassID(0)) }
}
