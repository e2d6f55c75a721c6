import TestSupport
import Testing

@testable import TarnStore

/// The check of entries that are copied, on a store with entries of every kind.
@Suite struct EntryCheckTests {
  private typealias Entry = (key: [UInt8], value: [UInt8])

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
        .init(name: "names", type: .string, collection: .list),
        .init(name: "any", type: .any, isOptional: true),
      ], uniqueRules: [["number"]])
  ]
  private static let tags: [TreeKey.Tag] = [
    .schema, .classRecord, .cluster, .rowCounts, .index, .longValue, .sequencePage,
    .sequenceRowCounts, .longElement, .linkCount, .nested, .unique, .replica, .change, .feed,
    .oldValue, .head,
  ]

  private let folder = TemporaryStore()
  private let store: Store
  private let entries: [Entry]

  init() throws {
    store = try folder.open(Self.classes)
    let cursor = try store.openCursor(CursorRequest("indexer"))
    store.keepBefore { _ in .oldValues }
    try store.write(Self.fill)
    var records = ReplicaRecords()
    records.set(ReplicaKey(1, Self.crates, 7), Array(repeating: 7, count: 90))
    records.set(ReplicaKey(200, Self.crates, 0), Array(repeating: 8, count: 9_000))
    try cursor.keep(records)
    try store.write { session in
      try session.set(ColumnID(4), at: ObjectKey(5), in: Self.crates, to: .string(Self.text("b")))
    }
    entries = try TreeTest.contents(store.environment)
    withExtendedLifetime(cursor) {}
  }

  private static func text(_ word: String) -> String { String(repeating: word, count: 9_000) }

  private static func fill(_ session: WriteSession) throws {
    var keys: [ObjectKey] = []
    for number in 0..<3_000 {
      keys.append(
        try session.create(
          [
            ColumnID(0): .string("label \(number % 7)"), ColumnID(1): .int(Int64(number)),
            ColumnID(4): .string(number == 5 ? text("a") : ""),
          ], in: crates))
    }
    func place(_ column: UInt16) -> SequencePlace {
      SequencePlace(classID: crates, key: keys[0], column: ColumnID(column))
    }
    try session.put((0..<50_000).map { .int($0) }, keys: [], in: place(2))
    try session.put([.link(keys[2]), .link(keys[2])], keys: [], in: place(3))
    try session.put([.string(text("c"))], keys: [], in: place(5))
    let list = try session.makeNested(.list, in: place(6))
    try session.set(ColumnID(6), at: keys[0], in: crates, to: .list(list))
    try session.insert([.int(1), .null], at: 0, in: place(6).nested(list))
  }

  /// The error of the check of these entries; nil if there is none.
  private func problem(_ entries: [Entry]) -> StorageError? {
    do throws(StorageError) {
      _ = try isInDoubt(entries)
      return nil
    } catch {
      return error
    }
  }

  private func places(_ tag: TreeKey.Tag) -> [Int] {
    entries.indices.filter { entries[$0].key[0] == tag.rawValue }
  }

  @Test func `sound entries of every kind pass`() {
    for tag in Self.tags { #expect(!places(tag).isEmpty, "\(tag)") }
    #expect(problem(entries)?.description == nil)
  }

  /// Counts of links have no checksum.
  @Test(arguments: tags.filter { $0 != .linkCount })
  func `a changed byte in an entry of any kind is found and named`(_ tag: TreeKey.Tag) throws {
    let places = places(tag)
    for place in [places.first, places.last] {
      let place = try #require(place)
      let count = entries[place].value.count
      for at in [count / 2, count - 1] {
        var changed = entries
        changed[place].value[at] ^= 0x20
        let found = problem(changed)
        #expect(found?.code == .corrupted, "\(at)")
        #expect(found?.path == "store")
        #expect(found?.detail.contains("the file is damaged: ") == true)
        #expect(found?.detail.contains("'tarn repair'") == true)
      }
    }
  }

  /// Each has a count, or the numbers of pieces.
  @Test(arguments: [
    TreeKey.Tag.cluster, .rowCounts, .classRecord, .longValue, .sequencePage, .longElement,
    .oldValue,
  ])
  func `an entry that is missing, or under another key, is found`(_ tag: TreeKey.Tag) throws {
    let place = try #require(places(tag).first)
    var changed = entries
    changed[place].key[changed[place].key.count - 1] ^= 1
    #expect(problem(changed)?.code == .corrupted)
    changed = entries
    changed.remove(at: place)
    #expect(problem(changed)?.code == .corrupted)
  }

  @Test func `the error names the class and the place`() throws {
    let place = try #require(places(.cluster).first)
    var changed = entries
    changed[place].value[100] ^= 1
    #expect(problem(changed)?.detail.contains("class Crate, cluster at") == true)
  }

  /// A value that ends with a whole piece is followed by its checksum; one of an older library may
  /// end with a piece of that length.
  @Test func `only the lengths tell a wrong checksum from the end of a value without one`() throws {
    let name = LongValueName(Self.crates, ObjectKey(1), ColumnID(4))
    let whole = [UInt8](repeating: 1, count: Pieces.byteCountMax)
    var seed = Checksum.of(name.key(0))
    seed = whole.withUnsafeBytes { Checksum.of($0, after: seed) }
    let sum = withUnsafeBytes(of: seed.littleEndian) { Array($0) }
    #expect(try isInDoubt([(name.key(0), whole), (name.key(1), sum)]) == false)
    #expect(try isInDoubt([(name.key(0), whole), (name.key(1), [1, 2, 3, 4])]) == true)
    #expect(try isInDoubt([(name.key(0), whole), (name.key(1), [1, 2, 3])]) == false)
    #expect(try isInDoubt([(name.key(0), whole)]) == false)
  }

  private struct LongValueName {
    let (classID, object, column): (ClassID, ObjectKey, ColumnID)

    init(_ classID: ClassID, _ object: ObjectKey, _ column: ColumnID) {
      (self.classID, self.object, self.column) = (classID, object, column)
    }

    func key(_ piece: UInt32) -> [UInt8] {
      TreeKey.longValue(classID, object, column, piece: piece).withBytes { Array($0) }
    }
  }

  private func isInDoubt(_ entries: [Entry]) throws(StorageError) -> Bool {
    var check = EntryCheck("store")
    for (key, value) in entries {
      try withBytes(of: key) { key throws(StorageError) in
        try withBytes(of: value) { value throws(StorageError) in try check.take(key, value) }
      }
    }
    try check.finish()
    return check.isInDoubt
  }
}
