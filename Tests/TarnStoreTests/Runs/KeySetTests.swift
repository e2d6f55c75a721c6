import TarnStore
import TestSupport
import Testing

@Suite("A set of object keys")
struct KeySetTests {
  private func randomKeys(_ random: inout SeededRandom) -> [Int64] {
    let count = Int.random(in: 0..<60, using: &random)
    let offset = [0, Int64.max - 200, Int64.min, -100].randomElement(using: &random)!
    var keys: [Int64] = []
    while keys.count < count {
      let first = offset + Int64.random(in: 0..<200, using: &random)
      for key in first...(first > Int64.max - 8 ? first : first + Int64.random(in: 0..<8)) {
        keys.append(key)
      }
    }
    return keys
  }

  private func set(_ keys: [Int64]) -> KeySet { KeySet(keys.map { ObjectKey($0) }) }

  @Test("agrees with a plain set", arguments: 0..<200)
  func agreesWithPlainSet(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for _ in 0..<20 {
      let a = randomKeys(&random)
      let b = randomKeys(&random)
      let x = set(a)
      let y = set(b)
      let p = Set(a)
      let q = Set(b)
      for result in [x, y, x.union(y), x.subtracting(y), x.intersection(y)] {
        result.checkInvariants()
      }
      #expect(x.map(\.rawValue) == p.sorted())
      #expect(x.count == p.count)
      #expect(x.union(y).map(\.rawValue) == p.union(q).sorted())
      #expect(x.subtracting(y).map(\.rawValue) == p.subtracting(q).sorted())
      #expect(x.intersection(y).map(\.rawValue) == p.intersection(q).sorted())
      #expect(x.intersects(y) == !p.isDisjoint(with: q))
      #expect(x.union(y).count == p.union(q).count)
      for key in b { #expect(x.contains(ObjectKey(key)) == p.contains(key)) }
      #expect(x.union(y) == y.union(x))
    }
  }

  @Test("keeps a gap between any two runs")
  func keepsGaps() {
    let ascending = set(Array(0..<1000))
    #expect(ascending.runs.count == 1)
    let mixed = set((0..<1000).reversed() + [2000, 1000])
    #expect(mixed.runs.map(\.first) == [0, 2000])
    #expect(mixed.count == 1002)
  }

  @Test("counts what an integer cannot count as the largest one")
  func countsEverything() {
    let all = KeySet(ObjectKey(.min)...ObjectKey(.max))
    #expect(all.count == .max)
    #expect(all.contains(ObjectKey(0)))
    #expect(all.subtracting(KeySet(ObjectKey(.max))).last == ObjectKey(.max - 1))
    #expect(KeySet(ObjectKey(.max)).map { $0 } == [ObjectKey(.max)])
  }

  @Test("sorts large unordered input")
  func sortsLargeInput() {
    var random = SeededRandom(seed: 7)
    let keys = (0..<5_000).map { _ in Int64.random(in: .min ... .max, using: &random) }
    #expect(set(keys).map(\.rawValue) == Set(keys).sorted())
  }
}
