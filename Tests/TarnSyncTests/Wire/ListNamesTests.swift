import TestSupport
import Testing

@testable import TarnSync

@Suite struct ListNamesTests {
  private func random(_ random: inout SeededRandom) -> ListNames {
    var elements: [(id: ElementID, stamp: Stamp)] = []
    for _ in 0..<random.below(6) {
      let (author, salt) = (UInt32(random.below(3)), UInt32(random.below(3)))
      let version = random.next() >> UInt64(random.below(64))
      for number in 0..<random.below(5) {
        let id = ElementID(
          author: author, version: version, salt: salt, number: UInt32(number + random.below(3)))
        if elements.contains(where: { $0.id == id }) { continue }
        let stamp =
          random.chance(20)
          ? Stamp(Int64(bitPattern: random.next()), by: UInt32(random.below(1_000)))
          : ListNames.inserted
        elements.append((id, stamp))
      }
    }
    return ListNames(elements)
  }

  @Test func `names come back`() {
    var source = SeededRandom(seed: 1)
    for _ in 0..<2_000 {
      let names = random(&source)
      #expect(ListNames(names.bytes, of: names.elements.count) == names)
      #expect(ListNames(names.bytes, of: names.elements.count + 1) == nil)
    }
  }

  @Test func `what one commit inserts at one place takes few bytes`() {
    let names = ListNames(
      (0..<1_000 as Range<UInt32>).map { number in
        let id = ElementID(author: .max, version: 1_000_000, salt: .max, number: number)
        return (id, ListNames.inserted)
      })
    #expect(names.bytes.count <= 18)
  }

  @Test func `elements that nobody named have the names of their places`() {
    let (one, other) = (
      ListNames(of: 3, writtenAt: Stamp(5, by: 1)), ListNames(of: 3, writtenAt: Stamp(6, by: 1))
    )
    #expect(Set((one.elements + other.elements).map(\.id)).count == 6)
    #expect(one == ListNames(of: 3, writtenAt: Stamp(5, by: 1)))
  }

  /// A replica may send anything, and others must not fall over it.
  @Test func `bytes that do not name elements are refused`() {
    #expect(ListNames([], of: 0) == nil)
    #expect(ListNames([2, 0, 0], of: 0) == nil)
    let id = ElementID(author: 1, version: 2, salt: 3, number: .max)
    let twice = ListNames([(id, ListNames.inserted), (id, ListNames.inserted)])
    #expect(ListNames(twice.bytes, of: 2) == nil)
    var source = SeededRandom(seed: 2)
    for _ in 0..<5_000 {
      let names = random(&source)
      var bytes = names.bytes
      bytes[source.below(bytes.count)] = UInt8(truncatingIfNeeded: source.next())
      let count = names.elements.count
      if let read = ListNames(bytes, of: count) {
        #expect(Set(read.elements.map(\.id)).count == count)
      }
      _ = ListNames(Array(bytes.prefix(source.below(bytes.count + 1))), of: count)
      _ = ListNames(source.bytes(source.below(40)), of: source.below(50))
    }
  }
}
