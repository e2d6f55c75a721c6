import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// A file with unique rules that an earlier build wrote, kept as those of `GoldenFileTests` are:
///
///     TARN_WRITE_GOLDEN=rules swift test --disable-xctest --filter GoldenRulesTests
@Suite struct GoldenRulesTests {
  private static let houses = ClassID(0)
  private static let name = "golden-rules-1"

  /// Never change what is here: another content needs another file beside the old one.
  private static let classes = [
    ClassDefinition(
      name: "House",
      properties: [
        .init(name: "id", type: .int, isPrimaryKey: true),
        .init(name: "city", type: .string, isOptional: true),
        .init(name: "number", type: .int),
        .init(name: "price", type: .decimal),
        .init(name: "next", type: .link, isOptional: true, target: "House"),
        .init(name: "plan", type: .data),
      ], uniqueRules: [["city", "number"], ["next", "price"], ["plan"]]),
    ClassDefinition(
      name: "Flat",
      properties: [.init(name: "house", type: .link, isOptional: true, target: "House")],
      uniqueRules: [["house"]]),
  ]

  private static func row(_ id: Int64) -> [ColumnID: Value] {
    let long = String(repeating: "long name ", count: 20)
    var row: [ColumnID: Value] = [
      ColumnID(0): .int(id), ColumnID(2): .int(id % 50),
      ColumnID(1): id % 9 == 0 ? .null : .string("\(id % 4 == 0 ? long : "city ")\(id / 50)"),
      ColumnID(3): .decimal(DecimalNumber(id * 7).cell),
      ColumnID(5): .data(Array(repeating: UInt8(id % 251), count: Int(id % 130) + Int(id / 251))),
    ]
    if id > 3 { row[ColumnID(4)] = .link(ObjectKey(id / 3)) }
    return row
  }

  /// Two commits after the one that made the classes.
  private static func write(to store: Store) throws {
    let first = try store.newestSnapshot()
    try store.write { session in
      for id in Int64(1)...600 { try session.create(row(id), in: houses) }
      for house in Int64(1)...20 {
        try session.create([ColumnID(0): .link(ObjectKey(house))], in: ClassID(1))
      }
    }
    try store.write { session in
      // Two trade positions, others go, and what they were called is taken.
      try session.set(ColumnID(2), at: ObjectKey(10), in: houses, to: .int(11))
      try session.set(ColumnID(2), at: ObjectKey(11), in: houses, to: .int(10))
      for id in Int64(100)..<120 { try session.delete(ObjectKey(id), in: houses) }
      var again = row(101)
      again[ColumnID(0)] = .int(1_000)
      try session.create(again, in: houses)
    }
    withExtendedLifetime(first) {}
  }

  private let folder = TemporaryFolder()

  private func resource(_ ending: String) throws -> [UInt8] {
    let url = try #require(
      Bundle.module.url(
        forResource: Self.name, withExtension: ending, subdirectory: "Resources"))
    return try [UInt8](Data(contentsOf: url))
  }

  /// A copy of the file, opened by a program that knows none of its classes.
  private func golden() throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    return try StoreRegistry.open(
      folder.file("golden.realm", resource("realm")), options)
  }

  private func check(_ store: Store) throws {
    let reader = try SnapshotReader(store.newestSnapshot())
    for (described, count) in zip(reader.schema.schema.classes, [1_000, 19]) {
      let check = try IndexCheck(described, reader)
      #expect(check.problems == [], "\(check.entries)")
      #expect(check.entries >= count, "\(check.entries)")
    }
  }

  @Test func readsWhatAnEarlierBuildWrote() throws {
    let store = try golden()
    #expect(try StoreText.values(in: store) == String(decoding: resource("txt"), as: UTF8.self))
    #expect(try Environment.verifyPages(path: store.path).problems.isEmpty)
    try check(store)
  }

  @Test func itsRulesAreKept() throws {
    let store = try golden()
    let error = #expect(throws: StorageError.self) {
      try store.write { try $0.set(ColumnID(2), at: ObjectKey(13), in: Self.houses, to: .int(10)) }
    }
    #expect(error?.code == .notUnique)
    try store.write { session in
      try session.delete(ObjectKey(11), in: Self.houses)
      try session.set(ColumnID(2), at: ObjectKey(13), in: Self.houses, to: .int(10))
    }
    try check(store)
  }

  /// If this fails, the format has changed: see `GoldenFileTests`.
  @Test func writesTheSameBytes() throws {
    let file = TemporaryStore()
    let store = try file.open(Self.classes)
    try Self.write(to: store)
    let (then, now) = try (StoreText.entries(in: golden()), StoreText.entries(in: store))
    let different = Set(then.keys).union(now.keys).filter { then[$0] != now[$0] }.sorted()
    #expect(different.isEmpty, "other bytes at \(different.prefix(5))")
    #expect(now.keys.contains { $0.hasPrefix("unique ") })
  }

  /// Not a test: writes the golden file where the sources are.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["TARN_WRITE_GOLDEN"] == "rules"))
  func writeGoldenFile() throws {
    let file = TemporaryStore()
    let text = try {
      let store = try file.open(Self.classes)
      try Self.write(to: store)
      return try StoreText.values(in: store)
    }()
    let resources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Resources")
    try Data(contentsOf: URL(fileURLWithPath: file.path))
      .write(to: resources.appendingPathComponent("\(Self.name).realm"))
    try Data(text.utf8).write(to: resources.appendingPathComponent("\(Self.name).txt"))
  }
}
