import TarnStore
import TestSupport
import Testing

/// Migrations below the public interface: what the file holds afterwards.
@Suite struct SchemaMigrationTests {
  private let file = TemporaryStore()

  private func classes(embedded: Bool, without removed: String? = nil) -> [ClassDefinition] {
    typealias Property = ClassDefinition.Property
    let owner = [
      Property(name: "name", type: .string),
      Property(name: "note", type: .data, isOptional: true),
      Property(name: "part", type: .link, isOptional: true, target: "Part"),
      Property(name: "spare", type: .link, isOptional: true, target: "Part"),
    ]
    return [
      ClassDefinition(name: "Owner", properties: owner.filter { $0.name != removed }),
      ClassDefinition(
        name: "Part", properties: [Property(name: "size", type: .int)], isEmbedded: embedded),
    ]
  }

  /// An open store with two owners that have a part each.
  private func open() throws -> Store {
    let store = try file.open(classes(embedded: false))
    try store.write { session in
      for size in [1, 2] as [Int64] {
        let part = try session.create([ColumnID(0): .int(size)], in: ClassID(1))
        try session.create(
          [
            ColumnID(0): .string("owner \(size)"), ColumnID(2): .link(part),
            ColumnID(1): .data(Array(repeating: 7, count: 10_000)),
          ], in: ClassID(0))
      }
    }
    return store
  }

  private func migrate(
    _ store: Store, to version: UInt64, _ classes: [ClassDefinition],
    _ body: (SchemaMigration) throws -> Void = { _ in }
  ) throws {
    let migration = try SchemaMigration(
      store.newestSnapshot(), to: version, classes, path: store.path
    ) {}
    try body(migration)
    _ = try store.commit(try migration.finish())
  }

  private func expectFailure(_ text: String, _ body: () throws -> Void) {
    let error = #expect(throws: StorageError.self) { try body() }
    #expect(error?.detail.contains(text) == true, "\(error?.detail ?? "")")
  }

  @Test func aClassBecomesEmbeddedIfEachObjectHasOneOwner() throws {
    let store = try open()
    expectFailure("Class 'Part' is not embedded in the file but embedded in the program.") {
      _ = try file.open(classes(embedded: true))
    }
    try migrate(store, to: 1, classes(embedded: true))
    #expect(try store.newestSnapshot().schema[ClassID(1)].isEmbedded)
    expectFailure("Class 'Part' is embedded in the file but not embedded in the program.") {
      _ = try file.open(classes(embedded: false))
    }
    try migrate(store, to: 2, classes(embedded: false))
    #expect(try !store.newestSnapshot().schema[ClassID(1)].isEmbedded)
    #expect(try store.newestSnapshot().head.schemaVersion == 2)
  }

  @Test func aClassWithSharedOrLostObjectsDoesNotBecomeEmbedded() throws {
    let store = try open()
    try store.write { session in
      try session.set(ColumnID(3), at: ObjectKey(0), in: ClassID(0), to: .link(ObjectKey(1)))
    }
    let before = try store.newestSnapshot().head
    expectFailure("linked to by 2 objects, not by exactly one") {
      try migrate(store, to: 1, classes(embedded: true))
    }
    expectFailure("linked to by no object, not by exactly one") {
      try migrate(store, to: 1, classes(embedded: true)) { migration in
        try migration.session.set(
          ColumnID(3), at: ObjectKey(0), in: ClassID(0), to: .link(ObjectKey(0)))
        try migration.session.set(ColumnID(2), at: ObjectKey(0), in: ClassID(0), to: .null)
        try migration.session.set(ColumnID(2), at: ObjectKey(1), in: ClassID(0), to: .null)
      }
    }
    #expect(try store.newestSnapshot().head == before)
    try migrate(store, to: 1, classes(embedded: true)) { migration in
      try migration.session.set(ColumnID(3), at: ObjectKey(0), in: ClassID(0), to: .null)
    }
  }

  @Test func embeddedObjectsGoWithTheirProperty() throws {
    let store = try open()
    try store.write { session in
      let spare = try session.create([ColumnID(0): .int(3)], in: ClassID(1))
      try session.set(ColumnID(3), at: ObjectKey(0), in: ClassID(0), to: .link(spare))
    }
    try migrate(store, to: 1, classes(embedded: true))
    try migrate(store, to: 2, classes(embedded: true, without: "part"))
    let reader = try SnapshotReader(store.newestSnapshot())
    #expect(try reader.allKeys(in: ClassID(1)) == [ObjectKey(2)])
    #expect(
      try reader.value(of: ColumnID(3), at: ObjectKey(0), in: ClassID(0)) == .link(ObjectKey(2)))
  }

  private func pieces(of column: ColumnID, _ store: Store) throws -> Int {
    let reader = try SnapshotReader(store.newestSnapshot())
    return try (0..<2).count { key in
      let start = TreeKey.longValue(ClassID(0), ObjectKey(Int64(key)), column, piece: 0)
      return try unsafe start.withBytes { bytes throws(StorageError) in
        try unsafe reader.snapshot.transaction.value(forKey: bytes) != nil
      }
    }
  }

  @Test func aRemovedColumnLeavesNothingOutsideOfTheRows() throws {
    let store = try open()
    #expect(try pieces(of: ColumnID(1), store) == 2)
    try migrate(store, to: 1, classes(embedded: false, without: "note"))
    #expect(try pieces(of: ColumnID(1), store) == 0)
    let snapshot = try store.newestSnapshot()
    let reader = try SnapshotReader(snapshot)
    #expect(snapshot.schema[ClassID(0)][ColumnID(1)].isRemoved)
    #expect(
      try reader.value(of: ColumnID(0), at: ObjectKey(1), in: ClassID(0)) == .string("owner 2"))
    // A link that goes takes its index with it; the others' backlinks stay.
    try migrate(store, to: 2, classes(embedded: false, without: "spare"))
    try store.write { session in
      _ = try session.delete(ObjectKey(0), in: ClassID(1))
    }
    let after = try SnapshotReader(store.newestSnapshot())
    #expect(try after.value(of: ColumnID(2), at: ObjectKey(0), in: ClassID(0)) == .null)
    #expect(try Environment.verifyPages(path: store.path).problems == [])
  }

  @Test func aMigrationIsOneCommitThatSaysSo() throws {
    let store = try open()
    let before = try store.newestSnapshot()
    try migrate(store, to: 1, classes(embedded: false, without: "note")) { migration in
      try migration.session.set(
        ColumnID(0), at: ObjectKey(1), in: ClassID(0), to: .string("set"))
    }
    let after = try store.newestSnapshot()
    #expect(after.version == before.version.next)
    #expect(after.schema.epoch == before.schema.epoch + 1)
    let changes = try ChangeLog.changes(from: before, to: after)
    #expect(changes.schemaChanged)
    #expect(changes[ClassID(0)]?.touchedKeys(in: ColumnID(0)) == KeySet([ObjectKey(1)]))
  }
}
