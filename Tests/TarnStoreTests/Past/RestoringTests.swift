import TestSupport
import Testing

@testable import TarnStore

/// Taking commits back, against the states before them.
struct RestoringTests {
  private let file = TemporaryStore()
  private let store: Store
  init() throws {
    store = try file.open(PastClasses.all)
    store.keepBefore { _ in .oldValues }
  }

  // MARK: - Random programs

  private func state() throws -> [StoredState.Slot: [CopiedValue]] {
    let rows = Rows(try SnapshotReader(store.newestSnapshot()))
    return try StoredState(rows, rows.schema) { id in
      var keys: [ObjectKey] = []
      try rows.forEachImage(in: id) { image in
        for slot in 0..<image.rowCount { keys.append(image.key(at: slot)) }
        return true
      }
      return keys
    }.withoutIDs()
  }

  private func differences(
    _ a: [StoredState.Slot: [CopiedValue]], _ b: [StoredState.Slot: [CopiedValue]]
  ) -> [String] {
    let keys = Set(a.keys).union(b.keys).filter { a[$0] != b[$0] }
    return keys.prefix(3).map { slot in
      String("\(slot): \(a[slot] ?? []) instead of \(b[slot] ?? [])".prefix(600))
    }
  }

  private func undo(_ version: Version, overwriting: Bool = false) throws -> [UndoConflict] {
    try store.write { session in
      let restoring = try Restoring(undoing: version, in: session)
      if overwriting || restoring.conflicts.isEmpty { try restoring.run() }
      try session.checkInvariants()
      return restoring.conflicts
    }
  }

  @Test(arguments: Seeds.of(1...24 as ClosedRange<UInt64>))
  func undoingTheNewestCommitGivesTheStateBefore(seed: UInt64) throws {
    let pin = try store.newestSnapshot()
    var program = PastProgram(seed: seed, store: store)
    for _ in 0..<8 {
      let before = try state()
      try program.commit()
      let after = try state()
      let version = try store.newestSnapshot().version
      #expect(try undo(version) == [])
      #expect(differences(try state(), before) == [])
      #expect(try undo(version.next) == [])
      #expect(differences(try state(), after) == [])
    }
    withExtendedLifetime(pin) {}
  }

  @Test(arguments: Seeds.of(1...18 as ClosedRange<UInt64>))
  func revertingGivesTheFormerState(seed: UInt64) throws {
    let pin = try store.newestSnapshot()
    var program = PastProgram(seed: seed, store: store)
    var states: [(version: Version, state: [StoredState.Slot: [CopiedValue]])] = []
    for _ in 0..<8 {
      try program.commit()
      states.append((try store.newestSnapshot().version, try state()))
    }
    for former in states.shuffled(using: &program.random).prefix(4) {
      try store.write { session in
        try Restoring(revertingTo: former.version, in: session).run()
        try session.checkInvariants()
      }
      #expect(differences(try state(), former.state) == [])
    }
    withExtendedLifetime(pin) {}
  }

  // MARK: - Conflicts

  private static let int = ColumnID(1)
  private static let thing = ColumnID(2)

  /// A thing 1 whose int is 5, in the first commit; in the second it becomes 6, and thing 2 is
  /// added.
  private func prepare() throws -> Version {
    try store.write { session in
      _ = try session.create(
        [ColumnID(0): .int(1), Self.int: .int(5)], in: PastClasses.thing)
    }
    try store.write { session in
      try session.set(Self.int, at: ObjectKey(1), in: PastClasses.thing, to: .int(6))
      _ = try session.create([ColumnID(0): .int(2)], in: PastClasses.thing)
    }
    return try store.newestSnapshot().version
  }

  struct Later: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let object: Int64
    let cause: UndoConflict.Cause
    let change: @Sendable (WriteSession) throws -> Void
  }

  static let laterChanges = [
    Later(testDescription: "set again", object: 1, cause: .modified(int)) {
      try $0.set(int, at: ObjectKey(1), in: PastClasses.thing, to: .int(7))
    },
    Later(testDescription: "deleted", object: 1, cause: .deleted) {
      _ = try $0.delete(ObjectKey(1), in: PastClasses.thing)
    },
    Later(testDescription: "replaced", object: 1, cause: .replaced) {
      _ = try $0.delete(ObjectKey(1), in: PastClasses.thing)
      _ = try $0.create([ColumnID(0): .int(1)], in: PastClasses.thing)
    },
    Later(testDescription: "the new one modified", object: 2, cause: .modified(int)) {
      try $0.set(int, at: ObjectKey(2), in: PastClasses.thing, to: .int(7))
    },
    Later(testDescription: "the new one linked", object: 2, cause: .linked) {
      _ = try $0.create(
        [ColumnID(0): .string("a"), thing: .link(ObjectKey(2))], in: PastClasses.other)
    },
  ]

  @Test(arguments: laterChanges)
  func aLaterChangeOfTheSameIsAConflict(later: Later) throws {
    let pin = try store.newestSnapshot()
    let version = try prepare()
    try store.write { try later.change($0) }
    let object = ObjectRef(classID: PastClasses.thing, key: ObjectKey(later.object))
    #expect(try undo(version) == [UndoConflict(object: object, cause: later.cause)])
    _ = try undo(version, overwriting: true)
    let reader = try SnapshotReader(store.newestSnapshot())
    #expect(try reader.value(of: Self.int, at: ObjectKey(1), in: PastClasses.thing) == .int(5))
    #expect(try reader.row(ObjectKey(2), in: PastClasses.thing) == nil)
    withExtendedLifetime(pin) {}
  }

  @Test func otherLaterChangesStay() throws {
    let pin = try store.newestSnapshot()
    let version = try prepare()
    try store.write { session in
      try session.set(ColumnID(3), at: ObjectKey(1), in: PastClasses.thing, to: .string("new"))
    }
    #expect(try undo(version) == [])
    let reader = try SnapshotReader(store.newestSnapshot())
    #expect(try reader.value(of: Self.int, at: ObjectKey(1), in: PastClasses.thing) == .int(5))
    #expect(
      try reader.value(of: ColumnID(3), at: ObjectKey(1), in: PastClasses.thing) == .string("new"))
    withExtendedLifetime(pin) {}
  }

  @Test func aPrimaryKeyThatIsTakenIsAConflict() throws {
    let pin = try store.newestSnapshot()
    let name: [ColumnID: Value] = [ColumnID(0): .string("a")]
    let gone = try store.write { try $0.create(name, in: PastClasses.other) }
    try store.write { _ = try $0.delete(gone, in: PastClasses.other) }
    let version = try store.newestSnapshot().version
    let holder = try store.write { try $0.create(name, in: PastClasses.other) }
    let object = ObjectRef(classID: PastClasses.other, key: gone)
    #expect(try undo(version) == [UndoConflict(object: object, cause: .keyTaken(by: holder))])
    _ = try undo(version, overwriting: true)
    let reader = try SnapshotReader(store.newestSnapshot())
    #expect(try reader.find(primaryKey: .string("a"), in: PastClasses.other) == gone)
    withExtendedLifetime(pin) {}
  }

  @Test(arguments: [0, 99] as [UInt64])
  func aVersionThatIsNotThereIsRefused(version: UInt64) throws {
    _ = try prepare()
    #expect { _ = try undo(Version(version)) } throws: {
      ($0 as? StorageError)?.code == .invalidInput
    }
  }
}
