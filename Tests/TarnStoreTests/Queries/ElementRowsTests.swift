import TarnStore
import TestSupport
import Testing

@Suite struct ElementRowsTests {
  private func rows(_ keys: [Int]) -> ElementRows {
    ElementRows(keys.map { ObjectKey(Int64($0)) }, Array(keys.indices))
  }

  /// The new rows, of the old ones and, at the insertions, themselves.
  private func replayed(_ changes: IndexChanges, _ old: [Int], _ new: [Int]) -> [Int] {
    var result = old
    for index in changes.deletions.reversed() { result.remove(at: index) }
    for index in changes.insertions { result.insert(new[index], at: index) }
    return result
  }

  /// The length of the longest common subsequence.
  private func mostInCommon(_ a: [Int], _ b: [Int]) -> Int {
    var last = [Int](repeating: 0, count: b.count + 1)
    for x in a {
      var next = [0]
      for (index, y) in b.enumerated() {
        next.append(x == y ? last[index] + 1 : max(last[index + 1], next[index]))
      }
      last = next
    }
    return last.last ?? 0
  }

  @Test func `by their objects alone as few as possible have moved`() {
    for seed in UInt64(0)..<300 {
      var random = SeededRandom(seed: seed)
      let old = Array(0..<random.below(30)).shuffled(using: &random)
      var new = Array(Set(old).union(20..<random.pick([20, 34]))).sorted()
      if random.chance(50) { new = old + [50] } else { new.shuffle(using: &random) }
      new.removeAll { _ in random.chance(20) }
      let replaced = random.below(40)
      let script = rows(new).script(
        from: rows(old), along: nil, isReplaced: { $0.rawValue == replaced })
      let modified = rows(new).rows(of: KeySet([ObjectKey(2), ObjectKey(3)]))
      let changes = script.modifying(modified).indexChanges()
      #expect(replayed(changes, old, new) == new, "seed \(seed)")
      let kept = mostInCommon(old.map { $0 == replaced ? -1 : $0 }, new)
      #expect(old.count - changes.deletions.count == kept, "seed \(seed)")
      #expect(changes.modifications.allSatisfy { [2, 3].contains(old[$0]) })
      let staying = Set(old.indices).subtracting(changes.deletions)
      let touched = staying.filter { [2, 3].contains(old[$0]) }
      #expect(changes.modifications == touched.sorted(), "seed \(seed)")
    }
  }

  @Test func `objects that are there often lead from state to state`() {
    for seed in UInt64(0)..<300 {
      var random = SeededRandom(seed: seed)
      let old = (0..<random.below(30)).map { _ in random.below(6) }
      let new = (0..<random.below(30)).map { _ in random.below(6) }
      let script = rows(new).script(from: rows(old), along: nil) { _ in false }
      #expect(replayed(script.indexChanges(), old, new) == new, "seed \(seed)")
    }
  }

  @Test func `an element that is there twice is told apart by how the sequence moved`() {
    var moves = EditScript.Builder(oldCount: 3)
    moves.append(old: 1)
    moves.append(old: 2, isModified: true)
    let script = rows([8, 7]).script(from: rows([7, 8, 7]), along: moves.finish()) { _ in false }
    let changes = script.indexChanges()
    #expect(changes.deletions == [0])
    #expect(changes.insertions == [])
    #expect(changes.modifications == [2])
  }
}
