import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Random operations on lists, sets and maps, compared with the standard library's collections:
/// on unmanaged ones, and on managed ones through two instances with observers on both.
struct ChestModelTests {
  @Test(arguments: Seeds.of(1...4, first: 2))
  func unmanagedCollectionsAreAsTheModel(seed: Int) {
    var operations = ChestOperations(seed: UInt64(seed))
    let chest = Chest(1)
    let coins = (0..<12).map { Coin($0) }
    for step in 0..<3000 {
      operations.apply(to: chest, coins)
      guard step % 10 == 0 else { continue }
      let difference = operations.model.difference(from: chest)
      #expect(difference == nil, "step \(step)")
      if difference != nil { return }
    }
  }

  @Test(arguments: Seeds.of(1...6, first: 2))
  func managedCollectionsAreAsTheModel(seed: Int) throws {
    var run = try ChestWrites(seed: UInt64(seed))
    for step in 0..<300 {
      guard try run.step(step) else { return }
    }
    try run.finish()
  }
}

private struct ChestWrites {
  private let instances: [Instance]
  private var recorders: [ChestRecorder] = []
  private var operations: ChestOperations

  init(seed: UInt64) throws {
    let shelter = try Shelter()
    instances = [try shelter.openChests(), try shelter.openChests()]
    operations = ChestOperations(seed: seed)
    try instances[0].write {
      instances[0].realm.add(Chest(1))
      for value in 0..<12 { instances[0].realm.add(Coin(value)) }
    }
    for instance in instances {
      instance.realm.refresh()
      recorders.append(ChestRecorder(try #require(instance.chest(1))))
    }
  }

  /// A write, or turns. False after a failure.
  mutating func step(_ number: Int) throws -> Bool {
    let index = operations.numbers.below(instances.count)
    let instance = instances[index]
    switch operations.numbers.below(10) {
    case 0..<7: guard try write(instance, number) else { return false }
    case 7: instance.pump()
    case 8: instance.realm.refresh()
    default:
      recorders[index].end()
      #expect(recorders[index].problems == [])
      instance.realm.refresh()
      recorders[index] = ChestRecorder(try #require(instance.chest(1)))
    }
    return recorders.allSatisfy { $0.problems.isEmpty }
  }

  private mutating func write(_ instance: Instance, _ number: Int) throws -> Bool {
    instance.realm.beginWrite()
    let before = operations.model
    let chest = try #require(instance.chest(1))
    for _ in 0...operations.numbers.below(6) {
      let coins = Array(instance.realm.objects(Coin.self))
      if !coins.isEmpty, operations.numbers.chance(4) {
        let coin = coins[operations.numbers.below(coins.count)]
        let value = coin.value
        operations.model.delete(coin: value)
        instance.realm.delete(coin)
        instance.realm.add(Coin(value + 100))
      } else {
        operations.apply(to: chest, coins)
      }
    }
    guard isRight(chest, "in write \(number)") else { return false }
    if operations.numbers.chance(12) {
      instance.realm.cancelWrite()
      operations.model = before
    } else {
      try instance.realm.commitWrite()
    }
    return isRight(chest, "after write \(number)")
  }

  private func isRight(_ chest: Chest, _ moment: String) -> Bool {
    let difference = operations.model.difference(from: chest)
    #expect(difference == nil, "\(moment)")
    return difference == nil
  }

  func finish() throws {
    for instance in instances {
      instance.realm.refresh()
      instance.pump()
      _ = isRight(try #require(instance.chest(1)), "at the end")
    }
    for (instance, recorder) in zip(instances, recorders) {
      #expect(recorder.problems == [])
      #expect(recorder.isUpToDate(try #require(instance.chest(1))))
      recorder.end()
    }
  }
}
