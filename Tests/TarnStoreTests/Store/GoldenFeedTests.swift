import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// A file with cursors, a retention and old values that an earlier build wrote, kept as those of
/// `GoldenFileTests` are:
///
///     TARN_WRITE_GOLDEN=feed swift test --disable-xctest --filter GoldenFeedTests
@Suite struct GoldenFeedTests {
  private static let dogs = ClassID(0)
  private static let name = "golden-feed-1"

  /// Never change what is here: another content needs another file beside the old one.
  private static let classes = [
    ClassDefinition(
      name: "Dog",
      properties: [
        .init(name: "name", type: .string, isPrimaryKey: true),
        .init(name: "age", type: .int),
        .init(name: "note", type: .string, isOptional: true),
        .init(name: "tags", type: .string, collection: .list),
        .init(name: "friend", type: .link, isOptional: true, target: "Dog"),
      ])
  ]

  private static func write(to store: Store) throws {
    try store.setRetention(
      RetentionPolicy(
        [RetentionLimits(age: 3_600_000_000, bytes: 1 << 20), RetentionLimits(versions: 100)],
        keepsOldValues: true))
    try store.write { session in
      session.origin = "golden"
      for number in Int64(1)...3 {
        try session.create(
          [ColumnID(0): .string("dog \(number)"), ColumnID(1): .int(number)], in: dogs)
      }
    }
    let cursor = try store.openCursor(CursorRequest("all"))
    try store.openCursor(
      CursorRequest(
        "some",
        selection: [
          FeedSelectionName(className: "Dog", condition: "age > 1", keyPaths: ["age", "note"])
        ], level: .oldValues, limits: CursorLimits(age: 5, bytes: nil),
        kept: CursorLimits(age: 7, bytes: 9), start: .snapshot)
    ).release()
    let keys = try (1...3).map { number in
      try #require(
        try SnapshotReader(store.newestSnapshot())
          .keys(in: dogs, where: ColumnID(0), is: .string("dog \(number)")).first)
    }
    try store.write { session in
      session.origin = "golden"
      cursor.own(session)
      try session.set(ColumnID(1), at: keys[0], in: dogs, to: .int(10))
      try session.set(
        ColumnID(2), at: keys[0], in: dogs, to: .string(String(repeating: "long ", count: 100)))
      try session.set(ColumnID(4), at: keys[1], in: dogs, to: .link(keys[2]))
      let place = SequencePlace(classID: dogs, key: keys[1], column: ColumnID(3))
      try session.insert(.string("a tag"), at: 0, in: place)
    }
    try store.write { session in
      session.origin = "golden"
      try session.set(ColumnID(2), at: keys[0], in: dogs, to: .null)
      try session.delete(keys[1], in: dogs)
    }
    cursor.release()
  }

  /// The cursors, the retention, and what the objects were at each retained version.
  private static func text(of store: Store) throws -> String {
    let snapshot = try store.newestSnapshot()
    let table = try store.feedTable(in: snapshot)
    var lines = ["settings \(table.settings)"]
    for (number, record) in table.cursors.sorted(by: { $0.key < $1.key }) {
      lines.append("cursor \(number) \(record)")
    }
    for record in try store.retainedVersions() {
      lines.append("version \(record.version.rawValue) \(String(describing: record.note))")
      let reader = try SnapshotReader(snapshot)
      let past = try PastRows(at: record.version, from: reader)
      for key in try past.keys(of: dogs) {
        for column in reader.schema[dogs].columns {
          let place = SequencePlace(classID: dogs, key: key, column: column.id)
          let value =
            column.collection == .none
            ? "\(String(describing: try past.copy(of: place)))"
            : "\(try past.copies(of: place))"
          lines.append("  \(key.rawValue) \(column.name) \(value)")
        }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private let folder = TemporaryFolder()

  private func resource(_ ending: String) throws -> [UInt8] {
    let url = try #require(
      Bundle.module.url(
        forResource: Self.name, withExtension: ending, subdirectory: "Resources"))
    return try [UInt8](Data(contentsOf: url))
  }

  private func golden() throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    return try StoreRegistry.open(folder.file("golden.realm", resource("realm")), options)
  }

  @Test func readsWhatAnEarlierBuildWrote() throws {
    let store = try golden()
    #expect(try Self.text(of: store) == String(decoding: resource("txt"), as: UTF8.self))
    #expect(try Environment.verifyPages(path: store.path).problems.isEmpty)
  }

  @Test func itsCursorsGoOn() throws {
    let store = try golden()
    let cursor = try store.openCursor(CursorRequest("all"))
    defer { cursor.release() }
    let snapshot = try store.newestSnapshot()
    let state = try cursor.state(in: snapshot)
    #expect(state.reason == nil)
    var range = FeedRange(after: state.acknowledged.version, commitID: 0)
    try range.extend(
      upTo: snapshot.version, without: cursor.number, tellsAllDeaths: false, in: snapshot)
    // The first of the two commits since then is its own.
    #expect(range.commits == 2)
    #expect(range.changes[Self.dogs]?.deleted.count == 1)
    #expect(range.changes[Self.dogs]?.touched.map(\.column) == [ColumnID(2)])
  }

  /// A library that does not know cursors would remove records that they need.
  @Test func itHasAFeatureFlag() throws {
    let head = try golden().newestSnapshot().head
    #expect(head.featureFlags == HeadRecord.feedFeature)
  }

  /// Not a test: writes the golden file where the sources are.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["TARN_WRITE_GOLDEN"] == "feed"))
  func writeGoldenFile() throws {
    let file = TemporaryStore()
    let text = try {
      let store = try file.open(Self.classes)
      try Self.write(to: store)
      return try Self.text(of: store)
    }()
    let resources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Resources")
    try Data(contentsOf: URL(fileURLWithPath: file.path))
      .write(to: resources.appendingPathComponent("\(Self.name).realm"))
    try Data(text.utf8).write(to: resources.appendingPathComponent("\(Self.name).txt"))
  }
}
