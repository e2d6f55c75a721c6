import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What groups make of the commits of another process.
struct GroupProcessTests {
  private static func open(_ folder: String) throws -> Instance {
    try Instance(
      Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder + "/purses.realm"),
        objectTypes: [Purse.self, Shop.self, PurseBox.self], durability: .relaxed))
  }

  /// Random commits once the other process observes, and a purse as the last one.
  static func writeOnceObserved(_ folder: String, seed: UInt64) throws {
    precondition(waitUntil { FileManager.default.fileExists(atPath: folder + "/ready") })
    let instance = try open(folder)
    var operations = PurseOperations(numbers: SeededRandom(seed: seed))
    for _ in 0..<150 {
      try instance.write {
        for _ in 0...operations.numbers.below(5) { operations.apply(to: instance) }
      }
    }
    try instance.write { operations.add(99, to: instance) }
  }

  @Test(arguments: [1, 2] as [UInt64])
  func anotherProcessCommits(seed: UInt64) async throws {
    let folder = TemporaryFolder()
    do {
      let instance = try Self.open(folder.path)
      try instance.write { instance.realm.add(PurseBox()) }
    }
    async let observer = #expect(processExitsWith: .success) {
      [path = folder.path as String] in try GroupProcessTests.follow(path)
    }
    async let writer = #expect(processExitsWith: .success) {
      [path = folder.path as String, seed = seed as UInt64] in
      try GroupProcessTests.writeOnceObserved(path, seed: seed)
    }
    _ = await (observer, writer)
  }

  /// What the other process does: it observes until the last commit has come.
  static func follow(_ folder: String) throws {
    let instance = try open(folder)
    let groups = instance.purses.where { $0.coins > 0 }.groupedWithAll(by: \.owner)
    let total = instance.purses.aggregateOfAll()
    var (copy, sum, calls) = ([GroupedResults<String?, PurseValues>.Group](), "", 0)
    let tokens = [
      groups.observeChanges { change in
        change.apply(to: &copy)
        calls += 1
      },
      total.observe { change in
        if case .initial(let values) = change { sum = text(values) }
        if case .update(let old, let new) = change {
          precondition(text(old) == sum, "\(text(old)), not \(sum)")
          sum = text(new)
        }
      },
    ]
    instance.pump()
    try Data().write(to: URL(fileURLWithPath: folder + "/ready"))
    let end = ContinuousClock.now + .seconds(300)
    while instance.purse(99) == nil, ContinuousClock.now < end {
      instance.scheduler.wait(timeout: 1)
      instance.pump()
    }
    instance.pump()
    precondition(instance.purse(99) != nil, "the last commit did not come")
    precondition(calls > 1)
    let rows = Array(instance.purses).filter { $0.coins > 0 }
    let expected = Dictionary(grouping: rows) { KeyRank($0.owner) }.sorted { $0.key < $1.key }
    precondition(copy.map { KeyRank($0.key) } == expected.map(\.key))
    precondition(copy.map { text($0.values) } == expected.map { text(plainValues($0.value)) })
    precondition(sum == text(plainValues(Array(instance.purses))))
    withExtendedLifetime(tokens) {}
  }
}
