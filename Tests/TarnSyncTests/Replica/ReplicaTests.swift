import Foundation
import SyncSimulation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Files that meet in a real server.
@Suite struct ReplicaTests {
  /// - Parameter chosen: the objects that a file is to have; nil for all. Links of its boxes lead
  ///   to no others.
  private func truth(
    _ connection: ServerConnection, _ chosen: Set<String>?
  ) throws -> [String: FileReplica.Object] {
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
    objects.merge(try FileBox.all(connection, chosen)) { $1 }
    return objects
  }

  /// A server for many programs, one after the other.
  private struct Ground {
    let database: PostgresDatabase
    let role: String
    let administrator: ServerConnection

    init() throws {
      (database, role) = try FileReplica.server()
      administrator = try database.connect()
    }
  }

  private func run(_ accidents: SimulatedAccidents, _ programs: Int) throws {
    let ground = try Ground()
    for seed in Seeds.chosen.map({ $0...$0 }) ?? 1...UInt64(Seeds.count ?? programs) {
      let steps = ReplicaProgram.steps(seed)
      guard try !failures(steps, accidents, ground).faults.isEmpty else { continue }
      let shortest = try ShorterPrograms.shortest(steps) {
        try !failures($0, accidents, ground).faults.isEmpty
      }
      let (faults, story) = try failures(shortest, accidents, ground)
      Issue.record(
        """
        seed \(seed): \(faults.joined(separator: "\n"))
        try repeats(\(shortest), SimulatedAccidents(rawValue: \(accidents.rawValue)))
        \(story.joined(separator: "\n"))
        """)
    }
  }

  /// Runs the steps that a failure has named.
  private func repeats(_ steps: [UInt64], _ accidents: SimulatedAccidents) throws {
    let (faults, story) = try failures(steps, accidents, Ground())
    #expect(faults == [], "\(story.joined(separator: "\n"))")
  }

  /// The faults of a program, and what happened.
  private func failures(
    _ steps: [UInt64], _ accidents: SimulatedAccidents, _ ground: Ground
  ) throws -> (faults: [String], story: [String]) {
    let administrator = ground.administrator
    try administrator.run(
      """
      DELETE FROM "Thing"; DELETE FROM "Note"; DELETE FROM "Box";
      TRUNCATE tarn.gone, tarn.replica; DROP SCHEMA IF EXISTS backup CASCADE
      """, for: "begin anew")
    var program = try ReplicaProgram(accidents, administrator) {
      try ground.database.connect(as: ground.role)
    }
    defer { for replica in program.replicas { replica.end() } }
    do {
      try program.run(steps)
      return (try faults(program, administrator), program.history)
    } catch {
      return (["\(error)"], program.history)
    }
  }

  private func faults(
    _ program: ReplicaProgram, _ administrator: ServerConnection
  ) throws -> [String] {
    var faults: [String] = []
    for (index, replica) in program.replicas.enumerated() {
      let shown = try replica.objects()
      let keys = try replica.subscribedKeys(administrator)
      let objects = try truth(administrator, keys)
      let chosen = objects.filter { keys?.contains($0.key) != false }
      for name in Set(shown.keys).union(chosen.keys).sorted() where shown[name] != chosen[name] {
        faults.append(
          """
          file \(index), \(name): \(shown[name].map { "\($0)" } ?? "missing")
          where the server has \(chosen[name].map { "\($0)" } ?? "nothing")
          """)
      }
      let state = try SubscriptionSet.read(in: replica.store.newestSnapshot())?.state
      if state != nil, state != .complete { faults.append("file \(index) is \(state!)") }
    }
    let repeated = try FileBox.repeated(in: truth(administrator, nil)).filter {
      !program.mayRepeat(in: $0)
    }
    return faults + repeated
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

  @Test func `files become equal through classes that are made again`() throws {
    try run([.sql, .tables], Seeds.rounds(500, few: 10))
  }

  @Test func `files with subscriptions become equal through classes that are made again`() throws {
    try run([.sql, .tables, .subscriptions, .joins], Seeds.rounds(500, few: 10))
  }

  @Test func `files become equal through all accidents`() throws {
    try run([.sql, .files, .failover], Seeds.rounds(500, few: 10))
  }
}
