import TestSupport
import Testing

@testable import TarnStore

@Suite struct SortingTests {
  private struct Card: BitwiseCopyable, Equatable {
    var number: UInt64
    var dealt: Int
  }

  /// Cards as they are dealt, with numbers of which many are the same.
  private func cards(_ count: Int, _ random: inout SeededRandom) -> [Card] {
    let bits = random.pick([1, 5, 12, 40, 64]) as UInt64
    let shift = random.pick([0, 3, 17]) as UInt64
    return (0..<count).map {
      Card(number: (random.next() >> (64 - bits)) << min(shift, 64 - bits), dealt: $0)
    }
  }

  /// By number, equal ones as they were dealt.
  private func sorted(_ cards: [Card]) -> [Card] {
    cards.sorted { ($0.number, $0.dealt) < ($1.number, $1.dealt) }
  }

  private static let counts = [0, 1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 257, 1_000, 5_000]

  @Test(arguments: counts)
  func `merging sorts and keeps equal ones as they were`(count: Int) {
    var random = SeededRandom(seed: UInt64(count))
    for _ in 0..<20 {
      let dealt = cards(count, &random)
      var merged = dealt
      mergeSort(&merged) { $0.number < $1.number }
      #expect(merged == sorted(dealt))
      let asked = merged
      var questions = 0
      mergeSort(&merged) { (a, b) in
        questions += 1
        return a.number < b.number
      }
      #expect(merged == asked)
      // Runs of eight are sorted by halving; what is sorted already costs a question a merge.
      #expect(questions <= 4 * max(count, 1))
    }
  }

  @Test func `an order that throws leaves all as it was`() {
    struct Refusal: Error {}
    var random = SeededRandom(seed: 3)
    let dealt = cards(500, &random)
    for most in [0, 1, 50, 3_000] {
      var merged = dealt
      var questions = 0
      #expect(throws: Refusal.self) {
        try mergeSort(&merged) { (a, b) throws(Refusal) in
          questions += 1
          if questions > most { throw Refusal() }
          return a.number < b.number
        }
      }
      #expect(merged == dealt)
    }
  }

  @Test(arguments: counts)
  func `counting sorts, in one's own memory and keeping equal ones as they were`(count: Int) {
    var random = SeededRandom(seed: UInt64(count))
    for _ in 0..<20 {
      let dealt = cards(count, &random)
      var numbers = ContiguousArray(dealt)
      radixSort(&numbers) { $0.number }
      #expect(numbers.map(\.number) == dealt.map(\.number).sorted())
      guard count > 0 else { continue }
      var (first, second) = (
        UnsafeMutablePointer<Card>.allocate(capacity: count),
        UnsafeMutablePointer<Card>.allocate(capacity: count)
      )
      defer {
        first.deallocate()
        second.deallocate()
      }
      first.initialize(from: dealt, count: count)
      radixSort(&first, &second, count: count) { $0.number }
      #expect(Array(UnsafeBufferPointer(start: first, count: count)) == sorted(dealt))
    }
  }

  @Test(arguments: 0..<40)
  func `halving finds the first that is later`(count: Int) {
    let evens = (0..<count).map { 2 * $0 }
    for sought in -1...2 * count {
      let expected = evens.firstIndex { $0 >= sought } ?? count
      #expect(evens.partitioningIndex { $0 >= sought } == expected)
      #expect(evens.indices.firstIndexWithoutBranches { evens[$0] < sought } == expected)
      let found = evens.indices.search { sign(evens[$0], sought) }
      #expect(found.index == expected)
      #expect(found.isFound == (expected < count && evens[expected] == sought))
      let part = evens[(count / 3)...]
      #expect(part.partitioningIndex { $0 >= sought } == max(expected, count / 3))
    }
  }
}
