import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Files that an earlier build wrote, and what is in them: no change of the library may read them
/// otherwise, or write something else where nobody meant to change the format.
///
/// `Resources/golden-1.realm` is a store with the content of `GoldenStore`, `golden-1.txt` what it
/// holds, as text. When the format changes on purpose, keep both as they are, so that the first two
/// tests go on to show that old files are read; write new ones beside them:
///
///     TARN_WRITE_GOLDEN=2 swift test --disable-xctest --filter GoldenFileTests
///
/// and raise `newest`. If new code merely writes other bytes of the same format, which old versions
/// of the library read, that is done in the same way.
@Suite struct GoldenFileTests {
  /// The files that there are are 1 to this one.
  private static let newest = 2

  private let folder = TemporaryFolder()

  private func resource(_ number: Int, _ ending: String) throws -> [UInt8] {
    let url = try #require(
      Bundle.module.url(
        forResource: "golden-\(number)", withExtension: ending, subdirectory: "Resources"))
    return try [UInt8](Data(contentsOf: url))
  }

  /// A copy of the file, opened as tools open files.
  private func golden(_ number: Int) throws -> Store {
    var options = Store.Options()
    options.isReadOnly = true
    options.adoptsClasses = false
    let path = try folder.file("golden-\(number).realm", resource(number, "realm"))
    return try StoreRegistry.open(path, options)
  }

  private func writtenNow() throws -> (TemporaryStore, Store) {
    let file = TemporaryStore()
    let store = try file.open(GoldenStore.classes)
    try GoldenStore.write(to: store)
    return (file, store)
  }

  @Test(arguments: 1...newest) func readsWhatAnEarlierBuildWrote(number: Int) throws {
    let store = try golden(number)
    let expected = String(decoding: try resource(number, "txt"), as: UTF8.self)
    let found = try StoreText.values(in: store)
    expectSame(found.split(separator: "\n"), expected.split(separator: "\n"))
  }

  @Test(arguments: 1...newest) func findsNothingWrongInIt(number: Int) throws {
    let store = try golden(number)
    let snapshot = try store.newestSnapshot()
    let reader = try SnapshotReader(snapshot)
    let check = SequenceCheck(reader)
    #expect(check.problems == [])
    #expect(TreeCheck(reader).problems == [])
    #expect(check.elements > 2000)
    #expect(try Environment.verifyPages(path: store.path).problems.isEmpty)
    // The records of all commits are there, and can be merged.
    let changes = try ChangeLog.changes(
      after: .zero, upTo: snapshot.version, in: snapshot.transaction)
    #expect(changes.classes.count == GoldenStore.classes.count)
  }

  /// If this fails, the format has changed: see above.
  @Test func writesTheSameBytes() throws {
    let (file, store) = try writtenNow()
    let then = try StoreText.entries(in: golden(Self.newest))
    let now = try StoreText.entries(in: store)
    let keys = Set(then.keys).union(now.keys).sorted()
    let different = keys.filter { then[$0] != now[$0] }
    #expect(
      different.isEmpty,
      """
      The same content is written with other bytes than before, at \(different.count) of \
      \(keys.count) keys:
      \(different.prefix(5).map { difference($0, then[$0], now[$0]) }.joined(separator: "\n"))
      If that is meant, see the comment of GoldenFileTests.
      """)
    withExtendedLifetime(file) {}
  }

  /// Not a test: writes new golden files where the sources are.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["TARN_WRITE_GOLDEN"] != nil))
  func writeGoldenFiles() throws {
    let number = try #require(ProcessInfo.processInfo.environment["TARN_WRITE_GOLDEN"])
    var (file, store): (TemporaryStore, Store?) = try writtenNow()
    let text = try StoreText.values(in: #require(store))
    store = nil
    let resources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Resources")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file.path))
    try bytes.write(to: resources.appendingPathComponent("golden-\(number).realm"))
    try Data(text.utf8).write(to: resources.appendingPathComponent("golden-\(number).txt"))
    withExtendedLifetime(file) {}
  }

  private func difference(_ key: String, _ then: String?, _ now: String?) -> String {
    guard let then else { return "\(key): is new" }
    guard let now else { return "\(key): is missing" }
    let same = zip(then, now).prefix { $0 == $1 }.count / 2 * 2
    func part(_ text: String) -> String { String(text.dropFirst(same).prefix(32)) }
    return "\(key): was \(then.count / 2) bytes and is \(now.count / 2); from byte \(same / 2) on "
      + "\(part(then)) and \(part(now))"
  }

  private func expectSame(_ found: [Substring], _ expected: [Substring]) {
    let different = zip(found, expected).filter { $0 != $1 }.map { "\($0)\n  instead of\n\($1)" }
    #expect(found.count == expected.count)
    #expect(different.isEmpty, "\(different.prefix(5).joined(separator: "\n"))")
  }
}

