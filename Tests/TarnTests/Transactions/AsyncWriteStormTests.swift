import Foundation
import TestSupport
import Testing

@testable import Tarn

private let durabilities: [Realm.Configuration.Durability] = [.full, .relaxed]

/// Queued writes that are cancelled at random moments, and what has to come of each of them.
private final class CancellationStorm {
  private struct Cancellable {
    let number: Int
    let id: AsyncTransactionId
    /// It names a commit, of which only the completion can be cancelled.
    let isCommit: Bool
  }

  private let instance: Instance
  private var random = SeededRandom(seed: 84)
  private var cancellable: [Cancellable] = []
  private(set) var count = 0
  private(set) var cancels = 0
  private(set) var wrong = 0
  private(set) var began: Set<Int> = []
  private(set) var told: [Int] = []
  /// Cancelled before they began, and before they were told.
  private(set) var dropped: Set<Int> = []
  private(set) var unheard: Set<Int> = []

  init(_ instance: Instance) { self.instance = instance }

  func queueSome() {
    for _ in 0..<random.below(12) {
      queueOne()
      cancelOne(30)
    }
  }

  private func queueOne() {
    count += 1
    let number = count
    let realm = instance.realm
    let id: AsyncTransactionId
    if random.chance(50) {
      id = realm.writeAsync { [unowned self] in
        begin(number)
      } onComplete: { [unowned self] error in
        end(number, error)
      }
    } else {
      id = realm.beginAsyncWrite { [unowned self] in
        begin(number)
        let commit = realm.commitAsyncWrite(allowGrouping: random.chance(70)) {
          [unowned self] error in end(number, error)
        }
        cancellable.append(Cancellable(number: number, id: commit, isCommit: true))
        cancelOne(20)
      }
    }
    cancellable.append(Cancellable(number: number, id: id, isCommit: false))
  }

  private func begin(_ number: Int) {
    if !instance.realm.isInWriteTransaction || !began.insert(number).inserted { wrong += 1 }
    instance.realm.add(Cat(number))
    cancelOne(20)
  }

  private func end(_ number: Int, _ error: (any Error)?) {
    if error != nil || !began.contains(number) || unheard.contains(number) { wrong += 1 }
    told.append(number)
    cancelOne(20)
  }

  /// Cancels one of those of late, that often in a hundred times.
  func cancelOne(_ percent: Int) {
    guard random.chance(percent), !cancellable.isEmpty else { return }
    let victim = cancellable.remove(
      at: cancellable.count - 1 - random.below(min(8, cancellable.count)))
    cancels += 1
    if victim.isCommit {
      if !told.contains(victim.number) { unheard.insert(victim.number) }
    } else if !began.contains(victim.number) {
      dropped.insert(victim.number)
    }
    do { try instance.realm.cancelAsyncWrite(victim.id) } catch { wrong += 1 }
  }

  func check() {
    let all = Set(1...count)
    #expect(wrong == 0)
    #expect(began == all.subtracting(dropped))
    #expect(Set(told) == began.subtracting(unheard))
    #expect(told == told.sorted())
    #expect(Set(instance.cats.map(\.id)) == began)
    #expect(!dropped.isEmpty)
    #expect(!unheard.isEmpty)
    #expect(!told.isEmpty)
  }
}

