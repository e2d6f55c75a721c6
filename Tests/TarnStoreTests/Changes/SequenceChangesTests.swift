import TestSupport
import Testing

@testable import TarnStore

/// Objects with two lists each, in commits, with all that happened to be asked.
private struct ListsModel {
  struct Object {
    var number: Int
    var lists: [SequenceName: [Int]]
  }
  static let id = ClassID(3)

  /// After each commit.
  private(set) var states: [[ObjectKey: Object]] = [[:]]
  private(set) var commits: [ChangeSet] = []
  /// The elements that were set in each commit.
  private(set) var sets: [Set<Int>] = []
  private var objects: [ObjectKey: Object] = [:]
  private var nextNumber = 0

  private mutating func fresh() -> Int {
    nextNumber += 1
    return nextNumber
  }

  static func names(_ key: ObjectKey) -> [SequenceName] {
    [
      SequenceName(column: ColumnID(1), key: key),
      SequenceName(column: ColumnID(1), key: key, nested: CollectionID(UInt64(key.rawValue))),
      SequenceName(column: ColumnID(70), key: key),
    ]
  }

  mutating func commit(clears: Bool, upTo operations: Int = 25, _ random: inout SeededRandom) {
    let recorder = ChangeRecorder()
    let before = objects
    var set: Set<Int> = []
    // The former states of all sequences that the write saw, gone ones too.
    var names: Set<SequenceName> = []
    for _ in 0..<random.below(operations) {
      let key = ObjectKey(Int64(random.below(6)))
      if objects[key] == nil {
        if random.chance(50) { continue }
        objects[key] = Object(
          number: fresh(),
          lists: Dictionary(uniqueKeysWithValues: Self.names(key).map { ($0, []) }))
        recorder.insert(Self.id, key)
      } else if random.chance(10) {
        objects[key] = nil
        recorder.delete(Self.id, key)
      } else if clears && random.chance(3) {
        objects = [:]
        recorder.clear(Self.id)
      } else {
        let name = random.pick(Self.names(key))
        names.insert(name)
        let list = edited(objects[key]?.lists[name] ?? [], &set, &random)
        objects[key]?.lists[name] = list
        recorder.touch(Self.id, key, name.column)
      }
      if random.chance(10) { _ = recorder.position }
    }
    recorder.noteSequences(
      Self.id,
      names.map { name in
        let old = before[name.key]?.lists[name] ?? []
        let new = objects[name.key]?.lists[name] ?? []
        return SequenceChange(name: name, script: PlainSequence.script(old, new, set: set))
      })
    let version = Version(UInt64(states.count))
    states.append(objects)
    sets.append(set)
    commits.append(recorder.changeSet(from: version, to: version.next))
  }

  private mutating func edited(
    _ old: [Int], _ set: inout Set<Int>, _ random: inout SeededRandom
  ) -> [Int] {
    var list = old
    switch random.below(5) {
    case 0 where !list.isEmpty: list.remove(at: random.below(list.count))
    case 1 where !list.isEmpty: set.insert(random.pick(list))
    case 2 where !list.isEmpty: list.swapAt(0, random.below(list.count))
    default: list.insert(fresh(), at: random.below(list.count + 1))
    }
    return list
  }

  /// The scripts of the objects that were there all the time.
  func sequences(from: Int, to: Int) -> [SequenceChange] {
    let set = sets[from..<to].reduce(into: Set<Int>()) { $0.formUnion($1) }
    var result: [SequenceChange] = []
    for (key, old) in states[from] {
      guard let new = states[to][key], new.number == old.number else { continue }
      for name in Self.names(key) {
        let script = PlainSequence.script(old.lists[name]!, new.lists[name]!, set: set)
        if !script.isIdentity { result.append(SequenceChange(name: name, script: script)) }
      }
    }
    return result.sorted { $0.name < $1.name }
  }
}

@Suite("Scripts in change sets")
struct SequenceChangesTests {
  private func fold(_ sets: ArraySlice<ChangeSet>, _ random: inout SeededRandom) -> ChangeSet {
    if sets.count == 1 { return sets.first! }
    let split = sets.startIndex + 1 + random.below(sets.count - 1)
    return fold(sets[..<split], &random).merging(fold(sets[split...], &random))
  }

