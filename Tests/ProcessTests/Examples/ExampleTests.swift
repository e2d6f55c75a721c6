import Foundation
import Tarn
import Testing
import ToolSupport

/// The examples of the article on cursors, run.
extension ProcessTests {
  @Suite struct ExampleTests {
    private let folder: String

    init() throws {
      folder = NSTemporaryDirectory() + "/tarn-example-\(UUID().uuidString)"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
    }

    private func clean() { try? FileManager.default.removeItem(atPath: folder) }

    private func open(_ types: ObjectBase.Type...) throws -> Realm {
      try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: folder + "/example.realm"), objectTypes: types,
          durability: .relaxed))
    }

    @Test func `the full-text index finds what the file has`() throws {
      defer { clean() }
      let realm = try open(Memo.self)
      try realm.write {
        for (id, text) in [(1, "buy milk"), (2, "call Ann"), (3, "milk the cow")] {
          realm.create(Memo.self, value: ["id": id, "text": text])
        }
      }
      let path = folder + "/index.sqlite"
      try FullTextIndex(path: path).update(from: realm)
      #expect(try FullTextIndex(path: path).search("milk") == [1, 3])
      try realm.write {
        try #require(realm.object(ofType: Memo.self, forPrimaryKey: 1)).text = "buy bread"
        realm.delete(try #require(realm.object(ofType: Memo.self, forPrimaryKey: 3)))
        realm.create(Memo.self, value: ["id": 4, "text": "milk tooth"])
      }
      let index = try FullTextIndex(path: path)
      #expect(try index.search("milk") == [1, 3])
      try index.update(from: realm)
      #expect(try index.search("milk") == [4])
      #expect(try index.search("bread") == [1])
      // The file of the index is put back to an earlier state: its position says so.
      try FileManager.default.removeItem(atPath: path)
      let restored = try FullTextIndex(path: path)
      try realm.write { realm.create(Memo.self, value: ["id": 5, "text": "skimmed milk"]) }
      try restored.update(from: realm)
      #expect(try restored.search("skimmed") == [5])
    }

    /// The newest version that changed things: only of these there is a batch.
    private func newestVersion() throws -> UInt64 {
      let things: Set = ["FeedThing", "FeedPlaceOfThing"]
      return try open().versions.last { !things.isDisjoint(with: $0.classNames) }?.version ?? 0
    }

    private struct Refused: Error {}

    @Test func `the outbox sends each letter, and its receiver keeps one of each`() throws {
      defer { clean() }
      let realm = try open(Purchase.self)
      var (received, seen, failures) = ([Outbox.Letter](), Set<UUID>(), 0)
      let outbox = Outbox { letter in
        if (received.count + failures) % 3 == 2 {
          failures += 1
          throw Refused()
        }
        if seen.insert(letter.id).inserted { received.append(letter) }
      }
      try outbox.deliver(from: realm)
      for number in 0..<10 {
        try realm.write {
          realm.create(Purchase.self, value: ["customer": "customer \(number)"])
        }
        try? outbox.deliver(from: realm)
      }
      while (try? outbox.deliver(from: realm)) == nil {}
      #expect(received.map(\.text) == (0..<10).map { "Thank you, customer \($0)" })
      #expect(failures > 0)
    }

    @Test func `the cache follows what another process writes`() async throws {
      defer { clean() }
      let path = folder + "/example.realm"
      let first = try StressTool.worker("feed-commit", path, "3", "1").finish()
      #expect(first.end == .exited(0))
      let realm = try open()
      let cursor = try realm.cursor(
        "cache", of: .objects(ofClass: "FeedThing"), startingAt: .snapshot)
      let cache = ObjectCache()
      let following = Task { try await cache.follow(cursor, ofClass: "FeedThing") }
      let second = try StressTool.worker("feed-commit", path, "20", "2").finish()
      #expect(second.end == .exited(0))
      let newest = try newestVersion()
      while await cache.version < newest { await Task.yield() }
      cursor.close()
      try await following.value
      // The thread may be another one by now.
      let other = try open().cursor("other", startingAt: .snapshot)
      let batch = try #require(try other.next())
      let changes = batch.changes(ofClass: "FeedThing")
      var expected: [ObjectIdentity: [String: RecordedValue]] = [:]
      for object in batch.objects(ofClass: "FeedThing") {
        let identity = changes.identity(of: object)
        expected[identity] = changes.values(of: identity)
      }
      #expect(await cache.objects == expected)
    }

    /// What the article shows is what runs here.
    @Test func `the article has these examples`() throws {
      let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      let root = here.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let article = try String(
        contentsOf: root.appendingPathComponent(
          "Sources/Tarn/Documentation.docc/CursorExamples.md"), encoding: .utf8)
      let shown = article.components(separatedBy: "```Swift\n").dropFirst().map {
        String($0.prefix(upTo: $0.range(of: "```\n")?.lowerBound ?? $0.endIndex))
      }
      let files = try ["FullTextIndex", "Outbox", "ObjectCache"].map {
        try String(contentsOf: here.appendingPathComponent($0 + ".swift"), encoding: .utf8)
      }
      #expect(shown == files)
    }
  }
}
