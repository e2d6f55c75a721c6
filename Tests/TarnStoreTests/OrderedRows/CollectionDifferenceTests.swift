import TarnStore
import TestSupport
import Testing

@Suite("The difference of two roots")
struct CollectionDifferenceTests {
  private func keys(_ set: Set<Int64>) -> [ObjectKey] { set.map { ObjectKey($0) } }

  /// Old plus changes is new, every array ascends, and nothing is said that is not so.
  private func expectReplay(
    _ changes: IndexChanges, from old: [ObjectKey], to new: [ObjectKey],
    modified: Set<Int64>, replaced: Set<Int64> = []
  ) {
    for array in [
      changes.deletions, changes.insertions, changes.modifications, changes.modificationsNew,
      changes.moves.map(\.from),
    ] {
      #expect(zip(array, array.dropFirst()).allSatisfy { $0 < $1 })
    }
    var mirror = old
    for index in changes.deletions.reversed() { mirror.remove(at: index) }
    for index in changes.insertions { mirror.insert(new[index], at: index) }
    #expect(mirror == new)
    let deleted = Set(changes.deletions)
    let inserted = Set(changes.insertions)
    #expect(deleted.isDisjoint(with: changes.modifications))
    #expect(inserted.isDisjoint(with: changes.modificationsNew))
    #expect(changes.modifications.map { old[$0] } == changes.modificationsNew.map { new[$0] })
    #expect(changes.moves.allSatisfy { old[$0.from] == new[$0.to] })
    #expect(changes.moves.allSatisfy { deleted.contains($0.from) && inserted.contains($0.to) })
    let kept = Set(old.indices.filter { !deleted.contains($0) }.map { old[$0].rawValue })
    #expect(Set(changes.modifications.map { old[$0].rawValue }) == modified.intersection(kept))
    #expect(kept.isDisjoint(with: replaced))
    // Rows that only moved are in both; the others came or went.
    let came = Set(new).subtracting(old)
    let went = Set(old).subtracting(new)
    #expect(changes.moves.count == changes.deletions.count - went.count - replacedCount(old, new))
    #expect(changes.moves.count == changes.insertions.count - came.count - replacedCount(old, new))
    func replacedCount(_ old: [ObjectKey], _ new: [ObjectKey]) -> Int {
      replaced.count { old.contains(ObjectKey($0)) && new.contains(ObjectKey($0)) }
    }
  }

