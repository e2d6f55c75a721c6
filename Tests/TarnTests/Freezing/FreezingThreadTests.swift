import Foundation
import Synchronization
import Testing

@testable import Tarn

/// Several threads read the same frozen things at once, while the live Realm goes on.
struct FreezingThreadTests {
  @Test func objectsAndCollections() throws {
    let a = try Shelter().openIce(glaciers: 2, depths: 2_500)
    let live = a.glacier(1)!
    let text = live.text
    let depths = Array(live.depths)
    nonisolated(unsafe) let glacier = live.freeze()  // because: it is frozen
    // because: they are, too
    nonisolated(unsafe) let (numbers, words, scores) = (
      glacier.depths, glacier.words, glacier.scores
    )
    nonisolated(unsafe) let links = glacier.stones[0].glaciers  // because: so are these
    nonisolated(unsafe) let nested = glacier.anything.dictionaryValue!  // because: and this
    var number = 100
    let problems = try readOnFourThreads {
      number += 1
      try a.write { live.change(to: number, depths: number) }
    } _: { round in
      if round % 5 == 0, glacier.text != text { return "text" }
      if glacier.age != 1 || glacier.size != 0.25 || glacier.map.count != 9_000 { return "values" }
      if numbers.count != 2_500 || numbers[round * 80] != depths[round * 80] { return "list" }
      if Array(numbers) != depths || numbers.index(of: 8) != 1 { return "elements" }
      if !words.contains("word 1") || words.contains("word 2") || words.count != 3 { return "set" }
      if scores["1 2"] != 2 || scores.keys != ["1 0", "1 1", "1 2"] { return "map" }
      if links.map(\.id) != [1, 1] || links.count != 2 { return "links" }
      if nested["list"]?.listValue?.count != 2 { return "nested" }
      if glacier.detached().stones.count != 4 { return "copy" }
      if glacier["name"] as? String != "glacier 1" { return "keys" }
      return nil
    }
    #expect(problems == [])
    #expect(live.age == number)
  }

  @Test func resultsAreWorkedOutOnce() throws {
    let a = try Shelter().openIce(glaciers: 300)
    let frozen = a.realm.freeze()
    // because: they are frozen, and nobody has asked them for anything yet
    nonisolated(unsafe) let results = frozen.objects(Glacier.self).where { $0.age > 100 }
      .sorted(by: \.name, ascending: false)
    nonisolated(unsafe) let stones = frozen.objects(Glacier.self)[4].stones  // because: the same
    nonisolated(unsafe) let some = stones.where { $0.weight > 50 }  // because: the same
    nonisolated(unsafe) let realm = frozen  // because: it is frozen
    let problems = try readOnFourThreads(rounds: 5) {
      try a.write {
        a.realm.delete(a.glaciers.where { $0.age > 298 })
        a.realm.add(Glacier(300), update: .all)
      }
    } _: { round in
      if results.count != 200 || results.first?.age != 300 { return "results" }
      if results.map(\.age).reduce(0, +) != 40_100 { return "elements" }
      if results.sum(of: \.age) != 40_100 || results.max(of: \.age) != 300 { return "aggregates" }
      if some.map(\.weight) != [51, 52] { return "derived" }
      if realm.objects(Glacier.self).where({ $0.age < 5 + round }).count != 4 + round {
        return "query"
      }
      if realm.object(ofType: Glacier.self, forPrimaryKey: 7)?.stones.count != 4 { return "key" }
      if realm.dynamicObjects("Stone").count != 900 { return "dynamic" }
      if results.index(of: results[20]) != 20 { return "index" }
      if results[7].freeze().largest?.freeze().realm != realm { return "realm" }
      return nil
    }
    #expect(problems == [])
  }

  @Test func freezingOnSeveralThreads() throws {
    let shelter = try Shelter()
    let a = try shelter.openIce(glaciers: 3)
    let configuration = shelter.iceConfiguration
    let problems = try readOnFourThreads {
      try a.write { a.glacier(1)!.age += 1 }
    } _: { _ in
      guard let realm = try? Realm(configuration: configuration) else { return "open" }
      realm.refresh()
      let glacier = realm.objects(Glacier.self)[0]
      let frozen = glacier.freeze()
      if frozen.age != glacier.age || frozen.realm != realm.freeze() { return "freeze" }
      if frozen.thaw() != glacier || frozen.realm?.thaw() != realm { return "thaw" }
      if frozen.stones.where({ $0.weight > 10 }).count != 2 { return "query" }
      return nil
    }
    #expect(problems == [])
    a.realm.refresh()
    #expect(a.realm.activeVersions == 1)
  }

  @Test func aLoopThatIsSuspendedGoesOnElsewhere() async throws {
    let a = try Shelter().openIce(glaciers: 40, depths: 3_000)
    nonisolated(unsafe) let glacier = a.glacier(1)!.freeze()  // because: it is frozen
    nonisolated(unsafe) let all = a.glaciers.freeze()  // because: they are frozen
    try a.write { a.realm.deleteAll() }
    let sums = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var sum = 0
          for (index, depth) in glacier.depths.enumerated() {
            if index % 50 == 0 { await Task.yield() }
            sum += depth
          }
          for stone in glacier.stones {
            await Task.yield()
            sum += stone.weight
          }
          for score in glacier.scores {
            await Task.yield()
            sum += score.value ?? 0
          }
          for other in all {
            await Task.yield()
            sum += other.age
          }
          return sum
        }
      }
      var sums: [Int] = []
      for await sum in group { sums.append(sum) }
      return sums
    }
    let depths = 7 * (2_999 * 3_000 / 2) + 3_000
    #expect(sums == Array(repeating: depths + 43 + 2 + 820, count: 4))
  }

  @Test func invalidatingWhileOthersRead() throws {
    let a = try Shelter().openIce(glaciers: 3)
    nonisolated(unsafe) let glacier = a.glacier(1)!.freeze()  // because: it is frozen
    let isOver = Atomic<Bool>(false)
    let problems = readOnFourThreads(rounds: 2_000) {
      if !isOver.exchange(true, ordering: .relaxed) { glacier.realm?.invalidate() }
    } _: { _ in
      // What is read may be gone right after it was asked whether it is.
      glacier.isInvalidated || glacier.isFrozen ? nil : "state"
    }
    #expect(problems == [])
    #expect(glacier.isInvalidated)
  }
}
