import BenchFloors
import Foundation
import Tarn
import ToolSupport

/// The object of W7q: many groups, each observed by one query.
final class Ticket: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted(indexed: true) var group = 0
  @Persisted var score = 0
}

/// A store of tickets, and observers of some of their groups on one instance.
private final class ObservedTickets {
  let realm: Realm
  let groups: Int
  private let bench: Bench
  private var tokens: [NotificationToken] = []
  private(set) var calls = 0
  private(set) var lastCall = 0.0

  init(_ bench: Bench) throws {
    self.bench = bench
    // Groups of a hundred, but ten thousand at least.
    groups = bench.isTiny ? 200 : max(10_000, bench.objects / 100)
    realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(fileURLWithPath: "\(bench.folder)/tickets.realm"),
        objectTypes: [Ticket.self], durability: .relaxed),
      scheduler: bench.scheduler)
    try realm.write {
      for id in 0..<max(bench.objects, groups) {
        let ticket = Ticket()
        ticket._id = id
        ticket.group = id % groups
        ticket.score = id / groups
        realm.add(ticket)
      }
    }
  }

  private func tickets(of group: Int) -> Results<Ticket> {
    realm.objects(Ticket.self).where { $0.group == group && $0.score >= 0 }.sorted(by: \.score)
  }

  /// Observes as many groups from that one on, beside those observed already.
  func observe(_ count: Int, from first: Int = 0) throws {
    let before = calls
    tokens.reserveCapacity(tokens.count + count)
    for group in first..<first + count {
      tokens.append(
        tickets(of: group).observe { [unowned self] _ in
          lastCall = benchNow()
          calls += 1
        })
    }
    bench.scheduler.pump()
    guard calls == before + count else { throw ToolError("W7q: a first call is missing") }
  }

  /// Evaluates as many queries without observing them.
  func evaluate(_ count: Int, from first: Int) -> Int {
    (first..<first + count).reduce(0) { $0 + tickets(of: $1).count }
  }

  func endObserving() {
    for token in tokens { token.invalidate() }
    tokens = []
    bench.scheduler.pump()
  }

  /// The medians of some commits of one new score each, in the group with a number.
  ///
  /// - Returns: the seconds until the callback, or without one until the turn has ended, and the
  ///   processor time of commit and turn.
  func commit(
    _ rounds: Int, isObserved: Bool, _ group: (Int) -> Int
  ) throws -> (delay: Double, processor: Double) {
    var (delays, processor): ([Double], [Double]) = ([], [])
    for number in 0..<rounds + rounds / 4 {
      let id = group(number)
      guard let ticket = realm.object(ofType: Ticket.self, forPrimaryKey: id) else {
        throw ToolError("W7q: ticket \(id) is missing")
      }
      realm.beginWrite()
      ticket.score += 1
      let before = calls
      let (start, used) = (benchNow(), processorNow())
      try realm.commitWrite()
      bench.scheduler.pump()
      let end = isObserved ? lastCall : benchNow()
      guard calls == before + (isObserved ? 1 : 0) else {
        throw ToolError("W7q: \(calls - before) observers were called")
      }
      guard number >= rounds / 4 else { continue }
      delays.append(end - start)
      processor.append(processorNow() - used)
    }
    return (Statistics.median(delays), Statistics.median(processor))
  }
}

/// The processor time of this process, in seconds.
private func processorNow() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// W7q: 1,000 observed queries, each for its own group, and a commit that concerns one of them;
/// W7qx with 10,000. W7qn: a commit that concerns none of these. W7qc: the processor time of W7qx
/// beside that with one query. W7qr: the time that registering a query takes beyond evaluating it.
/// W7qb: the memory of one without rows.
func measureManyQueries(_ bench: Bench) throws {
  let observed = try ObservedTickets(bench)
  let rounds = bench.rounds(400, tiny: 20)
  let (some, many) = bench.isTiny ? (20, 100) : (1_000, 10_000)
  func scattered(_ count: Int) -> (Int) -> Int {
    { BenchStores.scattered($0, count) - 1 }
  }
  try observed.observe(1)
  let one = try observed.commit(rounds, isObserved: true) { _ in 0 }
  observed.endObserving()
  try observed.observe(some)
  let few = try observed.commit(rounds, isObserved: true, scattered(some))
  observed.endObserving()

  let evaluating = benchTime { _ = observed.evaluate(many, from: 0) }
  let registering = try benchTime { try observed.observe(many) }
  let all = try observed.commit(rounds, isObserved: true, scattered(many))
  observed.endObserving()
  let before = bf_heap_bytes()
  try observed.observe(many, from: observed.groups)
  let bytes = Double(bf_heap_bytes() - before)
  let none = try observed.commit(rounds, isObserved: false, scattered(many))
  observed.endObserving()

  bench.add(
    BenchFigure(
      "W7q", "\(amount(some)) queries observed, 1 concerned: commit to callback", .seconds,
      ours: few.delay, target: .value(100e-6)))
  bench.add(
    BenchFigure(
      "W7qx", "W7q with \(amount(many))", .seconds, ours: all.delay, target: .value(100e-6)))
  bench.add(
    BenchFigure(
      "W7qn", "W7qx, none concerned: commit and turn", .seconds, ours: none.delay,
      target: .value(30e-6)))
  bench.add(
    BenchFigure(
      "W7qc", "processor time of W7qx; baseline: 1 query", .seconds, ours: all.processor,
      floor: one.processor, target: .ratio(1.5)))
  bench.add(
    BenchFigure(
      "W7qr", "registering a query of W7qx, beyond evaluating", .seconds,
      ours: (registering - evaluating) / Double(many), target: .value(20e-6)))
  bench.add(
    BenchFigure(
      "W7qb", "memory per query observed, without rows", .bytes, ours: bytes / Double(many),
      target: .value(2048)))
}
