import TestSupport
import Testing

@testable import TarnStore

/// What records keep of the state before a commit, level by level, and its bytes.
struct OldValuesTests {
  private static let dogs = ClassID(0)
  private static let name = ColumnID(0)
  private static let age = ColumnID(1)
  private static let tags = ColumnID(2)
  private static let notes = ColumnID(3)
  private static let classes = [
    ClassDefinition(
      name: "Dog",
      properties: [
        .init(name: "name", type: .string, isPrimaryKey: true), .init(name: "age", type: .int),
        .init(name: "tags", type: .string, collection: .list),
        .init(name: "notes", type: .string, collection: .map),
      ])
  ]

  private let file = TemporaryStore()
  private let store: Store
  private let pin: Snapshot
  init() throws {
    store = try file.open(Self.classes)
    pin = try store.newestSnapshot()
  }

  /// Two dogs; then one is deleted, the other gets older, loses a tag, and gets another note.
  private func commit(_ level: OldValueLevel) throws -> ClassOldValues? {
    let (gone, older) = try store.write { session in
      let gone = try session.create(
        [Self.name: .string("Rex"), Self.age: .int(9)], in: Self.dogs)
      let older = try session.create(
        [Self.name: .string("Ada"), Self.age: .int(3)], in: Self.dogs)
      for key in [gone, older] {
        let tags = SequencePlace(classID: Self.dogs, key: key, column: Self.tags)
        try session.put([.string("a"), .string("b")], keys: [], in: tags)
        let notes = SequencePlace(classID: Self.dogs, key: key, column: Self.notes)
        try session.set(.string("old"), forKey: "k", inMap: notes)
      }
      return (gone, older)
    }
    store.keepBefore { _ in level }
    try store.write { session in
      try session.delete(gone, in: Self.dogs)
      try session.set(Self.age, at: older, in: Self.dogs, to: .int(4))
      let tags = SequencePlace(classID: Self.dogs, key: older, column: Self.tags)
      try session.remove(1..<2, in: tags)
      let notes = SequencePlace(classID: Self.dogs, key: older, column: Self.notes)
      try session.set(.string("new"), forKey: "k", inMap: notes)
    }
    let now = try store.newestSnapshot()
    return try ChangeLog.images(of: now.version, in: now.transaction).images[Self.dogs]
  }

  private func text(_ text: String) -> OldValue { .value(.string(text)) }

  @Test func withoutALevelNothingIsKept() throws {
    let before = try #require(try commit(.none))
    #expect(before.level == .none)
    #expect(before.columns.isEmpty)
    #expect(before.sequences.isEmpty)
    #expect(before.primaryKeys == nil)
  }

  @Test func keysAreOfDeletedObjects() throws {
    let before = try #require(try commit(.keys))
    let gone = try #require(before.deleted.first)
    #expect(before.level == .keys)
    #expect(before.primaryKeys?.values == [text("Rex")])
    #expect(before.primaryKey(of: gone, pin.schema[Self.dogs]) == text("Rex"))
    #expect(before.columns.isEmpty)
  }

  @Test func deletedObjectsAreWhole() throws {
    let before = try #require(try commit(.deletedObjects))
    let gone = try #require(before.deleted.first)
    #expect(before.value(of: Self.age, at: gone) == .value(.int(9)))
    #expect(before.primaryKey(of: gone, pin.schema[Self.dogs]) == text("Rex"))
    #expect(before.columns.map(\.keys.count) == [1, 1])
    #expect(before.sequences.map(\.isWhole) == [true, true])
    #expect(before.sequences.map(\.elements.count) == [2, 1])
  }

  @Test func oldValuesAreWhatWasReplaced() throws {
    let before = try #require(try commit(.oldValues))
    let age = try #require(before.columns[column: Self.age])
    #expect(age.values == [.value(.int(9)), .value(.int(3))])
    let lost = before.sequences.filter { !$0.isWhole }
    #expect(lost.map(\.name.column) == [Self.tags, Self.notes])
    #expect(lost[0].elements == [.init(position: 1, key: nil, value: text("b"))])
    #expect(lost[1].elements == [.init(position: 0, key: text("k"), value: text("old"))])
  }