/// What a store holds, as text.
enum StoreText {
  /// Every key of the tree with its value in hexadecimal. What no two files have in common (random
  /// ids, numbers of LMDB's transactions, checksums over these) reads as zeros, and the notes of
  /// commits, with their times and bytes, are left out.
  static func entries(in store: Store) throws -> [String: String] {
    let snapshot = try store.newestSnapshot()
    var cursor = try Cursor(snapshot.transaction)
    var entries: [String: String] = [:]
    var isAtEntry = try cursor.first()
    while isAtEntry {
      let key = Array(cursor.key)
      var value = try withoutNote(Array(cursor.value), key)
      for range in masked(key) {
        for index in range where index < value.count { value[index] = 0 }
      }
      let tag = TreeKey.Tag(rawValue: key[0])
      entries["\(tag.map { "\($0)" } ?? "unknown") \(hex(key))"] = hex(value)
      isAtEntry = try cursor.next()
    }
    withExtendedLifetime(snapshot) {}
    return entries
  }

  private static func withoutNote(_ value: [UInt8], _ key: [UInt8]) throws -> [UInt8] {
    let parsed = key.withUnsafeBytes { TreeKey.parseChange($0) }
    guard let parsed, parsed.classID == nil, parsed.chunk == 0 else { return value }
    let header = try value.withUnsafeBytes {
      try ChangeRecord.decodeHeader($0, version: parsed.version)
    }
    guard let note = header.meta.note else { return value }
    var writer = RecordWriter(capacity: 128)
    _ = note.write(into: &writer)
    let place = try #require(value.firstRange(of: writer.bytes))
    return Array(value[..<place.lowerBound] + value[place.upperBound...])
  }

  private static func masked(_ key: [UInt8]) -> [Range<Int>] {
    switch TreeKey.Tag(rawValue: key[0]) {
    // Commit id, history id; durability; checksum.
    case .head: [16..<40, 76..<84]
    // Of the first piece: checksum; history id, commit id, transaction.
    case .change where key[9...].allSatisfy({ $0 == 0 }): [0..<4, 24..<56]
    default: []
    }
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  // MARK: - Values

  /// Every property of every object, a line each; elements of collections in lines below.
  static func values(in store: Store) throws -> String {
    let reader = try SnapshotReader(store.newestSnapshot())
    var lines: [String] = []
    for described in reader.schema.schema.classes {
      var keys: [ObjectKey] = []
      try reader.forEachCluster(in: described.id) { found throws(StorageError) in
        for slot in 0..<found.image.rowCount { keys.append(found.image.key(at: slot)) }
        return true
      }
      for key in keys {
        lines.append("\(described.name) \(key.rawValue)")
        for column in described.columns where !column.isRemoved {
          let place = SequencePlace(classID: described.id, key: key, column: column.id)
          if column.collection != .none {
            lines.append("  \(column.name):")
            try add(place, to: &lines, reader, "    ")
          } else if let value = try reader.value(of: column.id, at: key, in: described.id) {
            try add(value, "  \(column.name): ", place, to: &lines, reader)
          }
        }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func add(
    _ place: SequencePlace, to lines: inout [String], _ reader: SnapshotReader, _ indent: String
  ) throws {
    let sequence = try #require(try reader.sequence(at: place))
    for index in 0..<sequence.count {
      let key = sequence.shape.isMap ? try sequence.key(at: index) + ": " : ""
      try add(sequence.value(at: index), indent + key, place, to: &lines, reader)
    }
  }

  private static func add(
    _ value: Value, _ start: String, _ place: SequencePlace, to lines: inout [String],
    _ reader: SnapshotReader
  ) throws {
    lines.append(start + text(value))
    switch value {
    case .list(let id), .map(let id):
      let indent = String(repeating: " ", count: start.prefix { $0 == " " }.count + 2)
      try add(place.nested(id), to: &lines, reader, indent)
    default: break
    }
  }

  private static func sum(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .null: "null"
    case .int(let number): "int \(number)"
    case .bool(let value): "bool \(value)"
    case .float(let value): "float \(value.bitPattern)"
    case .double(let value): "double \(value.bitPattern)"
    case .string(let text): "string \(text)"
    case .data(let bytes): "data \(bytes.count) \(hex(Array(bytes.prefix(32)))) \(sum(bytes))"
    case .date(let date): "date \(date.seconds) \(date.nanoseconds)"
    case .objectID(let id): "object id \(id.high) \(id.low)"
    case .uuid(let id): "UUID \(id.high) \(id.low)"
    case .decimal(let bits): "decimal \(bits.high) \(bits.low)"
    case .link(let key): "link \(key.rawValue)"
    case .object(let id, let key): "object \(id.rawValue) \(key.rawValue)"
    case .list(let id): "list \(id.rawValue)"
    case .map(let id): "map \(id.rawValue)"
    }
  }
}