  @Test("are those of the objects that stayed, merged in any grouping", arguments: [false, true])
  func mergesInAnyGrouping(clears: Bool) {
    for seed in Seeds.of(UInt64(0)..<250) {
      var random = SeededRandom(seed: seed)
      var model = ListsModel()
      for _ in 0..<10 { model.commit(clears: clears, &random) }
      for _ in 0..<10 {
        let first = random.below(10)
        let last = first + random.below(10 - first)
        let merged = fold(model.commits[first...last], &random)
        #expect(merged == fold(model.commits[first...last], &random), "seed \(seed)")
        var fold = ChangeFold(
          after: model.commits[first].from, replayingAt: random.pick([1, 3, 100]))
        for commit in model.commits[first...last] { fold.add(commit) }
        #expect(fold.finish() == merged, "seed \(seed)")
        let expected = model.sequences(from: first, to: last + 1)
        #expect(merged[ListsModel.id]?.sequences ?? [] == expected, "seed \(seed)")
        for change in expected {
          #expect(merged[ListsModel.id]?.script(of: change.name) == change.script)
        }
      }
    }
  }

  @Test("are the same with small records in between", arguments: [false, true])
  func mergesWithSmallRecords(clears: Bool) throws {
    var small = 0
    for seed in Seeds.of(UInt64(0)..<250) {
      var random = SeededRandom(seed: seed)
      var model = ListsModel()
      for _ in 0..<30 { model.commit(clears: clears, upTo: 4, &random) }
      let from = model.commits[0].from
      var fold = ChangeFold(after: from, replayingAt: random.pick([3, 100]))
      for commit in model.commits {
        var meta = ChangeRecord.Meta(
          historyID: Bytes16(high: 1, low: 2), commitID: 3, transactionID: 4, schemaEpoch: 5)
        try ChangeRecord.encode(commit, &meta).withSmallRecord(version: commit.to) { record in
          guard let record else { return fold.add(commit) }
          try fold.add(record)
          small += 1
        }
      }
      let merged = fold.finish()
      let expected = model.sequences(from: 0, to: 30)
      #expect(merged[ListsModel.id]?.sequences ?? [] == expected, "seed \(seed)")
      var plain = ChangeFold(after: from, replayingAt: 100)
      for commit in model.commits { plain.add(commit) }
      #expect(merged == plain.finish(), "seed \(seed)")
    }
    #expect(small > 100)
  }

  @Test("are in the order of their names, a property's own before those nested in it")
  func order() {
    func name(_ column: UInt16, _ key: Int64, _ nested: UInt64? = nil) -> SequenceName {
      SequenceName(
        column: ColumnID(column), key: ObjectKey(key), nested: nested.map { CollectionID($0) })
    }
    let names = [
      name(0, -1), name(0, 4), name(0, 4, 0), name(0, 4, 9), name(0, 5), name(1, -7, 2), name(2, 0),
    ]
    for (index, one) in names.enumerated() {
      for (position, other) in names.enumerated() { #expect((one < other) == (index < position)) }
    }
    #expect(names.shuffled().sorted() == names)
  }

  @Test("of a recorder belong to the whole write, once their column is touched")
  func recorder() {
    let id = ClassID(1)
    let name = SequenceName(column: ColumnID(2), key: ObjectKey(5))
    let script = EditScript.replacingAll(oldCount: 2, newCount: 1)
    let recorder = ChangeRecorder()
    recorder.noteSequences(id, [SequenceChange(name: name, script: script)])
    #expect(!recorder.isEmpty)
    #expect(recorder.changeSet(from: Version(1), to: Version(2)).isEmpty)
    recorder.touch(id, name.key, ColumnID(1))
    #expect(
      recorder.changeSet(from: Version(1), to: Version(2))[id]?.sequences.isEmpty == true)
    recorder.touch(id, name.key, name.column)
    for _ in 0..<2 {
      let changes = recorder.changeSet(from: Version(1), to: Version(2))
      #expect(changes[id]?.script(of: name) == script)
      #expect(recorder.changes(since: .start)[id]?.sequences.isEmpty == true)
    }
    recorder.reset()
    #expect(recorder.isEmpty)
    recorder.touch(id, name.key, name.column)
    #expect(recorder.changeSet(from: Version(1), to: Version(2))[id]?.script(of: name) == nil)
  }

  @Test("of a recorder are limited, and none says nothing")
  func recorderLimits() {
    var random = SeededRandom(seed: 2)
    let id = ClassID(1)
    let large = EditScript.random(runs: 100_000, modified: 10, &random)
    let recorder = ChangeRecorder()
    let names = (0..<2).map { SequenceName(column: ColumnID(2), key: ObjectKey($0)) }
    for name in names { recorder.touch(id, name.key, name.column) }
    recorder.noteSequences(
      id,
      [
        SequenceChange(name: names[1], script: large),
        SequenceChange(name: names[0], script: .identity(count: 4)),
      ])
    let changes = recorder.changeSet(from: Version(1), to: Version(2))
    #expect(changes[id]?.sequences == [SequenceChange(name: names[1], script: large.limited)])
  }
}
