import TestSupport
import Testing

@testable import Tarn

/// Elements of lists of embedded objects trade positions in generic code, which knows nothing of
/// one position for each.
struct EmbeddedSliceTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  private static func change<C: MutableCollection & RandomAccessCollection>(
    _ elements: inout C, _ seed: UInt64, _ number: (C.Element) -> Int
  ) where C.Index == Int {
    var random = SeededRandom(seed: seed)
    let (start, count) = (elements.startIndex, elements.count)
    func position() -> Int { start + random.below(count) }
    switch random.below(8) {
    case 0 where count > 0: elements.swapAt(position(), position())
    case 1: elements.reverse()
    case 2: elements.sort { number($0) < number($1) }
    case 3: elements.shuffle(using: &random)
    case 4:
      let limit = random.below(9)
      _ = elements.partition { number($0) < limit }
    case 5 where count > 0:
      // To the left, by turning round both parts and then all.
      let middle = position()
      elements[start..<middle].reverse()
      elements[middle...].reverse()
      elements.reverse()
    case 6 where count > 0:
      let (a, b) = (position(), position())
      change(&elements[min(a, b)..<max(a, b)], seed &* 31, number)
    default: elements[start...].sort { number($0) > number($1) }
    }
  }

  @Test(arguments: 1...20) func noElementIsLost(seed: Int) throws {
    let box = try BeadBox()
    let (managed, unmanaged) = (try box.add(1, beads: 9), Necklace(2, beads: 9))
    var random = SeededRandom(seed: UInt64(seed))
    var model = Array(0..<9)
    for step in 0..<60 {
      let (one, other) = (random.below(10), random.below(10))
      let range = min(one, other)..<max(one, other)
      let (whole, step) = (random.chance(30), (number: step, seed: random.next()))
      func apply<C: MutableCollection & RandomAccessCollection>(
        _ all: inout C, _ number: (C.Element) -> Int
      ) where C.Index == Int {
        if whole {
          Self.change(&all, step.seed, number)
        } else {
          Self.change(&all[range], step.seed, number)
        }
      }
      apply(&model) { $0 }
      apply(&unmanaged.beads) { $0.n }
      #expect(unmanaged.numbers == model, "seed \(seed), step \(step)")
      try box.instance.write { apply(&managed.beads) { $0.n } }
      #expect(managed.numbers == model, "seed \(seed), step \(step)")
      if managed.numbers != model || unmanaged.numbers != model { return }
    }
    try box.expectSound()
  }

  @Test func listsOfValuesChangeInSlicesToo() {
    let list = List<Int>()
    list.append(objectsIn: [5, 1, 4, 2, 3])
    list[1..<4].sort()
    list[0...1].swapAt(0, 1)
    list[2...][3] = 9
    list[3...][3...].reverse()
    #expect(Array(list) == [1, 5, 2, 3, 9])
    #expect(Array(list[1..<3]) == [5, 2])
    #expect(list[3...].first == 3)
    #expect(list[2...].indices == 2..<5)
  }

  /// A use of a necklace with four beads, in an open write.
  private static func row(
    _ name: String, _ message: String, _ use: @escaping @Sendable (Necklace) -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let box = try BeadBox(shelter)
      let necklace = try box.add(1)
      try box.instance.write { use(necklace) }
    }
  }

  private static let lost =
    "The Bead at 2 cannot be put at 1 through a slice: it can be in only one position, "
    + "and the list would lose an element. Use swapAt(_:_:) or move(from:to:)."

  private static func turn<C: MutableCollection>(_ elements: inout C) where C.Index == Int {
    let (first, last) = (elements.startIndex, elements.endIndex - 1)
    let element = elements[first]
    elements[first] = elements[last]
    elements[last] = element
  }

  static let traps: [TrapCase] = [
    row("managed", lost) { $0.beads[1..<4][1] = $0.beads[2] },
    row("unmanaged", lost) { _ in
      let unmanaged = Necklace(2, beads: 4)
      unmanaged.beads[1..<4][1] = unmanaged.beads[2]
    },
    row("by hand", "The Bead at 3 cannot be put at 1 through a slice") { turn(&$0.beads[1..<4]) },
    row("outside", "Index 4 is out of bounds (must be from 1 to less than 4)") {
      _ = $0.beads[1..<4][4]
    },
    row("swap outside", "Index 4 is out of bounds (must be from 1 to less than 4)") {
      $0.beads[1..<4].swapAt(1, 4)
    },
    row("range outside", "Range 0..<2 is out of bounds (must be within 1..<4)") {
      _ = $0.beads[1..<4][0..<2]
    },
  ]

  @Test(arguments: traps.map(\.name))
  func whatWouldLoseAnElementTraps(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await EmbeddedSliceTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
