import TestSupport
import Testing

@testable import TarnStore

/// Records that are sound in themselves and lie where they do not belong.
@Suite struct StrayRecordTests {
  private static let crates = ClassID(0)
  private static let classes = [
    ClassDefinition(
      name: "Crate",
      properties: [
        .init(name: "label", type: .string, isIndexed: true),
        .init(name: "number", type: .int),
        .init(name: "numbers", type: .int, collection: .list),
        .init(name: "links", type: .link, collection: .list, target: "Crate"),
        .init(name: "text", type: .string),
      ], uniqueRules: [["number"]])
  ]
  private static let long = String(repeating: "long ", count: 2_000)

  private let folder = TemporaryStore()
  private let store: Store

  init() throws {
    store = try folder.open(Self.classes)
    try store.write { session in
      var keys: [ObjectKey] = []
      for number in 0..<3_000 {
        keys.append(
          try session.create(
            [
              ColumnID(0): .string("label \(number % 7)"), ColumnID(1): .int(Int64(number)),
              ColumnID(4): .string(number == 5 ? Self.long : ""),
            ], in: Self.crates))
      }
      let list = SequencePlace(classID: Self.crates, key: keys[0], column: ColumnID(2))
      try session.put((0..<50_000).map { .int($0) }, keys: [], in: list)
      let links = SequencePlace(classID: Self.crates, key: keys[1], column: ColumnID(3))
      try session.put([.link(keys[2]), .link(keys[2])], keys: [], in: links)
    }
  }

  /// The file as it is now: the store would answer with the state before the damage.
  private func reader() throws -> SnapshotReader {
    let known = try store.newestSnapshot()
    return try SnapshotReader(
      Snapshot(
        transaction: try store.environment.beginRead(), head: known.head, schema: known.schema))
  }