  @Test("over random steps is exact and names nothing untouched", arguments: Seeds.of(0..<16))
  func randomSteps(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var model = SortedModel()
    let keyRange: ClosedRange<Int64> = seed % 2 == 0 ? 0...400 : Int64.min...Int64.max
    let valueRange = [0..<4, 0..<1000][Int(seed / 2 % 2)]
    _ = model.step(300, keys: keyRange, values: valueRange, &random)
    var roots = [OrderedRoot(sorted: model.sorted), OrderedRoot(keyed: KeySet(model.keyed))]
    var lists = [model.sorted, model.keyed]
    var baselines = roots
    var baselineLists = lists
    var touched: Set<Int64> = []
    var modified: Set<Int64> = []
    for _ in 0..<40 {
      let size = [1, 1, 2, 6, 60].randomElement(using: &random)!
      let (removed, inserted, changed) = model.step(
        size, keys: keyRange, values: valueRange, &random)
      let updates = try roots.map {
        try $0.updating(
          removals: keys(removed), insertions: keys(inserted.union(changed)),
          isOrderedBefore: model.isOrderedBefore)
      }
      roots = updates.map(\.root)
      let oldLists = lists
      lists = [model.sorted, model.keyed]
      let others = Set(model.values.keys.filter { _ in Int.random(in: 0..<9, using: &random) == 0 })
        .subtracting(inserted)
      for kind in 0..<2 {
        let changes = CollectionDifference.of(updates[kind], others: KeySet(keys(others))) { key in
          others.contains(key.rawValue) || changed.contains(key.rawValue)
        }
        expectReplay(
          changes, from: oldLists[kind], to: lists[kind], modified: others.union(changed))
      }
      touched.formUnion(removed.union(inserted).union(changed))
      modified.formUnion(changed.filter { _ in Bool.random(using: &random) })
      if Int.random(in: 0..<3, using: &random) == 0 { continue }
      for kind in 0..<2 {
        var asked: [ObjectKey] = []
        let changes = CollectionDifference.between(
          baselines[kind], roots[kind], touched: KeySet(keys(touched))
        ) { key in
          asked.append(key)
          return modified.contains(key.rawValue)
        }
        #expect(Set(asked).count == asked.count)
        expectReplay(changes, from: baselineLists[kind], to: lists[kind], modified: modified)
        if kind == 1 { #expect(changes.moves.isEmpty) }
        let reported = changes.deletions.map { baselineLists[kind][$0].rawValue }
        #expect(touched.isSuperset(of: reported))
      }
      baselines = roots
      baselineLists = lists
      touched = []
      modified = []
    }
  }

  @Test("of a single moved row is one deletion and one insertion, whatever else was touched")
  func singleMove() {
    var random = SeededRandom(seed: 9)
    for _ in 0..<200 {
      let count = Int.random(in: 2..<200, using: &random)
      let old = (0..<count).map { ObjectKey(Int64($0)) }.shuffled(using: &random)
      let from = Int.random(in: 0..<count, using: &random)
      let to = Int.random(in: 0..<count, using: &random)
      var new = old
      new.insert(new.remove(at: from), at: to)
      let others = old.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
      let changes = CollectionDifference.between(
        OrderedRoot(sorted: old), OrderedRoot(sorted: new),
        touched: KeySet(others + [old[from]])
      ) { _ in true }
      expectReplay(
        changes, from: old, to: new,
        modified: Set((others + [old[from]]).map(\.rawValue)))
      #expect(changes.moves.count == (from == to ? 0 : 1))
      #expect(changes.deletions.count == changes.moves.count)
    }
  }

  @Test("of a key that names another object deletes and inserts it in place", arguments: [1, 2])
  func replacedInPlace(count: Int) {
    let rows = (0..<10).map { ObjectKey(Int64($0)) }
    let some = KeySet(rows[4..<4 + count])
    for root in [OrderedRoot(sorted: rows), OrderedRoot(keyed: KeySet(rows))] {
      let changes = CollectionDifference.between(
        root, root, touched: some, replaced: KeySet(rows[4])
      ) { _ in true }
      #expect(changes.deletions == [4])
      #expect(changes.insertions == [4])
      #expect(changes.moves.isEmpty)
      #expect(changes.modifications == Array(5..<4 + count))
    }
  }

  @Test("gives modifications by their old positions")
  func oldPositions() throws {
    let old = OrderedRoot(keyed: KeySet((0..<5).map { ObjectKey(Int64($0)) }))
    let new = try old.applying(removals: [ObjectKey(1)], insertions: []) { $0 < $1 }
    let changes = CollectionDifference.between(
      old, new, touched: KeySet([ObjectKey(1), ObjectKey(2), ObjectKey(77)])
    ) { $0 == ObjectKey(2) }
    #expect(changes.deletions == [1])
    #expect(changes.modifications == [2])
    #expect(changes.modificationsNew == [1])
  }

  @Test("of rows in reverse keeps one")
  func reversed() {
    let rows = (0..<100).map { ObjectKey(Int64($0)) }
    let changes = CollectionDifference.between(
      OrderedRoot(sorted: rows), OrderedRoot(sorted: rows.reversed()), touched: KeySet(rows)
    ) { _ in false }
    #expect(changes.moves.count == 99)
    expectReplay(changes, from: rows, to: rows.reversed(), modified: [])
  }
}
