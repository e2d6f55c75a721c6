import SyncSimulation
import TarnSync
import TestSupport
import Testing

/// Random programs of replicas and a server, whose merging is that of the library. A failure names
/// the seed, with which the program runs again.
@Suite struct SimulationTests {
  private let seeds =
    Seeds.chosen.map { $0...$0 }
    ?? 1...UInt64(Seeds.count ?? Seeds.rounds(4_000, few: 100))

  private func run(
    _ accidents: SimulatedAccidents, _ check: (SimulatedProgram<SimulatedServer>, UInt64) -> Void
  ) throws {
    for seed in seeds {
      let program = try SimulatedProgram.run(seed: seed, accidents, steps: 50)
      for replica in program.replicas {
        #expect(replica.unsent.isEmpty, "seed \(seed): commits are left")
        #expect(replica.shown == program.server.objects, "seed \(seed): replicas differ")
      }
      check(program, seed)
    }
  }

  /// Each value put into a list is there once, unless somebody took it out or deleted its object.
  ///
  /// - Parameter mayReturn: whether one that was taken out may be there: after a failover its
  ///   removal may be sent again before its insertion, and finds nothing.
  private func checkLists(
    _ program: SimulatedProgram<SimulatedServer>, _ seed: UInt64, mayReturn: Bool = false
  ) {
    var counts: [Int: Int] = [:]
    for row in program.server.objects.values {
      guard case .list(let list)? = row.values["l"]?.content else { continue }
      for element in list { counts[element.content.value, default: 0] += 1 }
    }
    for (value, key) in program.listed where !program.deletedKeys.contains(key) {
      let count = counts[value, default: 0]
      if program.unlisted.contains(value) {
        #expect(count == 0 || mayReturn && count == 1, "seed \(seed): value \(value) of \(key)")
      } else {
        #expect(count == 1, "seed \(seed): value \(value) of \(key)")
      }
    }
  }

  @Test func `replicas become equal and keep every insertion`() throws {
    try run([]) { program, seed in checkLists(program, seed) }
  }

  @Test func `SQL programs write too`() throws {
    try run([.sql, .skew]) { program, seed in checkLists(program, seed) }
  }

  @Test func `a failover loses commits, which are sent again`() throws {
    try run([.failover]) { program, seed in checkLists(program, seed, mayReturn: true) }
  }

  @Test func `what is refused leaves nothing, and the rest goes on`() throws {
    try run([.refusals, .sql]) { program, seed in
      for row in program.server.objects.values {
        #expect(!SimulatedServer.isRefused(row), "seed \(seed)")
      }
    }
  }

  @Test func `files that are copied or put back go on as replicas of their own`() throws {
    try run([.files, .sql, .refusals]) { _, _ in }
  }

  @Test func `everything at once`() throws {
    try run([.files, .sql, .refusals, .failover, .skew]) { _, _ in }
  }
}
