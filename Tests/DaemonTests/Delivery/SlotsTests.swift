import TarnStore
import TestSupport
import Testing

@testable import TarnDaemon

struct SlotsTests {
  @Test func handsASlotToAPlaceThatWaits() {
    let slots = Slots(1)
    let (first, second) = (slots.place(), slots.place())
    let calls = Lock(0)
    #expect(first.take {})
    // Who asks again has it, or waits, once.
    #expect(first.take {})
    for _ in 0..<3 { #expect(!second.take { calls.withLock { $0 += 1 } }) }
    first.leave()
    #expect(calls.withLock { $0 } == 1)
    #expect(slots.free == 0)
    #expect(second.take {})
    second.leave()
    #expect(slots.free == 1)
    #expect(calls.withLock { $0 } == 1)
  }

  @Test func aPlaceThatWaitsNoMoreIsPassedOver() {
    let slots = Slots(1)
    let places = (0..<3).map { _ in slots.place() }
    #expect(places[0].take {})
    let called = Lock<[Int]>([])
    for index in 1...2 { #expect(!places[index].take { called.withLock { $0.append(index) } }) }
    places[1].leave()
    places[0].leave()
    #expect(called.withLock { $0 } == [2])
  }

  @Test func moreSlotsGoToThoseThatWait() {
    let slots = Slots(2)
    let places = (0..<5).map { _ in slots.place() }
    let called = Lock<[Int]>([])
    func take(_ index: Int) -> Bool {
      places[index].take { called.withLock { $0.append(index) } }
    }
    #expect((0..<5).map(take) == [true, true, false, false, false])
    slots.resize(to: 4)
    #expect(called.withLock { $0 } == [2, 3])
    // With fewer, those that have one keep it, and nobody gets what they give back.
    slots.resize(to: 1)
    for index in 0..<3 { places[index].leave() }
    #expect(called.withLock { $0 } == [2, 3])
    places[3].leave()
    #expect(called.withLock { $0 } == [2, 3, 4])
    places[4].leave()
    #expect(slots.free == 1)
  }

  /// Consumers that get work, deliver, fail and stop by chance: whoever has work is served without
  /// further work for anybody.
  @Test(arguments: Seeds.of(1...500, first: 50))
  func everyConsumerIsServed(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let model = SlotModel(slots: 1 + random.below(3), consumers: 1 + random.below(8))
    for _ in 0..<300 {
      let index = random.below(model.consumers.count)
      switch random.below(10) {
      case 0..<3: model.addWork(index)
      case 3..<7: model.runStep(&random)
      case 7..<9: model.endDelivery(&random, fails: random.chance(30))
      default: if random.chance(5) { model.stop(index) }
      }
      #expect(model.running <= model.count)
    }
    model.runToTheEnd(&random)
    #expect(model.consumers.allSatisfy { $0.work == 0 || $0.hasStopped })
    #expect(model.slots.free == model.count)
  }
}

/// The consumers whose next step is due.
private final class DueSteps: Sendable {
  private let state = Lock<Set<Int>>([])

  var all: Set<Int> { state.withLock { $0 } }
  func insert(_ index: Int) { state.withLock { _ = $0.insert(index) } }
  func remove(_ index: Int) { state.withLock { _ = $0.remove(index) } }
}

/// Consumers as `SinkRunner` is one: a step asks for work, and takes a slot to deliver it.
private final class SlotModel {
  struct Consumer {
    let place: Slots.Place
    var work = 0
    var isRunning = false
    var hasStopped = false
  }

  let count: Int
  let slots: Slots
  var consumers: [Consumer]
  private let due = DueSteps()

  init(slots count: Int, consumers: Int) {
    let slots = Slots(count)
    self.count = count
    self.slots = slots
    self.consumers = (0..<consumers).map { _ in Consumer(place: slots.place()) }
  }

  var running: Int { consumers.count { $0.isRunning } }

  func addWork(_ index: Int) {
    consumers[index].work += 1
    due.insert(index)
  }

  private func one(_ some: some Collection<Int>, _ random: inout SeededRandom) -> Int? {
    let all = some.sorted()
    return all.isEmpty ? nil : all[random.below(all.count)]
  }

  func runStep(_ random: inout SeededRandom) {
    guard let index = one(due.all.filter { !consumers[$0].isRunning }, &random) else { return }
    due.remove(index)
    if consumers[index].hasStopped { return }
    // The work may be gone: objects were changed back, for example.
    if random.chance(10) { consumers[index].work = 0 }
    guard consumers[index].work > 0 else { return consumers[index].place.leave() }
    consumers[index].isRunning = consumers[index].place.take { [due] in due.insert(index) }
  }

  func endDelivery(_ random: inout SeededRandom, fails: Bool) {
    let some = consumers.indices.filter { consumers[$0].isRunning }
    guard let index = one(some, &random) else { return }
    consumers[index].isRunning = false
    if !fails { consumers[index].work = 0 }
    consumers[index].place.leave()
    due.insert(index)
  }

  /// A delivery that runs is ended by it.
  func stop(_ index: Int) {
    consumers[index].hasStopped = true
    consumers[index].isRunning = false
    consumers[index].place.leave()
  }

  /// Nobody gets further work.
  func runToTheEnd(_ random: inout SeededRandom) {
    while running > 0 || !due.all.isEmpty {
      runStep(&random)
      endDelivery(&random, fails: random.chance(30))
    }
  }
}
