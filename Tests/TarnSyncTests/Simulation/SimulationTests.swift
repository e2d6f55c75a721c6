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

  private typealias Program = SimulatedProgram<SimulatedServer>
  private typealias Check = (Program) -> [String]

  private func run(
    _ accidents: SimulatedAccidents, _ check: Check = { _ in [] }
  ) throws {
    for seed in seeds {
      let steps = Program.steps(seed, 50)
      if try faults(seed, accidents, steps, check).isEmpty { continue }
      let shortest = try ShorterPrograms.shortest(steps) {
        try !faults(seed, accidents, $0, check).isEmpty
      }
      let found = try faults(seed, accidents, shortest, check)
      Issue.record(
        """
        seed \(seed): \(found.joined(separator: ", "))
        try Program.run(seed: \(seed), SimulatedAccidents(rawValue: \(accidents.rawValue)),
          steps: \(shortest))
        """)
    }
  }

  private func faults(
    _ seed: UInt64, _ accidents: SimulatedAccidents, _ steps: [UInt64], _ check: Check
  ) throws -> [String] {
    let program = try Program.run(seed: seed, accidents, steps: steps)
    var faults = check(program)
    for replica in program.replicas {
      if !replica.unsent.isEmpty { faults.append("commits are left") }
      if replica.shown != program.server.objects { faults.append("replicas differ") }
    }
    return faults
  }

  /// Each value put into a list is there once, unless somebody took it out or deleted its object.
  ///
  /// - Parameter mayReturn: whether one that was taken out may be there: after a failover its
  ///   removal may be sent again before its insertion, and finds nothing.
  private func wrongValues(_ program: Program, mayReturn: Bool = false) -> [String] {
    var counts: [Int: Int] = [:]
    for row in program.server.objects.values {
      guard case .list(let list)? = row.values["l"]?.content else { continue }
      for element in list { counts[element.content.value, default: 0] += 1 }
    }
    var wrong: [String] = []
    for (value, key) in program.listed where !program.deletedKeys.contains(key) {
      let count = counts[value, default: 0]
      let isRight =
        program.unlisted.contains(value) ? count == 0 || mayReturn && count == 1 : count == 1
      if !isRight { wrong.append("value \(value) of \(key)") }
    }
    return wrong
  }

  @Test func `replicas become equal and keep every insertion`() throws {
    try run([]) { wrongValues($0) }
  }

  @Test func `SQL programs write too`() throws {
    try run([.sql, .skew]) { wrongValues($0) }
  }

  @Test func `a failover loses commits, which are sent again`() throws {
    try run([.failover]) { wrongValues($0, mayReturn: true) }
  }

  @Test func `what is refused leaves nothing, and the rest goes on`() throws {
    try run([.refusals, .sql]) { program in
      program.server.objects.values.contains(where: SimulatedServer.isRefused)
        ? ["a refused value is there"] : []
    }
  }

  @Test func `files that are copied or put back go on as replicas of their own`() throws {
    try run([.files, .sql, .refusals])
  }

  @Test func `everything at once`() throws {
    try run([.files, .sql, .refusals, .failover, .skew])
  }
}
