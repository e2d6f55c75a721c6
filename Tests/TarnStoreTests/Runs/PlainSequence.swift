import TarnStore
import TestSupport

/// A sequence kept the dumb way: each element ever made has a number that no other one gets, and
/// all former states are there to be asked.
struct PlainSequence {
  /// After each commit; the first is the one before all.
  private(set) var states: [[Int]]
  /// The elements that were set in each commit.
  private(set) var sets: [Set<Int>] = []
  private var elements: [Int]
  private var open: Set<Int> = []
  private var nextNumber: Int

  init(count: Int) {
    elements = Array(0..<count)
    states = [elements]
    nextNumber = count
  }

  mutating func commit() {
    states.append(elements)
    sets.append(open)
    open = []
  }

  mutating func edit(_ random: inout SeededRandom) {
    let count = elements.count
    switch random.below(20) {
    case 0..<5: insert(1, at: random.below(count + 1))
    case 5: insert(random.below(6), at: random.below(count + 1))
    case 6..<9 where count > 0: elements.remove(at: random.below(count))
    case 9 where count > 0:
      let first = random.below(count)
      elements.removeSubrange(first..<min(count, first + random.below(6)))
    case 10..<13 where count > 0:
      let element = elements.remove(at: random.below(count))
      elements.insert(element, at: random.below(count))
    case 13 where count > 0: elements.swapAt(random.below(count), random.below(count))
    case 14 where count > 1:
      let middle = random.below(count)
      elements = Array(elements[middle...] + elements[..<middle])
    case 15 where random.chance(10): elements = []
    case 16 where random.chance(10): elements.shuffle(using: &random)
    case 17..<20 where count > 0: open.insert(elements[random.below(count)])
    default: break
    }
  }

  private mutating func insert(_ count: Int, at index: Int) {
    elements.insert(contentsOf: nextNumber..<nextNumber + count, at: index)
    nextNumber += count
  }

  /// The elements that were set between the states.
  func set(from: Int, to: Int) -> Set<Int> {
    sets[from..<to].reduce(into: []) { $0.formUnion($1) }
  }

  /// What the script from one state to the other has to be.
  func script(from: Int, to: Int) -> EditScript {
    Self.script(states[from], states[to], set: set(from: from, to: to))
  }

  static func script(_ old: [Int], _ new: [Int], set: Set<Int>) -> EditScript {
    let positions = Dictionary(uniqueKeysWithValues: zip(old, old.indices))
    var builder = EditScript.Builder(oldCount: old.count)
    for element in new {
      if let position = positions[element] {
        builder.append(old: position, isModified: set.contains(element))
      } else {
        builder.appendFresh()
      }
    }
    return builder.finish()
  }

  /// The length of the longest increasing subsequence.
  static func longestIncreasing(_ values: [Int]) -> Int {
    var ends: [Int] = []
    for value in values {
      let position = ends.firstIndex { $0 >= value } ?? ends.count
      if position == ends.count { ends.append(value) } else { ends[position] = value }
    }
    return ends.count
  }
}

extension EditScript {
  /// A script of about that many runs, no two of which are neighbours.
  static func random(
    runs count: Int, modified percent: Int, _ random: inout SeededRandom
  ) -> EditScript {
    var firsts = (0..<count).map { $0 * 7 }
    firsts.shuffle(using: &random)
    var builder = Builder(oldCount: count * 7)
    for first in firsts {
      if random.chance(30) {
        builder.appendFresh(1 + random.below(300))
      } else if random.chance(50) {
        builder.appendOld(first..<first + 1 + random.below(6))
      } else {
        for offset in 0..<3 {
          builder.append(old: first + offset, isModified: random.chance(percent))
        }
      }
    }
    return builder.finish()
  }
}