/// An actor that others let go of while much is on its way.
private actor Visitor {
  private var realm: Realm!
  private var tokens: [NotificationToken] = []
  private(set) var calls = 0

  init(_ configuration: Realm.Configuration) async throws {
    realm = try await Realm(configuration: configuration, actor: self)
  }

  var core: WeakBox { WeakBox(realm.core) }

  /// Observes in every way, and sets commits in motion. The one with that id is kept for certain.
  func stir(_ id: Int, _ other: Visitor, _ queue: DispatchQueue) async {
    let cats = realm.objects(Cat.self)
    tokens.append(cats.observe { [weak self] _ in self?.assumeIsolated { $0.calls += 1 } })
    // The log tells of each that goes without being invalidated.
    if id.isMultiple(of: 500) { tokens.append(realm.observe { _, _ in }) }
    tokens.append(cats.observe(on: queue) { _ in })
    tokens.append(await cats.observe(on: other) { other, _ in other.called() })
    realm.writeAsync { [weak self] in self?.assumeIsolated { $0.addUncertain(id) } }
    realm.beginWrite()
    realm.add(Cat(id))
    realm.commitAsyncWrite { [weak self] _ in self?.assumeIsolated { $0.calls += 1 } }
    realm.beginAsyncWrite { [weak self] in self?.assumeIsolated { $0.addUncertain(id + 1) } }
    // These hold the Realm, and would keep it if they never came.
    realm.writeAsync { [realm = realm!] in realm.add(Cat(-id - 2)) }
    realm.writeAsync { [realm = realm!] in realm.add(Cat(-id - 3)) }
  }

  /// Tokens that go where the actor knows nothing of.
  func handOutTokens() -> [NotificationToken] { tokens }

  private func addUncertain(_ id: Int) { realm?.add(Cat(-id)) }
  func called() { calls += 1 }

  func write(_ id: Int) async throws {
    guard let realm else { return }
    try await realm.asyncWrite { _ = realm.create(Cat.self, value: ["id": id], update: .all) }
  }

  func letGoOfTokens() { tokens = [] }
  func letGo() { realm = nil }
}

struct AsyncWriteStormTests {
  @Test("blocks that are cancelled at random never run, and the others do", arguments: durabilities)
  func everythingThatIsCancelledKeepsItsWord(
    _ durability: Realm.Configuration.Durability
  ) throws {
    let shelter = try Shelter(durability)
    let (a, b) = (try shelter.open(), try shelter.open())
    let storm = CancellationStorm(a)
    var random = SeededRandom(seed: 72)
    // 10,000 with `TARN_SEEDS=all`.
    while storm.cancels < Seeds.rounds(10_000, few: 1_500) {
      // Now and then somebody else has the gate.
      let isHeld = random.chance(30)
      if isHeld { b.realm.beginWrite() }
      storm.queueSome()
      if random.chance(50) { a.scheduler.pump() }
      storm.cancelOne(50)
      if isHeld { b.realm.cancelWrite() }
      switch random.below(6) {
      case 0: try a.write { storm.cancelOne(100) }
      case 1: a.finish()
      default: for _ in 0..<random.below(4) { a.scheduler.pump() }
      }
    }
    a.finish()
    storm.check()
    // The gate is free, and nobody stands in line.
    try b.realm.write(timeout: .seconds(300)) {}
    #expect(b.realm.core.store.gate.holder == nil)
  }

  @Test(
    "instances may be released at any moment while writes are queued",
    .timeLimit(.minutes(30)), arguments: durabilities)
  func everythingMayGoAtAnyMoment(_ durability: Realm.Configuration.Durability) async throws {
    let shelter = try Shelter(durability)
    let configuration = shelter.configuration
    var cores: [WeakBox] = []
    var random = SeededRandom(seed: 77)
    let rounds = Seeds.rounds(150, few: 50)
    for round in 1...rounds {
      let queue = DispatchQueue(label: "visitors")
      var visitors: [Visitor] = []
      for _ in 0..<3 { visitors.append(try await Visitor(configuration)) }
      for visitor in visitors { cores.append(await visitor.core) }
      await visitors[0].stir(10 * round, visitors[1], queue)
      let tasks = [visitors[0], visitors[2]].map { visitor in
        Task { try? await visitor.write(10 * round + 5) }
      }
      for _ in 0..<random.below(20) { await Task.yield() }
      if random.chance(50) { tasks[0].cancel() }
      if random.chance(50) { await visitors[0].letGoOfTokens() }
      let handedOut = random.chance(50) ? await visitors[0].handOutTokens() : []
      if random.chance(50) { await visitors[0].letGo() }
      if random.chance(50) { await visitors[1].letGo() }
      visitors = []
      DispatchQueue.global().async { for token in handedOut where token.end() {} }
    }
    // Nothing keeps an instance, and its version, whose actor is gone.
    let all = cores
    try await eventually { all.allSatisfy { $0.value == nil } }
    let instance = try shelter.open()
    let found = Set(instance.cats.map(\.id))
    #expect((1...rounds).allSatisfy { found.contains(10 * $0) })
    try instance.realm.write(timeout: .seconds(300)) {}
    #expect(instance.realm.core.store.gate.holder == nil)
  }
}
