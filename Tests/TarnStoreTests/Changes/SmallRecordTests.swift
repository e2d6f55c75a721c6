import TestSupport
import Testing

@testable import TarnStore

@Suite("Records of small commits that are read without a change set")
struct SmallRecordTests {
  private static let id = ClassID(3)

  private func meta(_ cursors: [UInt32]) -> ChangeRecord.Meta {
    let note = CommitNote(time: 1, stamp: 2, age: 3, logBytes: 4, cursors: cursors, origin: "test")
    return ChangeRecord.Meta(
      historyID: Bytes16(high: 1, low: 2), commitID: 3, transactionID: 4, schemaEpoch: 5,
      note: note)
  }

  @Test("are merged with others as change sets are", arguments: [false, true])
  func equalsWhatHappened(clears: Bool) throws {
    var (small, other) = (0, 0)
    for seed in Seeds.of(UInt64(0)..<60) {
      var random = SeededRandom(seed: seed)
      var model = FateModel()
      var moments = [0]
      for _ in 0..<100 {
        for _ in 0...random.below(5) {
          model.apply(model.randomOperation(keys: 24, reuses: true, clears: clears, &random))
        }
        moments.append(model.moment)
      }
      let steps = zip(moments, moments.dropFirst()).enumerated().map { number, step in
        var set = model.changeSet(Self.id, from: step.0, to: step.1)
        (set.from, set.to) = (Version(UInt64(number)), Version(UInt64(number) + 1))
        return set
      }
      var expected = model.changeSet(Self.id, from: 0, to: moments[moments.count - 1])
      expected.to = Version(100)
      for size in [1, 7, 4096] {
        var fold = ChangeFold(after: .zero, replayingAt: size)
        for step in steps {
          try ChangeRecord.encode(step, meta([])).withSmallRecord(version: step.to) { record in
            guard let record, random.below(8) > 0 else {
              other += 1
              return fold.add(step)
            }
            small += 1
            let deleted = try fold.add(record)
            #expect(deleted == step[Self.id]?.deleted ?? KeySet())
          }
        }
        #expect(fold.finish() == expected, "seed \(seed), \(size) at once")
      }
    }
    #expect(small > 1000)
    #expect(other > 1000)
  }

  @Test("name the commit and its cursors")
  func naming() throws {
    var changes = ClassChanges(id: Self.id)
    changes.inserted = KeySet(ObjectKey(5))
    let set = ChangeSet(from: Version(8), to: Version(9), classes: [changes])
    try ChangeRecord.encode(set, meta([7, 9])).withSmallRecord(version: Version(9)) { record in
      let record = try #require(record)
      #expect(record.version == Version(9))
      #expect(record.commitID == 3)
      #expect(record.cursors == [7, 9])
    }
  }

  @Test("leave many keys, several classes and other sections to the whole reading")
  func others() throws {
    var changes = ClassChanges(id: Self.id)
    changes.inserted = KeySet(ObjectKey(1)...ObjectKey(33))
    var backwards = ClassChanges(id: Self.id)
    backwards.backTouched = [
      .init(origin: Self.id, column: ColumnID(1), keys: KeySet(ObjectKey(1)))
    ]
    var few = ClassChanges(id: Self.id)
    few.deleted = KeySet(ObjectKey(1))
    let second = ClassChanges(id: ClassID(4))
    for classes in [[changes], [backwards], [few, second], []] {
      let set = ChangeSet(from: Version(8), to: Version(9), classes: classes)
      try ChangeRecord.encode(set, meta([])).withSmallRecord(version: Version(9)) {
        #expect($0 == nil)
      }
    }
    let migration = ChangeSet(
      from: Version(8), to: Version(9), classes: [few], schemaChanged: true)
    try ChangeRecord.encode(migration, meta([])).withSmallRecord(version: Version(9)) {
      #expect($0 == nil)
    }
  }

  @Test("with a wrong byte are what the whole reading says")
  func damage() throws {
    var changes = ClassChanges(id: Self.id)
    changes.inserted = KeySet([ObjectKey(5), ObjectKey(6), ObjectKey(900)])
    changes.deleted = KeySet([ObjectKey(4)])
    changes.touched = [
      .init(column: ColumnID(0), keys: KeySet(ObjectKey(1))),
      .init(column: ColumnID(7), keys: KeySet([ObjectKey(1), ObjectKey(3)])),
    ]
    let set = ChangeSet(from: Version(8), to: Version(9), classes: [changes])
    let pieces = try ChangeRecord.encode(set, meta([4]))
    var (damaged, read) = (0, 0)
    for index in 4..<pieces[0].bytes.count {
      for bit in 0..<8 {
        var one = pieces
        one[0].bytes[index] ^= 1 << bit
        #expect(throws: StorageError.self) { try one.withSmallRecord(version: Version(9)) { _ in } }
        one[0].reseal(version: Version(9))
        var whole: ChangeSet?
        do { whole = try one.decoded(version: Version(9)).1 } catch is StorageError {}
        // A fold traps for versions out of order.
        if let whole, whole.from != Version(8) { continue }
        do {
          try one.withSmallRecord(version: Version(9)) { record in
            guard let record else { return }
            var fold = ChangeFold(after: Version(8), replayingAt: 1)
            try fold.add(record)
            var other = ChangeFold(after: Version(8), replayingAt: 1)
            other.add(try #require(whole, "byte \(index), bit \(bit)"))
            #expect(fold.finish() == other.finish(), "byte \(index), bit \(bit)")
            read += 1
          }
        } catch is StorageError {
          #expect(whole == nil, "byte \(index), bit \(bit)")
          damaged += 1
        }
      }
    }
    #expect(damaged > 100)
    #expect(read > 100)
  }
}
