import TestSupport
import Testing

@testable import TarnStore

/// Writes random things into a store and into dictionaries, and compares.
struct ModelRun {
  typealias Row = [ColumnID: Value]
  typealias Model = [ClassID: [ObjectKey: Row]]

  static let pets = ClassID(0)
  static let people = ClassID(1)
  static let classes = [
    ClassDefinition(
      name: "Pet",
      properties: [
        .init(name: "name", type: .string, isIndexed: true),
        .init(name: "age", type: .int, isOptional: true),
        .init(name: "owner", type: .link, isOptional: true, target: "Person"),
        .init(name: "notes", type: .data, isOptional: true),
      ]),
    ClassDefinition(
      name: "Person",
      properties: [
        .init(name: "id", type: .int, isPrimaryKey: true),
        .init(name: "name", type: .string),
        .init(name: "born", type: .date),
        .init(name: "friend", type: .link, isOptional: true, target: "Person"),
      ]),
  ]

  private let store: Store
  private var random: SeededRandom
  private var reader: SnapshotReader?
  private(set) var model: Model
  var version: Version { reader!.snapshot.version }

  init(seed: UInt64, store: Store, model: Model = [pets: [:], people: [:]]) throws {
    self.store = store
    self.model = model
    random = SeededRandom(seed: seed)
    reader = try SnapshotReader(store.newestSnapshot())
  }

  mutating func letGo() { reader = nil }

  // MARK: - Writing

  mutating func commitSomething() throws {
    let before = model
    let session = WriteSession(reader!) {}
    let count = random.below(10) == 0 ? random.below(800) : random.below(8)
    for step in 0..<count {
      try change(session)
      if count < 10 || step % 97 == 0 { try session.checkInvariants() }
    }
    try session.checkInvariants()
    let rows = try session.rowCount(of: Self.pets)
    #expect(rows == model[Self.pets]!.count)
    let (snapshot, changes) = try store.commit(session)
    #expect(snapshot.version == reader!.snapshot.version.next)
    changes.checkInvariants()
    let old = reader!.snapshot
    reader = try SnapshotReader(snapshot)
    try check(changes, before: before)
    #expect(try ChangeLog.changes(from: old, to: snapshot) == changes)
    try checkAll()
  }

  private mutating func change(_ session: WriteSession) throws {
    let id = random.below(2) == 0 ? Self.pets : Self.people
    switch random.below(10) {
    case 0...4: try insert(session, id)
    case 5...7: try set(session, id)
    case 8: try delete(session, id)
    default: if random.below(60) == 0 { try clear(session, id) }
    }
  }

  private mutating func insert(_ session: WriteSession, _ id: ClassID) throws {
    var primaryKey: Value?
    if id == Self.people {
      let number = Int64(random.below(4_000)) - 2_000
      primaryKey = .int(number)
      let existing = try session.find(primaryKey: .int(number), in: id)
      #expect((existing != nil) == (model[id]![ObjectKey(number)] != nil))
      if existing != nil { return }
    }
    var row: Row = [:]
    for column in session.schema[id].columns where column.id != session.schema[id].primaryKey {
      row[column.id] = value(for: column)
    }
    if let primaryKey { row[ColumnID(0)] = primaryKey }
    let key = try session.create(row, in: id)
    #expect(model[id]![key] == nil)
    model[id]![key] = row
  }

  private mutating func set(_ session: WriteSession, _ id: ClassID) throws {
    guard let key = anyKey(id) else { return }
    let columns = session.schema[id].columns.filter { $0.id != session.schema[id].primaryKey }
    let column = columns[random.below(columns.count)]
    let value = value(for: column)
    #expect(try session.set(column.id, at: key, in: id, to: value))
    model[id]![key]![column.id] = value
    #expect(try session.value(of: column.id, at: key, in: id) == value)
  }

  private mutating func delete(_ session: WriteSession, _ id: ClassID) throws {
    guard let key = anyKey(id) else { return }
    #expect(try session.delete(key, in: id))
    model[id]![key] = nil
    forgetLinks(to: id) { $0 == key }
  }

