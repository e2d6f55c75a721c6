import TestSupport
import Testing

@testable import TarnStore

@Suite("Windows on scripts")
struct EditScriptWindowTests {
  /// A sequence of different numbers and what became of it.
  private struct Change {
    var old: [Int]
    var new: [Int]
    /// Old elements that were set.
    var set: Set<Int>

    init(_ random: inout SeededRandom) {
      old = Array(0..<random.below(30))
      new = old.filter { _ in random.chance(80) }
      for number in 0..<random.below(6) {
        new.insert(100 + number, at: random.below(new.count + 1))
      }
      for _ in 0..<random.below(4) where new.count > 1 {
        let element = new.remove(at: random.below(new.count))
        new.insert(element, at: random.below(new.count + 1))
      }
      set = Set(old.filter { _ in random.chance(10) })
    }

    var script: EditScript { Self.script(old[...], new[...], set) }

    /// What a script says that was made of two parts of the sequence directly.
    static func script(
      _ old: ArraySlice<Int>, _ new: ArraySlice<Int>, _ set: Set<Int>
    ) -> EditScript {
      var builder = EditScript.Builder(oldCount: old.count)
      for element in new {
        if let index = old.firstIndex(of: element) {
          builder.append(old: index - old.startIndex, isModified: set.contains(element))
        } else {
          builder.appendFresh()
        }
      }
      return builder.finish()
    }
  }

  private func range(_ random: inout SeededRandom, _ count: Int) -> Range<Int> {
    let first = random.below(count + 1)
    return first..<first + random.below(count - first + 1)
  }

  @Test("say what those of the parts would say")
  func clipping() {
    for seed in Seeds.of(UInt64(0)..<3000) {
      var random = SeededRandom(seed: seed)
      let change = Change(&random)
      let (from, to) = (range(&random, change.old.count), range(&random, change.new.count))
      let clipped = change.script.clipped(from: from, to: to)
      clipped.checkInvariants()
      let expected = Change.script(change.old[from], change.new[to], change.set)
      #expect(clipped == expected, "seed \(seed)")
    }
  }

  @Test("come from positions that changed")
  func ofIndexChanges() {
    for seed in Seeds.of(UInt64(0)..<3000) {
      var random = SeededRandom(seed: seed)
      let change = Change(&random)
      let changes = change.script.indexChanges(withMoves: true)
      let (oldCount, newCount) = (change.old.count, change.new.count)
      let script = EditScript(changes, oldCount: oldCount, newCount: newCount) {
        change.set.contains(change.new[$0])
      }
      script.checkInvariants()
      #expect(script == change.script, "seed \(seed)")
    }
  }

  @Test("replace everything where positions contradict each other")
  func contradictions() {
    var changes = IndexChanges()
    changes.insertions = [0]
    let script = EditScript(changes, oldCount: 2, newCount: 5) { _ in false }
    #expect(script == .replacingAll(oldCount: 2, newCount: 5))
  }
}
