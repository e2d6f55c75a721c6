import Foundation
import Tarn
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  /// Consumers and writers of a file with cursors that are killed or stopped.
  @Suite struct FeedKillTests {
    private let folder: String
    private var path: String { folder + "/feed.realm" }

    init() throws {
      folder = NSTemporaryDirectory() + "/tarn-feed-test-\(UUID().uuidString)"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
    }

    private func clean() { try? FileManager.default.removeItem(atPath: folder) }

    private func worker(
      _ kind: String, _ number: Int, _ seed: Int = 1, fault: Int? = nil, counting: String? = nil
    ) throws -> (lines: [String], end: ChildProcess.End) {
      var environment: [String: String] = [:]
      if let fault { environment["TARN_FAULT"] = "\(fault)" }
      if let counting { environment["TARN_FAULT_COUNT"] = counting }
      return try StressTool.worker(kind, path, "\(number)", "\(seed)", environment: environment)
        .finish()
    }

    /// The fault points that a worker meets, in their order.
    private func points(_ kind: String, _ number: Int, _ seed: Int) throws -> [String] {
      let list = folder + "/points"
      try? FileManager.default.removeItem(atPath: list)
      #expect(try worker(kind, number, seed, counting: list).end == .exited(0))
      let text = try String(contentsOfFile: list, encoding: .utf8)
      return text.split(separator: "\n").compactMap { line in
        line.split(separator: " ").last.map(String.init)
      }
    }

    /// The number of the first time that a point is met.
    private func firsts(_ names: [String]) -> [(name: String, index: Int)] {
      Set(names).sorted().compactMap { name in
        names.firstIndex(of: name).map { (name, $0 + 1) }
      }
    }

    @Test(arguments: [0, 4])
    func `a consumer killed at any point goes on where it was`(_ kind: Int) throws {
      defer { clean() }
      #expect(try worker("feed-commit", 5).end == .exited(0))
      let names = try points("feed-consume", kind, 1)
      let mustHave: Set = ["feed.begun", "feed.put", "feed.done", "cursor.locked"]
      #expect(mustHave.isSubset(of: names))
      for point in firsts(names) {
        #expect(try worker("feed-commit", 3, point.index).end == .exited(0))
        let killed = try worker("feed-consume", kind, fault: point.index)
        // Not every run meets as many points.
        #expect(killed.end == .killed(SIGKILL) || killed.end == .exited(0), "\(point.name)")
        let next = try worker("feed-consume", kind)
        #expect(next.lines == ["open", "done"], "after \(point.name)")
      }
      #expect(try Environment.verifyPages(path: path).problems == [])
    }

    @Test func `a writer killed at any point leaves cursors and records whole`() throws {
      defer { clean() }
      #expect(try worker("feed-commit", 5).end == .exited(0))
      #expect(try worker("feed-consume", 2).end == .exited(0))
      let names = try points("feed-commit", 2, 1)
      #expect(names.contains("commit.record"))
      for point in firsts(names) {
        let killed = try worker("feed-commit", 2, point.index, fault: point.index)
        #expect(killed.end == .killed(SIGKILL) || killed.end == .exited(0), "\(point.name)")
        let next = try worker("feed-consume", 2)
        #expect(next.lines == ["open", "done"], "after \(point.name)")
      }
      #expect(try Environment.verifyPages(path: path).problems == [])
    }

    @Test func `random kills lose nothing`() throws {
      let run = try StressTool.start(["feed", "--count", "12", "--kills", "--seed", "7"]).finish()
      #expect(run.end == .exited(0), "\(run.lines)")
    }

    @Test func `the run in one process finds what was broken on purpose`() throws {
      let sound = try StressTool.start(["feed", "--count", "40", "--churn", "2000"]).finish()
      #expect(sound.end == .exited(0), "\(sound.lines)")
      let broken = try StressTool.start(["feed", "--sabotage", "--count", "40"]).finish()
      #expect(broken.end == .exited(1))
      #expect(broken.lines.contains { $0.contains("differs") })
    }

    @Test func `a stopped owner stays the owner until the cursor is taken`() throws {
      defer { clean() }
      #expect(try worker("feed-commit", 5).end == .exited(0))
      let owner = try StressTool.worker("feed-hold", path)
      #expect(owner.line { $0.hasPrefix("holds ") } != nil)
      owner.stop()
      let realm = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), objectTypes: []))
      let error = #expect(throws: Realm.Error.self) { try realm.cursor("held") }
      #expect(error?.code == .busy)
      #expect(error?.message.contains("process \(owner.processID)") == true)
      let cursor = try realm.cursor("held", taking: true)
      owner.signal(SIGCONT)
      owner.signal(SIGUSR1)
      #expect(owner.line { $0.hasPrefix("refused ") }?.contains("was taken") == true)
      #expect(try cursor.next()?.fullResync == .snapshot)
    }

    @Test func `a dead owner is replaced at once`() throws {
      defer { clean() }
      #expect(try worker("feed-commit", 5).end == .exited(0))
      let owner = try StressTool.worker("feed-hold", path)
      #expect(owner.line { $0.hasPrefix("holds ") } != nil)
      owner.signal(SIGKILL)
      #expect(owner.wait() == .killed(SIGKILL))
      let realm = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), objectTypes: []))
      let batch = try realm.cursor("held").next()
      #expect(batch?.fullResync == .snapshot)
    }
  }
}
