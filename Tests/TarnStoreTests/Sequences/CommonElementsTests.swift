import TestSupport
import Testing

@testable import TarnStore

struct CommonElementsTests {
  /// The length of a longest common subsequence, by the table that everybody knows.
  private static func longest(_ old: [Int], _ new: [Int]) -> Int {
    var row = Array(repeating: 0, count: new.count + 1)
    for element in old {
      var corner = 0
      for (index, other) in new.enumerated() {
        let above = row[index + 1]
        row[index + 1] = element == other ? corner + 1 : max(above, row[index])
        corner = above
      }
    }
    return row[new.count]
  }

  private static func check(_ pairs: [CommonElements.Pair], _ old: [Int], _ new: [Int]) {
    for (pair, next) in zip(pairs, pairs.dropFirst()) {
      #expect(pair.old < next.old)
      #expect(pair.new < next.new)
    }
    #expect(pairs.allSatisfy { old[$0.old] == new[$0.new] })
  }

  @Test(arguments: 0..<20)
  func noOthersAreMore(seed: Int) {
    var numbers = SeededRandom(seed: UInt64(seed))
    for _ in 0..<60 {
      let values = 1 + numbers.below(12)
      let old = (0..<numbers.below(30)).map { _ in numbers.below(values) }
      var new = old.filter { _ in !numbers.chance(20) }
      for _ in 0..<numbers.below(8) {
        new.insert(numbers.below(values), at: numbers.below(new.count + 1))
      }
      let pairs = CommonElements.pairs(old, new)
      Self.check(pairs, old, new)
      #expect(pairs.count == Self.longest(old, new), "\(old) \(new)")
    }
  }

  /// Beyond the limit equals are looked for only where they may be expected, and a few insertions
  /// into a long list of few values still leave nearly all of it.
  @Test func longListsOfFewValuesAreBounded() {
    var numbers = SeededRandom(seed: 7)
    let old = (0..<20_000).map { _ in numbers.below(2) }
    var new = old
    for _ in 0..<10 { new.insert(numbers.below(2), at: numbers.below(new.count + 1)) }
    let pairs = CommonElements.pairs(old, new)
    Self.check(pairs, old, new)
    #expect(pairs.count >= old.count - 10)
    let few = CommonElements.pairs(old, new, pairsMax: 1)
    Self.check(few, old, new)
    #expect(few.count > old.count / 2)
  }
}