  @Test func longValuesGoWithTheirRecord() throws {
    let long = String(repeating: "x", count: 10_000)
    let key = try store.write {
      try $0.create([Self.name: .string(long), Self.age: .int(9)], in: Self.dogs)
    }
    store.keepBefore { _ in .oldValues }
    try store.write { _ = try $0.delete(key, in: Self.dogs) }
    let now = try store.newestSnapshot()
    let before = try #require(
      try ChangeLog.images(of: now.version, in: now.transaction).images[Self.dogs])
    let value = try #require(before.value(of: Self.name, at: key))
    #expect(value == .long(now.version, number: 0, byteCount: 10_000, isString: true))
    #expect(try value.resolved(in: now.transaction) == .string(long))
    #expect(ChangeLog.problems(in: now) == [])
    #expect(try pieces(now) == 4)
    try store.environment.write { transaction throws(StorageError) in
      _ = try ChangeLog.prune(through: .max, most: .max, in: transaction) { _ in false }
    }
    #expect(try pieces(store.newestSnapshot()) == 0)
  }

  private func pieces(_ snapshot: Snapshot) throws -> Int {
    var cursor = try Cursor(snapshot.transaction)
    var count = 0
    var isAtKey = try TreeKey.oldValue(.zero, number: 0, piece: 0).withBytes {
      key throws(StorageError) in try cursor.seek(atOrAfter: key)
    }
    while isAtKey, TreeKey.parseOldValue(cursor.key) != nil {
      count += 1
      isAtKey = try cursor.next()
    }
    return count
  }

  /// The bytes of the sections, as in the documentation of the format.
  @Test func theBytesAreThoseOfTheFormat() {
    var before = ClassOldValues(Self.dogs, .oldValues)
    before.deleted = KeySet(ObjectKey(7))
    var ages = OldColumn(Self.age)
    ages.append(ObjectKey(7), .value(.int(9)))
    ages.append(ObjectKey(8), .value(.null))
    before.columns = [ages]
    let name = SequenceName(column: Self.notes, key: ObjectKey(8))
    var notes = OldSequence(name: name, oldCount: 3, isWhole: false)
    notes.elements = [.init(position: 1, key: text("k"), value: text("old"))]
    before.sequences = [notes]
    var images = OldValues()
    images.classes = [before]
    var entry = ClassChanges(id: Self.dogs)
    entry.isCleared = true
    let changes = ChangeSet(from: Version(1), to: Version(2), classes: [entry])
    let sections = OldValueEncoder(images, changes).sections
    #expect(
      sections[Self.dogs] == [
        [36, 1, 0, 3],
        [35, 3, 0, 0, 14, 0],
        [33, 6, 0, 1, 14, 1, 18, 2, 0],
        [34, 14, 0, 3, 16, 0, 5, 3, 1, 6, 1, 107, 6, 3, 111, 108, 100],
      ])
    #expect((try? OldValueDecoder.images(sections, changes)) == images)
  }

  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func damagedSectionsAreErrors(seed: UInt64) throws {
    _ = try commit(.oldValues)
    let now = try store.newestSnapshot()
    let (_, changes, sections) = try ChangeLog.sections(of: now.version, in: now.transaction)
    var random = SeededRandom(seed: seed)
    var damaged = OldValueSections()
    for section in sections[Self.dogs] {
      var payload = Array(section.dropFirst(3))
      for _ in 0..<random.below(3) {
        payload[random.below(payload.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      if random.chance(20) { payload.removeLast(random.below(payload.count)) }
      damaged.append(section[0], payload, of: Self.dogs)
    }
    do {
      _ = try OldValueDecoder.images(damaged, changes)
    } catch {
      #expect(error.code == .corrupted || error.code == .newerFormat)
    }
  }
}