  private func keys(_ tag: TreeKey.Tag) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    var cursor = try Cursor(store.environment.beginRead())
    var isAtEntry = try cursor.first()
    while isAtEntry {
      if cursor.key.first == tag.rawValue { keys.append(Array(cursor.key)) }
      isAtEntry = try cursor.next()
    }
    return keys
  }

  /// Takes what lies under a key away, and puts it under another one.
  private func move(_ from: [UInt8], to: [UInt8]?) throws {
    let value = try #require(try store.environment.get(from))
    try store.environment.write { transaction throws(StorageError) in
      _ = try withBytes(of: from) { key throws(StorageError) in try transaction.delete(key) }
    }
    if let to { try store.environment.put([to: value]) }
  }

  /// The key just before that one.
  private func before(_ key: [UInt8]) -> [UInt8] {
    var key = key
    var position = key.count - 1
    while key[position] == 0 {
      key[position] = 0xff
      position -= 1
    }
    key[position] -= 1
    return key
  }

  private func allProblems() throws -> [String] {
    let reader = try reader()
    let (indexes, tree) = (try IndexCheck(reader.schema[Self.crates], reader), TreeCheck(reader))
    return indexes.problems + indexes.broken
      + SequenceCheck(reader).problems + tree.problems + tree.indexProblems
      + ChangeLog.problems(in: reader.snapshot)
  }

  @Test func `a sound file has no problems`() throws {
    #expect(try allProblems() == [])
  }

  @Test(arguments: [TreeKey.Tag.index, .unique])
  func `an index page under another entry's key is found`(_ tag: TreeKey.Tag) throws {
    let pages = try keys(tag)
    try #require(pages.count > 1)
    try move(pages[1], to: before(pages[1]))
    let problems = try allProblems()
    #expect(problems.count == 1, "\(problems)")
    #expect(problems.first?.contains("a page is stored under another entry's key") == true)
  }

  @Test func `a page of a list's row counts under another page's key is found`() throws {
    let pages = try keys(.sequenceRowCounts)
    let page = try #require(pages.first)
    try move(page, to: before(page))
    let problems = try allProblems()
    #expect(problems.contains { $0.contains("a page is stored under another") }, "\(problems)")
  }

  @Test func `entries that belong to nothing are found`() throws {
    try store.environment.put([[0x66, 1, 2]: [1]])
    try store.environment.put([TreeKey.classRecord(ClassID(9)).withBytes { Array($0) }: [1]])
    let index = IndexPageKey(beforeAllOf: PackedIndex(Self.crates, ColumnID(1)))
    try store.environment.put([
      index.withBytes { Array($0) } + [1] + Array(repeating: 0, count: 10): [1]
    ])
    #expect(try allProblems() == ["3 entries of the tree do not belong to anything"])
  }

  @Test func `pieces of long values and counts of links without an owner are found`() throws {
    let piece = TreeKey.longValue(Self.crates, ObjectKey(7), ColumnID(4), piece: 0)
    let link = LinkName(
      classID: Self.crates, column: ColumnID(3), owner: ObjectKey(9),
      target: ObjectRef(classID: Self.crates, key: ObjectKey(2)))
    try store.environment.put([
      piece.withBytes { Array($0) }: [1],
      TreeKey.linkCount(link).withBytes { Array($0) }: [2, 0, 0, 0, 0, 0, 0, 0],
    ])
    #expect(
      try allProblems() == [
        "there are 5 pieces of long values, but objects have 4",
        "there are 2 counts of links, but objects have 1",
      ])
  }

  @Test func `a missing piece of a long value is found`() throws {
    try move(try #require(try keys(.longValue).first), to: nil)
    let problems = try allProblems()
    #expect(problems.contains { $0.contains("Crate.text of object 5") }, "\(problems)")
  }

  @Test func `change records that are missing or lie elsewhere are found`() throws {
    let held = try store.newestSnapshot()
    for number in 0..<3 {
      _ = try store.write { session in
        for key in 0..<1_500 {
          try session.set(
            ColumnID(1), at: ObjectKey(Int64(key * 2)), in: Self.crates,
            to: .int(Int64(10_000 * (number + 1) + key)))
        }
      }
    }
    #expect(try allProblems() == [])
    let records = try keys(.change)
    var damages = 0
    for victim in records.dropFirst() {
      let value = try #require(try store.environment.get(victim))
      try move(victim, to: nil)
      if try ChangeLog.problems(in: reader().snapshot) != [] { damages += 1 }
      try store.environment.put([victim: value])
    }
    #expect(damages == records.count - 1)
    withExtendedLifetime(held) {}
  }

  /// Whoever makes room for them would take all memory.
  @Test(arguments: [1 << 17, 1 << 40])
  func `a collection with fewer elements than it says is damage`(_ count: Int) throws {
    let id = CollectionID(77)
    let cell = CollectionCell.encode(LargeSequence(id: id, count: count, hasOutside: false))
    try store.environment.put([
      TreeKey.nested(id).withBytes { Array($0) }: NestedRecord.encode(.list, cell)
    ])
    let reader = try reader()
    #expect {
      _ = try reader.nestedSequence(id)
    } throws: { error in
      (error as? StorageError)?.code == .corrupted
    }
  }

  // MARK: - Missing rows

  @Test func `a row that was deleted is no damage`() throws {
    try store.write { try $0.delete(ObjectKey(2), in: Self.crates) }
    #expect(try reader().damage(behindMissing: ObjectKey(2), in: Self.crates) == nil)
  }

  @Test func `a row that lies elsewhere is damage`() throws {
    let clusters = try keys(.cluster)
    try move(clusters[1], to: before(clusters[1]))
    let reader = try reader()
    let boundary = try #require(clusters[1].withUnsafeBytes { TreeKey.parseCluster($0) }).first
    // The row counts know where the cluster should begin.
    let damage = reader.damage(behindMissing: ObjectKey(boundary.rawValue - 1), in: Self.crates)
    #expect(damage?.contains("is in the wrong place") == true, "\(damage ?? "")")
  }

  @Test func `a row that an index or a link names is damage`() throws {
    let stored = try keys(.cluster)
    try move(stored[stored.count - 1], to: nil)
    let damage = try reader().damage(behindMissing: ObjectKey(2_999), in: Self.crates)
    #expect(damage?.contains("the row counts of its class are wrong") == true, "\(damage ?? "")")
  }
}
