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
    // Bits that all have in common, as text has them.
    let differing =
      random.pick([
        .max, .max, 0x1f1f_1f1f_1f1f_1f1f, 0x3f3f_3f3f_3f3f_3f3f, 0x5555_5555_5555_5555,
        0xff00_0000_0ff0_0001,
      ]) as UInt64
    return (0..<count).map {
      let number = (random.next() >> (64 - bits)) << min(shift, 64 - bits)
      return Card(number: number & differing | ~differing & 0x6060_6060_6060_6060, dealt: $0)
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
      let varying = dealt.reduce(0) { $0 | ($1.number ^ dealt[0].number) }
      radixSort(&first, &second, count: count, varying: varying) { $0.number }
      #expect(Array(UnsafeBufferPointer(start: first, count: count)) == sorted(dealt))
    }
  }

  @Test func `bits that do not differ take no passes`() {
    func passes(_ varying: UInt64) -> Int { RadixDigit.digits(of: varying).count }
    #expect(passes(0) == 0)
    #expect(passes(1 << 63) == 1)
    #expect(passes(2047 << 53) == 1)
    #expect(passes(4095) == 2)
    #expect(passes(.max) == 6)
    // Eight small letters, and eight letters or digits.
    #expect(passes(0x1f1f_1f1f_1f1f_1f1f) == 4)
    #expect(passes(0x7f7f_7f7f_7f7f_7f7f) <= 6)
    // Many runs would take more passes than the bits between them.
    #expect(passes(0x5555_5555_5555_5555) == 6)
    var random = SeededRandom(seed: 8)
    for _ in 0..<1_000 {
      let varying = random.next() & random.next() & (random.chance(50) ? random.next() : .max)
      let digits = RadixDigit.digits(of: varying)
      #expect(digits.count <= 6)
      let (a, b) = (random.next() & varying, random.next() & varying)
      let order = digits.reversed().lazy.map { ($0.value(of: a), $0.value(of: b)) }
        .first { $0 != $1 }
      #expect(order.map { $0.0 < $0.1 } == (a == b ? nil : a < b))
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

  @Test func `memory that cannot be had is an error`() {
    let error = #expect(throws: StorageError.self) {
      try SortRadix(capacity: 1 << 56).end()
    }
    #expect(error?.code == .addressSpace)
  }
}
