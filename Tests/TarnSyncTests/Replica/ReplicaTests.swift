import Foundation
import SyncSimulation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Files that meet in a real server.
@Suite struct ReplicaTests {
  private func truth(_ connection: ServerConnection) throws -> [String: FileReplica.Object] {
    var objects: [String: FileReplica.Object] = [:]
    let things = try connection.rows(
      "SELECT t._id, t.a, t.b, n._id FROM \"Thing\" t LEFT JOIN \"Note\" n ON n._id = t.note")
    for row in things {
      objects["Thing \(row[0] ?? "")"] = FileReplica.Object(
        a: Int64(row[1] ?? "") ?? -1, rest: row[2].map { "\(Value.int(Int64($0) ?? -1))" },
        note: row[3].map { "\(Value.string($0))" })
    }
    for row in try connection.rows("SELECT _id, a, text FROM \"Note\"") {
      objects["Note \(Value.string(row[0] ?? ""))"] = FileReplica.Object(
        a: Int64(row[1] ?? "") ?? -1, rest: row[2].map { "\(Value.string($0))" })
    }
    objects.merge(try FileBox.all(connection)) { $1 }
    return objects
  }

  private func run(_ accidents: SimulatedAccidents, _ programs: Int) throws {
    let (database, role) = try FileReplica.server()
    let administrator = try database.connect()
    for seed in Seeds.chosen.map({ $0...$0 }) ?? 1...UInt64(programs) {
      try administrator.run(
        """
        DELETE FROM "Thing"; DELETE FROM "Note"; DELETE FROM "Box";
        TRUNCATE tarn.gone, tarn.replica; DROP SCHEMA IF EXISTS backup CASCADE
        """, for: "begin anew")
      var program = try ReplicaProgram(seed: seed, accidents, administrator) {
        try database.connect(as: role)
      }
      try program.run(40)
      let objects = try truth(administrator)
      let story = Seeds.chosen == nil ? "" : "\n" + program.history.joined(separator: "\n")
      for (index, replica) in program.replicas.enumerated() {
        let shown = try replica.objects()
        let keys = try replica.subscribedKeys(administrator)
        let chosen = objects.filter { keys?.contains($0.key) != false }
        #expect(shown == chosen, "seed \(seed): file \(index) differs\(story)")
        let state = try SubscriptionSet.read(in: replica.store.newestSnapshot())?.state
        #expect(state == nil || state == .complete, "seed \(seed)")
      }
      let repeated = FileBox.repeated(in: objects).filter { !program.mayRepeat(in: $0) }
      #expect(repeated == [], "seed \(seed)\(story)")
    }
  }

  @Test func `files become equal through a server`() throws {
    try run(.sql, Seeds.rounds(500, few: 10))
  }

  @Test func `files that are copied or put back become equal`() throws {
    try run([.sql, .files], Seeds.rounds(500, few: 10))
  }

  @Test func `files become equal through a server that is restored`() throws {
    try run([.failover], Seeds.rounds(500, few: 10))
  }

  @Test func `files have what they subscribe to`() throws {
    try run([.sql, .subscriptions], Seeds.rounds(500, few: 10))
  }

  @Test func `files with subscriptions become equal through all accidents`() throws {
    try run([.sql, .files, .failover, .subscriptions], Seeds.rounds(500, few: 10))
  }

  @Test func `files that join their unsent commits become equal`() throws {
    try run([.sql, .joins], Seeds.rounds(500, few: 10))
  }

  @Test func `files that join their unsent commits become equal through all accidents`() throws {
    try run([.sql, .files, .failover, .subscriptions, .joins], Seeds.rounds(500, few: 10))
  }

  @Test func `files become equal through all accidents`() throws {
    try run([.sql, .files, .failover], Seeds.rounds(500, few: 10))
  }
}
