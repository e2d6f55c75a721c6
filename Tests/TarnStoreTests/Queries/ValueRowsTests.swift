import TarnStore
import TestSupport
import Testing

@Suite struct ValueRowsTests {
  private static let orders: [Bool?] = [nil, true, false]

  private func value(_ random: inout SeededRandom) -> Value {
    switch random.below(8) {
    case 0: .null
    case 1: .double(random.pick([0, -0.0, .nan, 1.5]))
    case 2: .string(random.pick(["a", "Z", "é", "e\u{301}", ""]))
    default: .int(Int64(random.below(5)))
    }
  }

  /// The rows as plain sorting and searching give them.
  private func expected(_ elements: [Value], _ ascending: Bool?, _ isDistinct: Bool) -> [Value] {
    var kept = elements
    if isDistinct {
      kept = []
      for element in elements {
        if kept.contains(where: { SequenceOrder.compare($0, element) == 0 }) { continue }
        kept.append(element)
      }
    }
    guard let ascending else { return kept }
    // Sorting is stable.
    return kept.sorted { SequenceOrder.compare($0, $1) * (ascending ? 1 : -1) < 0 }
  }

  private func areSame(_ a: [Value], _ b: [Value]) -> Bool {
    a == b
  }

  /// A script and what it makes of the elements.
  private func edited(
    _ old: [Value], _ random: inout SeededRandom
  ) -> (moves: EditScript, new: [Value]) {
    var moves = EditScript.Builder(oldCount: old.count)
    var new: [Value] = []
    var positions = Array(old.indices)
    if random.chance(30) { positions.shuffle(using: &random) }
    for position in positions where !random.chance(15) {
      let isSet = random.chance(15)
      moves.append(old: position, isModified: isSet)
      new.append(isSet ? value(&random) : old[position])
      if random.chance(15) {
        moves.appendFresh()
        new.append(value(&random))
      }
    }
    return (moves.finish(), new)
  }

  @Test func `rows are what sorting and leaving out repeats gives`() {
    for seed in UInt64(0)..<200 {
      var random = SeededRandom(seed: seed)
      let elements = (0..<random.below(30)).map { _ in value(&random) }
      for order in Self.orders {
        for isDistinct in [false, true] {
          let rows = ValueRows(elements, ascending: order, isDistinct: isDistinct)
          #expect(areSame(rows.values, expected(elements, order, isDistinct)), "seed \(seed)")
          #expect(areSame(rows.values, rows.positions.map { elements[$0] }))
          for value in rows.values {
            let first = rows.values.firstIndex { SequenceOrder.compare($0, value) == 0 }
            #expect(rows.position(of: value) == first)
          }
          #expect(rows.position(of: .int(99)) == nil)
        }
      }
    }
  }

  @Test func `scripts lead from state to state and tell of everything else`() {
    for seed in UInt64(0)..<400 {
      var random = SeededRandom(seed: seed)
      let old = (0..<random.below(24)).map { _ in value(&random) }
      let (moves, new) = edited(old, &random)
      for order in Self.orders {
        for isDistinct in [false, true] {
          let before = ValueRows(old, ascending: order, isDistinct: isDistinct)
          let after = ValueRows(new, ascending: order, isDistinct: isDistinct)
          let changes = after.script(from: before, along: moves).indexChanges()
          var slots: [Value?] = before.values
          for index in changes.modifications { slots[index] = nil }
          for index in changes.deletions.reversed() { slots.remove(at: index) }
          for index in changes.insertions { slots.insert(nil, at: index) }
          #expect(slots.count == after.values.count, "seed \(seed)")
          for (slot, value) in zip(slots, after.values) {
            if let slot { #expect(areSame([slot], [value]), "seed \(seed)") }
          }
          if areSame(before.values, after.values), isDistinct {
            #expect(changes.isEmpty, "seed \(seed)")
          }
        }
      }
    }
  }

  @Test func `an element that takes the position of an equal one is no change`() {
    var moves = EditScript.Builder(oldCount: 3)
    moves.append(old: 1)
    moves.append(old: 2)
    moves.appendFresh()
    let script = moves.finish()
    let (old, new) = ([3, 1, 2] as [Int64], [1, 2, 3] as [Int64])
    for isDistinct in [false, true] {
      let before = ValueRows(old.map(Value.int), ascending: true, isDistinct: isDistinct)
      let after = ValueRows(new.map(Value.int), ascending: true, isDistinct: isDistinct)
      #expect(after.script(from: before, along: script).isIdentity)
    }
  }

  @Test func `lists within values are all different`() {
    let elements: [Value] = [.list(CollectionID(1)), .list(CollectionID(2)), .map(CollectionID(3))]
    #expect(ValueRows(elements, ascending: nil, isDistinct: true).values == elements)
    #expect(ValueRows(elements, ascending: true, isDistinct: false).values == elements)
  }
}
