import TarnStore
import TestSupport
import Testing

@Suite("Scripts of sequences")
struct EditScriptTests {
  private func history(_ random: inout SeededRandom) -> PlainSequence {
    var model = PlainSequence(count: random.pick([0, 1, 2, 5, 12, 40]))
    for _ in 0..<12 {
      for _ in 0..<random.pick([0, 1, 2, 5, 30]) { model.edit(&random) }
      model.commit()
    }
    return model
  }

  /// Composes in a random grouping.
  private func fold(
    _ scripts: ArraySlice<EditScript>, _ random: inout SeededRandom
  ) -> EditScript {
    if scripts.count == 1 { return scripts.first! }
    let split = scripts.startIndex + 1 + random.below(scripts.count - 1)
    return fold(scripts[..<split], &random).composing(fold(scripts[split...], &random))
  }

  @Test("compose to what happened, in any grouping")
  func composeInAnyGrouping() {
    for seed in Seeds.of(UInt64(0)..<400) {
      var random = SeededRandom(seed: seed)
      let model = history(&random)
      let steps = (0..<12).map { model.script(from: $0, to: $0 + 1) }
      for _ in 0..<10 {
        let first = random.below(12)
        let last = first + random.below(12 - first)
        let expected = model.script(from: first, to: last + 1)
        let folded = fold(steps[first...last], &random)
        folded.checkInvariants()
        #expect(folded == expected, "seed \(seed)")
        #expect(replayed(expected, model.states[first], model.states[last + 1]))
      }
    }
  }

  /// Whether the old elements, put where the script says, and fresh ones of the new state make the
  /// new state.
  private func replayed(_ script: EditScript, _ old: [Int], _ new: [Int]) -> Bool {
    var result: [Int] = []
    for run in script.runs {
      switch run {
      case .old(let first, let count): result += old[first..<first + count]
      case .fresh(let count): result += new[result.count..<result.count + count]
      }
    }
    return result == new && script.oldCount == old.count && script.newCount == new.count
  }

  @Test("as positions lead to the new state and report no more than need be")
  func indexChanges() {
    for seed in Seeds.of(UInt64(0)..<1500) {
      var random = SeededRandom(seed: seed)
      let model = history(&random)
      let first = random.below(12)
      let last = first + 1 + random.below(12 - first)
      let old = model.states[first]
      let new = model.states[last]
      let others = old.indices.filter { _ in random.chance(10) }
      let touched = others.compactMap { new.firstIndex(of: old[$0]) }.sorted()
      let changes = model.script(from: first, to: last)
        .modifying(KeySet(touched.map { ObjectKey(Int64($0)) })).indexChanges(withMoves: true)

      let gone = Set(changes.deletions)
      var result = old.indices.filter { !gone.contains($0) }.map { old[$0] }
      let staying = result
      for index in changes.insertions { result.insert(new[index], at: index) }
      #expect(result == new, "seed \(seed)")

      let positions = Dictionary(uniqueKeysWithValues: zip(old, old.indices))
      let kept = new.compactMap { positions[$0] }
      #expect(staying.count == PlainSequence.longestIncreasing(kept), "seed \(seed)")

      let set = model.set(from: first, to: last).union(others.map { old[$0] })
      let modified = staying.filter { set.contains($0) }
      #expect(changes.modifications == modified.map { positions[$0]! })
      #expect(changes.modificationsNew == modified.map { new.firstIndex(of: $0)! })
      let moved = changes.deletions.filter { new.contains(old[$0]) }
      #expect(changes.moves.map(\.from) == moved)
      #expect(changes.moves.map(\.to) == moved.map { new.firstIndex(of: old[$0])! })
    }
  }

