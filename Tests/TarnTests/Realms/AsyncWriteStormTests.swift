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

  private let place: Place
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

  init(_ place: Place) { self.place = place }

  func queueSome() {
    for _ in 0..<random.below(12) {
      queueOne()
      cancelOne(30)
    }
  }

  private func queueOne() {
    count += 1
    let number = count
    let realm = place.realm
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
    if !place.realm.isInWriteTransaction || !began.insert(number).inserted { wrong += 1 }
    place.realm.add(Cat(number))
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
    do { try place.realm.cancelAsyncWrite(victim.id) } catch { wrong += 1 }
  }

  func check() {
    let all = Set(1...count)
    #expect(wrong == 0)
    #expect(began == all.subtracting(dropped))
    #expect(Set(told) == began.subtracting(unheard))
    #expect(told == told.sorted())
    #expect(Set(place.cats.map(\.id)) == began)
    #expect(!dropped.isEmpty && !unheard.isEmpty && !told.isEmpty)
  }
}

struct AsyncWriteStormTests {
  @Test("S69 S72", arguments: durabilities)
  func everythingThatIsCancelledKeepsItsWord(
    _ durability: Realm.Configuration.Durability
  ) throws {
    let shelter = try Shelter(durability)
    let (a, b) = (try shelter.open(), try shelter.open())
    let storm = CancellationStorm(a)
    var random = SeededRandom(seed: 72)
    while storm.cancels < 10_000 {
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
    try b.realm.write(timeout: .seconds(10)) {}
    #expect(b.realm.core.store.gate.holder == nil)
  }
}
