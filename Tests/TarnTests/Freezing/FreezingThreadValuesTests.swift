import Foundation
import Testing

@testable import Tarn

/// Several threads read the same frozen results of values and sections at once.
struct FreezingThreadValuesTests {
  @Test func resultsOfValues() throws {
    let a = try Shelter().openIce(glaciers: 1, depths: 3_000)
    let live = a.glacier(1)!
    // because: they are frozen, and nobody has asked them for anything yet
    nonisolated(unsafe) let depths = live.depths.sorted(ascending: false).freeze()
    // because: the same
    nonisolated(unsafe) let (words, scores) = (
      live.words.sorted(ascending: false).freeze(), live.scores.distinct().freeze()
    )
    nonisolated(unsafe) let glacier = live.freeze()  // because: it is frozen
    var number = 100
    let problems = try readOnFourThreads {
      number += 1
      try a.write { live.change(to: number) }
    } _: { round in
      if depths.count != 3_000 || depths.first != 2_999 * 7 + 1 { return "depths" }
      if depths[round * 90] != (2_999 - round * 90) * 7 + 1 { return "a depth" }
      if depths.index(of: 8) != 2_998 || depths.min() != 1 { return "search" }
      if words.first != "word 1" || words.last != "ice" { return "words" }
      if Array(scores) != [0, nil, 2] { return "scores" }
      if glacier.depths.sorted(ascending: true)[round] != round * 7 + 1 { return "sorted" }
      if glacier.words.distinct().count != 3 { return "distinct" }
      return nil
    }
    #expect(problems == [])
    #expect(live.depths.count == 3)
  }

  @Test func sections() throws {
    let a = try Shelter().openIce(glaciers: 300)
    var calls = 0
    let byBlock = a.glaciers.sectioned(
      by: { glacier -> Int in
        calls += 1
        return glacier.age % 7
      }, sortDescriptors: ["age"])
    // because: they are frozen, and nobody has asked them for anything yet
    nonisolated(unsafe) let (blocks, moods) = (
      byBlock.freeze(), a.glaciers.sectioned(by: \.mood).freeze()
    )
    let depths = a.glacier(1)!.depths.sectioned(by: { $0 % 2 }).freeze()
    nonisolated(unsafe) let (numbers, realm) = (depths, a.realm.freeze())  // because: the same
    #expect(calls == 300)
    let problems = try readOnFourThreads {
      try a.write {
        a.realm.delete(a.glaciers.where { $0.age > 298 })
        a.realm.add(Glacier(300), update: .all)
      }
    } _: { round in
      if blocks.count != 7 || blocks[round % 7].first?.age != round % 7 + 1 { return "block" }
      if blocks.map(\.count).reduce(0, +) != 300 { return "counts" }
      if blocks.map({ $0.map(\.age).max() ?? 0 }).max() != 300 { return "rows" }
      if moods.allKeys.count != 2 || moods[0].count != 150 { return "moods" }
      if moods[IndexPath(item: round, section: 1)].isFrozen != true { return "path" }
      if numbers.map(Array.init) != [[1, 15], [8]] { return "values" }
      // Threads make these at once, and find each other's.
      let shared = realm.objects(Glacier.self).sectioned(by: \.mood)
      if shared != moods || shared.count != 2 { return "shared" }
      let own = realm.objects(Stone.self).sectioned(
        by: { $0.weight % 3 }, sortDescriptors: ["weight"])
      if own.count != 3 || own[0].count != 300 { return "own" }
      return nil
    }
    #expect(problems == [])
    #expect(calls == 300)
  }
}
