import SyncSimulation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Replicas that meet in a real server.
@Suite struct ExchangeTests {
  /// A database with the class, whose property "a" refuses what the simulated server refuses.
  private func prepared() throws -> PostgresDatabase {
    let database = try PostgresDatabase([ServerPeer.thing])
    try database.connect().rows("ALTER TABLE \"Thing\" ADD CHECK (a % 13 <> 0)")
    return database
  }

  /// The programs of the simulation, with the triggers and functions of a server.
  @Test func `replicas become equal through a server`() throws {
    let database = try prepared()
    let client = try database.connect(as: database.makeClient())
    try run(Seeds.rounds(1_000, few: 60), database, client)
  }

  @Test func `the isolation that a database begins with does not matter`() throws {
    for isolation in ["serializable", "repeatable read"] {
      let database = try prepared()
      try database.connect().rows(
        """
        ALTER DATABASE \(SQLText.name(database.name))
        SET default_transaction_isolation = \(SQLText.literal(isolation))
        """)
      let client = try database.connect(as: database.makeClient())
      #expect(try client.value("SHOW default_transaction_isolation") == isolation)
      try run(Seeds.rounds(100, few: 5), database, client)
    }
  }

  /// Each transaction may be on another connection, and no setting outlives it.
  @Test func `replicas become equal through a pooler`() throws {
    let database = try prepared()
    let pooler = try PostgresPooler(PostgresServer.shared.get())
    let address = pooler.address(database.name, as: try database.makeClient())
    let client = try ServerConnection(ServerAddress(address))
    // Takes turns with ours at the pooler's connections.
    let other = try ServerConnection(ServerAddress(address))
    try other.rows("BEGIN")
    let direct = try database.connect()
    try direct.keepPlans(for: "test")
    #expect(direct.plans.isUsed)
    try run(Seeds.rounds(200, few: 20), database, client)
    try other.rows("COMMIT")
    #expect(!client.plans.isUsed)
  }

  private func run(
    _ programs: Int, _ database: PostgresDatabase, _ connection: ServerConnection
  ) throws {
    let administrator = try database.connect()
    for seed in Seeds.chosen.map({ $0...$0 }) ?? 1...UInt64(programs) {
      var accidents: SimulatedAccidents = [.isPlain, .sql]
      if seed % 2 == 0 { accidents.insert(.refusals) }
      if seed % 3 == 0 { accidents.insert(.files) }
      try administrator.rows("TRUNCATE tarn.gone")
      var program = SimulatedProgram(
        seed: seed, accidents, try ServerPeer(connection, seed: seed))
      try program.run(SimulatedProgram<ServerPeer>.steps(seed, 50))
      try program.server.register(99)
      let objects = try program.server.pull(99, since: -1).rows
      for replica in program.replicas {
        #expect(replica.unsent.isEmpty, "seed \(seed): commits are left")
        #expect(replica.shown == objects, "seed \(seed): replicas differ")
      }
    }
  }

  @Test(
    arguments: [
      ("0:5:", 5, []), ("3:9:3,7", 9, [3, 7]),
      ("18446744073709551615:18446744073709551615:", .max, []),
    ] as [(String, UInt64, [UInt64])])
  func `a position is a snapshot`(_ text: String, _ end: UInt64, _ open: [UInt64]) {
    let position = ServerPosition(text)
    #expect(position?.end == end)
    #expect(position?.open == open)
    #expect(position?.oldest == open.first ?? end)
  }
}
