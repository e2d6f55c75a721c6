import TestSupport
import Testing

@testable import TarnStore

/// Past versions put together from a newer one and the old values in change records, against
/// snapshots that pin them.
struct PastRowsTests {
  @Test(arguments: Seeds.of(1...30 as ClosedRange<UInt64>))
  func aPastVersionIsWhatItWas(seed: UInt64) throws {
    let file = TemporaryStore()
    let store = try file.open(PastClasses.all)
    store.keepBefore { _ in .oldValues }
    var program = PastProgram(seed: seed, store: store)
    var pinned: [(snapshot: Snapshot, state: StoredState)] = []
    for _ in 0..<10 {
      try program.commit()
      let snapshot = try store.newestSnapshot()
      pinned.append((snapshot, try state(of: snapshot)))
    }
    for (index, newer) in pinned.enumerated() where index % 3 == 0 || index == 9 {
      for old in pinned[..<index] {
        let reader = try SnapshotReader(newer.snapshot)
        let past = try PastRows(at: old.snapshot.version, from: reader)
        let found = try StoredState(past.rows, past.schema) { Array(try past.keys(of: $0)) }
        #expect(
          found == old.state,
          """
          version \(old.snapshot.version.rawValue) from \(newer.snapshot.version.rawValue): \
          \(found.differences(from: old.state))
          """)
      }
    }
    #expect(ChangeLog.problems(in: pinned[9].snapshot) == [])
  }

  private func state(of snapshot: Snapshot) throws -> StoredState {
    let rows = Rows(try SnapshotReader(snapshot))
    return try StoredState(rows, snapshot.schema) { id in
      var keys: [ObjectKey] = []
      try rows.forEachImage(in: id) { image in
        for slot in 0..<image.rowCount { keys.append(image.key(at: slot)) }
        return true
      }
      return keys
    }
  }

  /// A reader that goes forward, mostly by one version, while others commit.
  @Test(arguments: Seeds.of(1...6 as ClosedRange<UInt64>))
  func aTailIsWhatIsReadAtOnce(seed: UInt64) throws {
    let file = TemporaryStore()
    let store = try file.open(PastClasses.all)
    store.keepBefore { _ in .oldValues }
    var program = PastProgram(seed: seed, store: store)
    // While this is held, the change records after it are not pruned.
    let held = try store.newestSnapshot()
    let first = held.version
    for _ in 0..<150 { try program.commit() }
    var tail = PastTail()
    var version = first
    while true {
      let now = try store.newestSnapshot()
      if version > now.version { break }
      let found = try tail.past(at: version, in: now)
      let expected = try RecordedPast(after: version, upTo: now.version, in: now.transaction)
      #expect(found == expected, "from \(version.rawValue) to \(now.version.rawValue)")
      // Now and then it goes back, stays or leaps.
      let step = program.random.pick([-3, 0, 0, 1, 1, 1, 1, 1, 2, 9])
      version = Version(UInt64(max(Int(first.rawValue), Int(version.rawValue) + step)))
      if program.random.chance(20) { try program.commit() }
    }
    withExtendedLifetime(held) {}
  }

  @Test(arguments: Seeds.of(1...6 as ClosedRange<UInt64>))
  func imagesCanBeMergedInAnyGrouping(seed: UInt64) throws {
    let file = TemporaryStore()
    let store = try file.open(PastClasses.all)
    store.keepBefore { _ in .oldValues }
    var program = PastProgram(seed: seed, store: store)
    let base = try store.newestSnapshot()
    for _ in 0..<9 { try program.commit() }
    let now = try store.newestSnapshot()
    let balanced = try RecordedPast(
      after: base.version, upTo: now.version, in: now.transaction)
    var changes = ChangeSet(from: base.version, to: base.version)
    var images = OldValues()
    while changes.to < now.version {
      let next = try ChangeLog.images(of: changes.to.next, in: now.transaction)
      images = images.merging(next.images, after: changes)
      changes = changes.merging(next.changes)
    }
    #expect(changes == balanced.changes)
    #expect(images == balanced.images)
  }

  @Test func aClassWithoutOldValuesIsRefused() throws {
    let file = TemporaryStore()
    let store = try file.open(PastClasses.all)
    let base = try store.newestSnapshot()
    store.keepBefore { $0 == PastClasses.other ? .oldValues : .keys }
    try store.write { session in
      _ = try session.create([ColumnID(0): .int(1)], in: PastClasses.thing)
      _ = try session.create([ColumnID(0): .string("a")], in: PastClasses.other)
    }
    let other = try #require(
      try SnapshotReader(store.newestSnapshot()).find(
        primaryKey: .string("a"), in: PastClasses.other))
    try store.write { session in
      try session.set(ColumnID(1), at: ObjectKey(1), in: PastClasses.thing, to: .int(5))
      try session.set(ColumnID(1), at: other, in: PastClasses.other, to: .string("new"))
    }
    let reader = try SnapshotReader(store.newestSnapshot())
    let past = try PastRows(at: base.version.next, from: reader)
    #expect(try past.value(of: ColumnID(1), at: other, in: PastClasses.other) == .string(""))
    #expect {
      _ = try past.value(of: ColumnID(1), at: ObjectKey(1), in: PastClasses.thing)
    } throws: {
      ($0 as? StorageError)?.code == .invalidInput
    }
  }
}
