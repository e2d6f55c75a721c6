import BenchFloors
import Foundation
import Tarn
import ToolSupport

/// An observed `age > 50`, sorted by name, on a queue of its own, and how long that queue was kept
/// from running anything else.
private final class ObservedQueue: @unchecked Sendable {
  // because: everything but `queue` and `called` is used on the queue alone.
  private let queue = DispatchQueue(label: "tarn-bench observer")
  private let called = DispatchSemaphore(value: 0)
  private var realm: Realm?
  private var token: NotificationToken?
  private var lastTick = 0.0
  private var longest = 0.0
  private var isTicking = false

  init(_ configuration: Realm.Configuration) throws {
    try queue.sync { realm = try Realm(configuration: configuration, queue: queue) }
  }

  func observe() {
    queue.async { [self] in
      let results = realm?.objects(Person.self).where { $0.age > 50 }.sorted(by: \.name)
      token = results?.observe { [called] _ in called.signal() }
    }
  }

  /// The longest time between two ticks, from before `cause` until the next call of the observer.
  func longestStall(_ cause: () throws -> Void) throws -> Double {
    queue.sync {
      longest = 0
      lastTick = benchNow()
      isTicking = true
      tick()
    }
    try cause()
    guard called.wait(timeout: .now() + 60) == .success else {
      throw ToolError("the observer was not called")
    }
    return queue.sync {
      isTicking = false
      return max(longest, benchNow() - lastTick)
    }
  }

  private func tick() {
    let now = benchNow()
    longest = max(longest, now - lastTick)
    lastTick = now
    if isTicking { queue.asyncAfter(deadline: .now() + .microseconds(200)) { self.tick() } }
  }

  func end() {
    queue.sync {
      isTicking = false
      token?.invalidate()
      token = nil
      realm = nil
    }
  }
}

/// W7s, W7t: how long an observer's queue is kept from other things by another instance's commit
/// of many changes, and by an observer's first result.
func measureStalls(_ bench: Bench) throws {
  let stores = try bench.stores()
  let changes = min(100_000, bench.objects / 10)
  let rounds = bench.rounds(5, tiny: 1)
  let observed = try ObservedQueue(bench.configuration("main"))
  let first = try observed.longestStall { observed.observe() }
  var serial = 0
  let longest = try (0..<rounds).map { _ in
    try observed.longestStall {
      try stores.realm.write {
        for _ in 0..<changes {
          serial += 1
          try stores.person(stores.scatteredID()).name = "stalled \(serial * 7919 % 1_000_003)"
        }
      }
    }
  }
  observed.end()
  bench.add(
    BenchFigure(
      "W7s", "longest stall of the loop that observes, \(changes) changes elsewhere", .seconds,
      ours: Statistics.median(longest), target: .value(10e-3)))
  bench.add(
    BenchFigure(
      "W7t", "longest stall of that loop until the first result", .seconds, ours: first,
      target: .value(10e-3)))
}
