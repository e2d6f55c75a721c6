import TarnStore
import TestSupport
import Testing

@Suite("Merging change sets")
struct ChangeSetMergeTests {
  private let id = ClassID(3)

  /// A history and the moments at which its writes ended.
  private func history(
    seed: UInt64, reuses: Bool, clears: Bool
  ) -> (model: FateModel, moments: [Int]) {
    var random = SeededRandom(seed: seed)
    var model = FateModel()
    var moments = [0]
    for _ in 0..<12 {
      for _ in 0..<Int.random(in: 0..<30, using: &random) {
        model.apply(model.randomOperation(keys: 24, reuses: reuses, clears: clears, &random))
      }
      moments.append(model.moment)
    }
    return (model, moments)
  }

  /// Merges in a random grouping.
  private func fold(_ sets: ArraySlice<ChangeSet>, _ random: inout SeededRandom) -> ChangeSet {
    if sets.count == 1 { return sets.first! }
    let split = Int.random(in: sets.startIndex + 1..<sets.endIndex, using: &random)
    return fold(sets[..<split], &random).merging(fold(sets[split...], &random))
  }

  @Test(
    "gives what happened, in any grouping",
    arguments: [(true, false), (true, true), (false, false), (false, true)])
  func mergesInAnyGrouping(reuses: Bool, clears: Bool) {
    for seed in Seeds.of(UInt64(0)..<150) {
      let (model, moments) = history(seed: seed, reuses: reuses, clears: clears)
      var random = SeededRandom(seed: seed + 1000)
      let steps = zip(moments, moments.dropFirst()).map { model.changeSet(id, from: $0, to: $1) }
      for _ in 0..<10 {
        let first = Int.random(in: 0..<steps.count, using: &random)
        let last = Int.random(in: first..<steps.count, using: &random)
        let merged = fold(steps[first...last], &random)
        merged.checkInvariants()
        let expected = model.changeSet(id, from: moments[first], to: moments[last + 1])
        #expect(merged == expected, "seed \(seed)")
        #expect(ChangeSet.merging(steps[first...last]) == expected)
      }
    }
  }

  @Test("keeps classes apart and in order")
  func keepsClassesApart() {
    func set(_ from: UInt64, _ classes: [UInt32]) -> ChangeSet {
      ChangeSet(
        from: Version(from), to: Version(from + 1),
        classes: classes.map {
          var changes = ClassChanges(id: ClassID($0))
          changes.touched = [.init(column: ColumnID(1), keys: KeySet(ObjectKey(Int64(from))))]
          return changes
        })
    }
    let merged = set(1, [2, 5, 9]).merging(set(2, [1, 5, 10]))
    #expect(merged.classes.map(\.id.rawValue) == [1, 2, 5, 9, 10])
    #expect(merged[ClassID(5)]?.touchedKeys(in: ColumnID(1)).count == 2)
    #expect(merged[ClassID(4)] == nil)
  }

  @Test("drops a class whose changes cancel out")
  func dropsCancelled() {
    var inserted = ClassChanges(id: id)
    inserted.inserted = KeySet(ObjectKey(1))
    var deleted = ClassChanges(id: id)
    deleted.deleted = KeySet(ObjectKey(1))
    let a = ChangeSet(from: Version(1), to: Version(2), classes: [inserted])
    let b = ChangeSet(from: Version(2), to: Version(3), classes: [deleted])
    #expect(a.merging(b).isEmpty)
  }
}
