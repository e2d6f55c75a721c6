import TestSupport
import Testing

@testable import TarnStore

/// Changed bytes in long values of objects, of collections, and from before a commit.
@Suite struct LongValueDamageTests {
  private static let crates = ClassID(0)
  private static let classes = [
    ClassDefinition(
      name: "Crate",
      properties: [
        .init(name: "text", type: .string),
        .init(name: "names", type: .string, collection: .list),
        .init(name: "notes", type: .data, collection: .map),
      ])
  ]
  private static let tags = [TreeKey.Tag.longValue, .longElement, .oldValue]

  private let folder = TemporaryStore()
  private let store: Store

  init() throws {
    store = try folder.open(Self.classes)
    var random = SeededRandom(seed: 3)
    store.keepBefore { _ in .oldValues }
    let key = try store.write { session in
      let key = try session.create([ColumnID(0): .string(Self.text("a"))], in: Self.crates)
      let names = SequencePlace(classID: Self.crates, key: key, column: ColumnID(1))
      try session.put([.string(Self.text("b")), .string("c")], keys: [], in: names)
      let notes = SequencePlace(classID: Self.crates, key: key, column: ColumnID(2))
      try session.set(.data(random.bytes(700)), forKey: Self.text("d"), inMap: notes)
      return key
    }
    try store.write { session in
      try session.set(ColumnID(0), at: key, in: Self.crates, to: .string(Self.text("e")))
    }
  }

  private static func text(_ word: String) -> String { String(repeating: word, count: 5_000) }

  private func entries() throws -> [(key: [UInt8], value: [UInt8])] {
    try TreeTest.contents(store.environment).filter { entry in
      Self.tags.contains { $0.rawValue == entry.key[0] }
    }
  }

  /// The file as it is now: the store would answer with the state before the damage.
  private func problems() throws -> [String] {
    let known = try store.newestSnapshot()
    let reader = try SnapshotReader(
      Snapshot(
        transaction: try store.environment.beginRead(), head: known.head, schema: known.schema))
    return TreeCheck(reader).problems + SequenceCheck(reader).problems
      + ChangeLog.problems(in: reader.snapshot)
  }

  @Test func `the check finds a changed byte in each of them`() throws {
    #expect(try problems() == [])
    let entries = try entries()
    for tag in Self.tags { #expect(entries.contains { $0.key[0] == tag.rawValue }) }
    for (key, value) in entries {
      for at in [0, value.count - 1] {
        var changed = value
        changed[at] ^= 0x20
        try TreeTest.put(changed, under: key, store.environment)
        let found = try problems()
        #expect(found.contains { $0.contains("The checksum of a long value") }, "\(found)")
      }
      try TreeTest.put(value, under: key, store.environment)
    }
    #expect(try problems() == [])
  }

  /// As the commands of `tarn` open it, or as a program does.
  @Test(arguments: [true, false])
  func `reading compares checksums only in a store that was opened so`(_ compares: Bool) throws {
    let folder = TemporaryStore()
    var options = Store.Options()
    options.isDurable = false
    options.classes = Self.classes
    options.verifiesPages = compares
    let store = try StoreRegistry.open(folder.path, options)
    let key = try store.write { session in
      try session.create([ColumnID(0): .string(Self.text("a"))], in: Self.crates)
    }
    let piece = try #require(
      try TreeTest.contents(store.environment).first {
        $0.key[0] == TreeKey.Tag.longValue.rawValue
      })
    var changed = piece.value
    changed[7] = UInt8(ascii: "b")
    try TreeTest.put(changed, under: piece.key, store.environment)
    let known = try store.newestSnapshot()
    let reader = try SnapshotReader(
      Snapshot(
        transaction: try store.environment.beginRead(), head: known.head, schema: known.schema))
    func read() throws -> Value? { try reader.value(of: ColumnID(0), at: key, in: Self.crates) }
    if compares {
      #expect(StorageError.code(of: read) == .corrupted)
    } else {
      var letters = Array(Self.text("a").utf8)
      letters[7] = UInt8(ascii: "b")
      #expect(try read() == .string(String(decoding: letters, as: UTF8.self)))
    }
  }

  @Test func `values without a checksum, as of an older library, are sound`() throws {
    let sums = try entries().filter { $0.value.count == Pieces.sumByteCount }
    #expect(sums.count == 5)
    try store.environment.write { transaction throws(StorageError) in
      for (key, _) in sums {
        _ = try withBytes(of: key) { key throws(StorageError) in try transaction.delete(key) }
      }
    }
    #expect(try problems() == [])
    let reader = try SnapshotReader(store.newestSnapshot())
    let key = try #require(try reader.allKeys(in: Self.crates).first)
    #expect(
      try reader.value(of: ColumnID(0), at: key, in: Self.crates) == .string(Self.text("e")))
  }
}