  private mutating func clear(_ session: WriteSession, _ id: ClassID) throws {
    try session.clear(id)
    model[id] = [:]
    forgetLinks(to: id) { _ in true }
  }

  private mutating func forgetLinks(to id: ClassID, _ isGone: (ObjectKey) -> Bool) {
    guard id == Self.people else { return }
    for (origin, column) in [(Self.pets, ColumnID(2)), (Self.people, ColumnID(3))] {
      for (key, row) in model[origin]! {
        if case .link(let target) = row[column], isGone(target) {
          model[origin]![key]![column] = .null
        }
      }
    }
  }

  private mutating func anyKey(_ id: ClassID) -> ObjectKey? {
    let keys = model[id]!.keys.sorted()
    return keys.isEmpty ? nil : keys[random.below(keys.count)]
  }

  private mutating func value(for column: ColumnSchema) -> Value {
    if column.isOptional, random.below(4) == 0 { return .null }
    switch column.type {
    case .int: return .int(Int64(random.below(100)))
    case .string: return .string(text())
    case .data:
      let length = random.below(20) == 0 ? random.below(20_000) : random.below(40)
      return .data((0..<length).map { _ in UInt8(random.below(256)) })
    case .date: return .date(Timestamp(seconds: Int64(random.below(1 << 30)), nanoseconds: 5))
    case .link: return anyKey(Self.people).map { .link($0) } ?? .null
    default: fatalError("not used here")
    }
  }

  private mutating func text() -> String {
    let length = random.below(50) == 0 ? 400 : random.below(12)
    return String((0..<length).map { _ in "abcdéf".randomElement(using: &random)! })
  }

  // MARK: - Checking

  /// The rows, the counts, the row counts and the indexes.
  func checkAll() throws {
    let reader = reader!
    for id in [Self.pets, Self.people] {
      try reader.checkInvariants(of: id)
      var found: [ObjectKey: Row] = [:]
      var keys: [ObjectKey] = []
      try reader.forEachCluster(in: id) { cluster throws(StorageError) in
        for slot in 0..<cluster.image.rowCount { keys.append(cluster.image.key(at: slot)) }
        return true
      }
      #expect(keys == keys.sorted())
      for key in keys {
        for column in reader.schema[id].columns {
          found[key, default: [:]][column.id] = try reader.value(of: column.id, at: key, in: id)
        }
      }
      #expect(found == model[id]!)
      #expect(try reader.record(of: id).rowCount == keys.count)
      try checkIndexes(id, reader)
      let counted = try reader.withCursor { cursor throws(StorageError) in
        try RowCounts(id).count(&cursor)
      }
      #expect(counted == keys.count)
    }
  }

  private func checkIndexes(_ id: ClassID, _ reader: SnapshotReader) throws {
    for column in reader.schema.indexed(in: id) {
      var expected: [Value: [ObjectKey]] = [:]
      for (key, row) in model[id]! {
        if column.type == .link, row[column.id] == .null { continue }
        expected[row[column.id]!, default: []].append(key)
      }
      for (value, keys) in expected {
        #expect(try reader.keys(in: id, where: column.id, is: value) == keys.sorted())
      }
      let entries = try reader.withCursor { cursor throws(StorageError) in
        try PackedIndex(id, column.id).count(&cursor)
      }
      #expect(entries == expected.values.reduce(0) { $0 + $1.count })
    }
  }

  /// Every difference between the models is in the change set, and nothing came or went that it
  /// does not say.
  private func check(_ changes: ChangeSet, before: Model) throws {
    for id in [Self.pets, Self.people] {
      let (old, new) = (before[id]!, model[id]!)
      let change = changes[id] ?? ClassChanges(id: id)
      for key in Set(old.keys).union(new.keys) {
        if old[key] == nil { #expect(change.inserted.contains(key)) }
        if new[key] == nil { #expect(change.isCleared || change.deleted.contains(key)) }
        guard let was = old[key], let now = new[key], !change.inserted.contains(key) else {
          continue
        }
        #expect(!change.deleted.contains(key))
        for column in now.keys where was[column] != now[column] {
          #expect(change.touchedKeys(in: column).contains(key))
        }
      }
    }
  }
}
