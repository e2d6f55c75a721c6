import TestSupport
import Testing

@testable import TarnStore

/// Change records whose checksums are right and that say what cannot be true of the file.
@Suite struct RecordAgainstStateTests {
  private static let crates = ClassID(0)
  private let folder = TemporaryStore()
  private let store: Store
  private let old: Snapshot
  private let new: Snapshot

  init() throws {
    store = try folder.open([
      ClassDefinition(name: "Crate", properties: [.init(name: "number", type: .int)])
    ])
    for _ in 0..<2 { _ = try store.write { try $0.create([:], in: Self.crates) } }
    old = try store.newestSnapshot()
    _ = try store.write { try $0.create([:], in: Self.crates) }
    new = try store.newestSnapshot()
  }

  /// What the record says instead, read back.
  private func read(_ classes: [ClassChanges]) throws -> ChangeSet {
    let changes = ChangeSet(from: old.version, to: new.version, classes: classes)
    let meta = ChangeRecord.Meta(
      historyID: new.head.historyID, commitID: new.head.commitID, transactionID: 1,
      schemaEpoch: new.head.schemaEpoch)
    let piece = try #require(try ChangeRecord.encode(changes, meta).first)
    try store.environment.put([
      TreeKey.changeHeader(new.version).withBytes { Array($0) }: piece.bytes
    ])
    let now = Snapshot(
      transaction: try store.environment.beginRead(), head: new.head, schema: new.schema)
    return try ChangeLog.changes(from: old, to: now)
  }

  private func expectDamage(_ part: String, _ entry: ClassChanges) {
    #expect {
      _ = try read([entry])
    } throws: { error in
      let error = error as? StorageError
      return error?.code == .corrupted && error?.detail.contains(part) == true
    }
  }

  private func changes(_ body: (inout ClassChanges) -> Void) -> ClassChanges {
    var entry = ClassChanges(id: Self.crates)
    body(&entry)
    return entry
  }

  private let many = KeySet(ObjectKey(0)...ObjectKey(1 << 60))

  @Test func `what is true is read`() throws {
    let entry = changes {
      $0.inserted = KeySet(ObjectKey(2))
      $0.deleted = KeySet(ObjectKey(0))
      $0.touched = [.init(column: ColumnID(0), keys: KeySet(ObjectKey(1)))]
    }
    #expect(try read([entry]).classes == [entry])
  }

  @Test func `more deletions than there were objects are damage`() {
    expectDamage("deletes more objects", changes { $0.deleted = many })
  }

  @Test func `more insertions or changes than there are objects are damage`() {
    expectDamage("names more objects", changes { $0.inserted = many })
    expectDamage(
      "names more objects", changes { $0.touched = [.init(column: ColumnID(0), keys: many)] })
  }

  @Test func `classes and properties that there are not are damage`() {
    expectDamage("a class that does not exist", ClassChanges(id: ClassID(1)))
    let key = KeySet(ObjectKey(1))
    expectDamage("a property", changes { $0.touched = [.init(column: ColumnID(9), keys: key)] })
    expectDamage(
      "a property",
      changes { $0.backTouched = [.init(origin: ClassID(3), column: ColumnID(0), keys: key)] })
    expectDamage(
      "a property",
      changes {
        $0.sequences = [
          SequenceChange(
            name: SequenceName(column: ColumnID(4), key: ObjectKey(1)),
            script: .replacingAll(oldCount: 1, newCount: 2))
        ]
      })
  }

  @Test(arguments: [3, 4, 5, 6])
  func `a header that says another thing than its parts is damage`(_ field: Int) throws {
    let changes = ChangeSet(
      from: old.version, to: new.version,
      classes: [
        changes {
          $0.inserted = KeySet(ObjectKey(2))
          $0.deleted = KeySet(ObjectKey(0))
          $0.touched = [.init(column: ColumnID(0), keys: KeySet(ObjectKey(1)))]
        }
      ])
    let meta = ChangeRecord.Meta(
      historyID: new.head.historyID, commitID: 1, transactionID: 1, schemaEpoch: 1)
    var pieces = try ChangeRecord.encode(changes, meta)
    #expect(throws: Never.self) { try pieces.decoded(version: new.version) }
    // Inserted, deleted, touched, columns: each a number of one byte.
    pieces[0].bytes[ChangeRecord.headerBytes + field] += 1
    pieces[0].reseal(version: new.version)
    #expect {
      _ = try pieces.decoded(version: new.version)
    } throws: { error in
      (error as? StorageError)?.detail.contains("contradict its header") == true
    }
  }
}