  @Test("of one moved element give one pair, wherever it goes")
  func oneMoveIsOnePair() {
    for from in 0..<9 {
      for to in 0..<9 where from != to {
        var order = Array(0..<9)
        order.insert(order.remove(at: from), at: to)
        let script = PlainSequence.script(Array(0..<9), order, set: [from])
        let changes = script.indexChanges(withMoves: true)
        #expect(changes.deletions == [from], "\(from) to \(to)")
        #expect(changes.insertions == [to], "\(from) to \(to)")
        #expect(changes.moves == [.init(from: from, to: to)])
        #expect(changes.modifications.isEmpty)
      }
    }
  }

  @Test("let those move that were set, where there is a choice")
  func unsetElementsStay() {
    for set in 0...1 {
      let changes = PlainSequence.script([0, 1], [1, 0], set: [set]).indexChanges()
      #expect(changes.deletions == [set])
      #expect(changes.insertions == [1 - set])
      #expect(changes.modifications.isEmpty)
    }
    let swapped = PlainSequence.script([0, 1], [1, 0], set: [])
    #expect(swapped.modifying(KeySet(ObjectKey(0))).indexChanges().deletions == [1])
  }

  @Test("of what was undone say nothing but that values were set")
  func undone() {
    let there = PlainSequence.script([0, 1, 2], [2, 0, 1], set: [])
    let back = PlainSequence.script([2, 0, 1], [0, 1, 2], set: [])
    #expect(there.composing(back) == .identity(count: 3))
    #expect(there.composing(back).isIdentity)
    let set = PlainSequence.script([2, 0, 1], [0, 1, 2], set: [1])
    let both = there.composing(set)
    #expect(both.keepsPositions)
    #expect(!both.isIdentity)
    var expected = IndexChanges()
    expected.modifications = [1]
    expected.modificationsNew = [1]
    #expect(both.indexChanges() == expected)
  }

  @Test("of removing everything and filling again give every position of both")
  func removeAllAndFill() {
    let removed = EditScript.replacingAll(oldCount: 3, newCount: 0)
    #expect(removed.indexChanges().deletions == [0, 1, 2])
    let filled = removed.composing(.replacingAll(oldCount: 0, newCount: 2))
    #expect(filled == .replacingAll(oldCount: 3, newCount: 2))
    #expect(filled.indexChanges().deletions == [0, 1, 2])
    #expect(filled.indexChanges().insertions == [0, 1])
  }

  @Test("whose ends do not meet replace everything")
  func strangeInput() {
    let script = EditScript.identity(count: 3)
    #expect(
      script.composing(.identity(count: 4)) == .replacingAll(oldCount: 3, newCount: 4))
    #expect(EditScript.identity(count: 0).isIdentity)
    #expect(EditScript.identity(count: 0).indexChanges().isEmpty)
  }

  @Test("are limited where they have too many runs")
  func limit() {
    var random = SeededRandom(seed: 5)
    let small = EditScript.random(runs: 20_000, modified: 30, &random)
    #expect(small.limited == small)
    let large = EditScript.random(runs: 100_000, modified: 30, &random)
    #expect(large.runs.count > EditScript.runsMax)
    #expect(large.limited == .replacingAll(oldCount: large.oldCount, newCount: large.newCount))
  }

  @Test("of many runs compose as few do")
  func composesLargeOnes() {
    var random = SeededRandom(seed: 9)
    let old = Array(0..<20_000)
    let middle = old.shuffled(using: &random)
    let new = middle.shuffled(using: &random)
    let set = Set(old.filter { _ in random.chance(20) })
    let first = PlainSequence.script(old, middle, set: set)
    let second = PlainSequence.script(middle, new, set: [])
    let both = first.composing(second)
    #expect(both == PlainSequence.script(old, new, set: set))
    let changes = both.indexChanges()
    #expect(changes.deletions.count == old.count - PlainSequence.longestIncreasing(new))
  }

  @Test("that use a position twice are refused")
  func twiceIsRefused() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var builder = EditScript.Builder(oldCount: 3)
      builder.append(old: 1)
      builder.append(old: 2)
      builder.append(old: 1)
      _ = builder.finish()
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("a script has a duplicate position"), "\(text)")
  }
}
