import TestSupport
import Testing

@testable import TarnSync

@Suite struct KeyedMergeTests {
  @Test func `what either side puts into a set is in it, and what it takes out is not`() {
    #expect(SetMerge.merged(base: [1, 2, 3], theirs: [2, 3, 4], mine: [1, 3, 5]) == [3, 4, 5])
    #expect(SetMerge.merged(base: [1], theirs: [], mine: [1, 2]) == [2])
    #expect(SetMerge.merged(base: [], theirs: [1], mine: [1]) == [1])
  }

  private func at(_ time: Int64, _ value: String, by writer: UInt32 = 1) -> Stamped<String> {
    Stamped(value, Stamp(time, by: writer))
  }

  private func merged(
    _ base: [String: Stamped<String>], _ theirs: [String: Stamped<String>],
    _ mine: [String: Stamped<String>], removal: Int64 = 10
  ) -> [String: String] {
    MapMerge.merged(base: base, theirs: theirs, mine: mine, removal: Stamp(removal, by: 1))
      .mapValues(\.value)
  }

  @Test func `different keys of a map`() {
    let base = ["a": at(1, "x"), "b": at(1, "y")]
    var (theirs, mine) = (base, base)
    theirs["a"] = at(2, "X", by: 2)
    mine["b"] = nil
    mine["c"] = at(3, "z")
    #expect(merged(base, theirs, mine) == ["a": "X", "c": "z"])
  }

  @Test(arguments: [(5, 7, "mine"), (7, 5, "theirs")] as [(Int64, Int64, String)])
  func `of two values under a key the later stays`(
    _ theirs: Int64, _ mine: Int64, _ expected: String
  ) {
    let base = ["a": at(1, "x")]
    #expect(
      merged(base, ["a": at(theirs, "theirs", by: 2)], ["a": at(mine, "mine")]) == ["a": expected])
    #expect(
      merged([:], ["a": at(theirs, "theirs", by: 2)], ["a": at(mine, "mine")]) == ["a": expected])
  }

  @Test func `a removal takes what is older than it`() {
    let base = ["a": at(1, "x")]
    #expect(merged(base, base, [:]) == [:])
    #expect(merged(base, ["a": at(9, "y", by: 2)], [:]) == [:])
    #expect(merged(base, ["a": at(11, "y", by: 2)], [:]) == ["a": "y"])
    #expect(merged(base, [:], ["a": at(5, "z")]) == ["a": "z"])
    #expect(merged(base, [:], base) == [:])
  }

  @Test func `maps and sets become equal at all replicas`() {
    for seed in 1...UInt64(Seeds.rounds(10_000, few: 200)) { change(seed) }
  }

  private func change(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var server: (map: [Int: Stamped<Int>], set: Set<Int>) = ([:], [])
    var replicas = (1...UInt32(2 + random.below(3))).map { number in
      (number: number, base: server, mine: server)
    }
    func pull(_ index: Int, _ time: Int) {
      let one = replicas[index]
      let removal = Stamp(Int64(time), by: one.number)
      replicas[index].mine = (
        MapMerge.merged(
          base: one.base.map, theirs: server.map, mine: one.mine.map, removal: removal),
        SetMerge.merged(base: one.base.set, theirs: server.set, mine: one.mine.set)
      )
      replicas[index].base = server
    }
    func push(_ index: Int, _ time: Int) {
      pull(index, time)
      server = replicas[index].mine
      replicas[index].base = server
    }
    for step in 0..<60 {
      let one = random.below(replicas.count)
      let key = random.below(6)
      switch random.below(6) {
      case 0: push(one, step)
      case 1: pull(one, step)
      case 2: replicas[one].mine.map[key] = nil
      case 3: replicas[one].mine.set.remove(key)
      case 4: replicas[one].mine.set.insert(key)
      default:
        replicas[one].mine.map[key] = Stamped(step, Stamp(Int64(step), by: replicas[one].number))
      }
    }
    for index in replicas.indices { push(index, 100) }
    for index in replicas.indices { pull(index, 100) }
    for replica in replicas {
      #expect(replica.mine.map == server.map)
      #expect(replica.mine.set == server.set)
    }
  }
}
