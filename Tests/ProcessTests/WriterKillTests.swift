import Foundation
import Tarn
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  @Suite struct WriterKillTests {
    /// The fault points that a worker meets, in their order.
    private func points(_ kind: String, _ path: String, in folder: String) throws -> [String] {
      let list = folder + "/points"
      let end = try StressTool.worker(kind, path, environment: ["TARN_FAULT_COUNT": list]).finish()
      #expect(end.end == .exited(0))
      let text = try String(contentsOfFile: list, encoding: .utf8)
      return text.split(separator: "\n").compactMap { line in
        line.split(separator: " ").last.map(String.init)
      }
    }

    @Test func `a writer killed at any point leaves the version before or after`() throws {
      let file = try StressFile()
      let observer = try StressTool.worker("observe", file.path)
      let realm = try file.open()
      // The first commit that is not synced marks the file, so it passes more points.
      try realm.commitOne()
      let names = try points("commit-once", file.path, in: file.folder)
      let mustHave = [
        "gate.held", "commit.begun", "commit.rows", "commit.record", "commit.head",
        "storage.beforeCommit", "storage.headerWritten", "storage.afterCommit", "commit.done",
        "commit.shown", "commit.counted", "commit.released", "commit.woken",
      ]
      #expect(names.filter(mustHave.contains) == mustHave)
      let lastBefore = try #require(names.firstIndex(of: "storage.beforeCommit"))
      for (index, name) in names.enumerated() {
        realm.refresh()
        let before = realm.commits
        let writer = try StressTool.worker(
          "commit-once", file.path, environment: ["TARN_FAULT": "\(index + 1)"])
        #expect(writer.finish().end == .killed(SIGKILL), "\(name)")
        let expected = index <= lastBefore ? before : before + 1
        if expected > before {
          #expect(observer.reached(expected), "an observer after \(name)")
        }
        realm.refresh()
        #expect(realm.commits == expected, "\(name)")
        #expect(realm.problem == nil, "\(name)")
        try realm.commitOne()
        #expect(observer.reached(expected + 1), "an observer of the next writer after \(name)")
      }
      #expect(try Environment.verifyPages(path: file.path).problems == [])
    }

    @Test func `a file whose only process was killed at any point opens again`() throws {
      let file = try StressFile()
      let names = try points("commit-once", file.path, in: file.folder)
      for (index, name) in names.enumerated() {
        let writer = try StressTool.worker(
          "commit-once", file.path, environment: ["TARN_FAULT": "\(index + 1)"])
        #expect(writer.finish().end == .killed(SIGKILL), "\(name)")
        let checked = try StressTool.worker("check", file.path).finish()
        #expect(checked.lines == ["sound"], "\(name)")
      }
    }

    @Test func `a process killed while it makes the file leaves one that opens`() throws {
      let file = try StressFile(isFilled: false)
      let names = try points("fill", file.folder + "/counted.realm", in: file.folder)
      #expect(names.contains("signal.initialised"))
      for (index, name) in names.enumerated() {
        let path = file.folder + "/\(index).realm"
        let made = try StressTool.worker(
          "fill", path, environment: ["TARN_FAULT": "\(index + 1)"])
        #expect(made.finish().end == .killed(SIGKILL), "\(name)")
        let opened = try StressTool.worker("open", path).finish()
        let isFilled = index >= names.count - 1 || opened.lines == ["opened 120"]
        #expect(opened.lines == [isFilled ? "opened 120" : "opened 0"], "\(name)")
      }
    }

    @Test func `a killed holder of the gate lets the next writer in`() throws {
      let file = try StressFile()
      let realm = try file.open()
      _ = realm.commits
      let holder = try StressTool.worker("hold-gate", file.path)
      #expect(holder.line { $0 == "held" } != nil)
      let waiter = try StressTool.worker("commit-once", file.path)
      #expect(waiter.line { $0 == "ready" } != nil)
      holder.signal(SIGKILL)
      #expect(waiter.line { $0 == "ack 1" } != nil)
      realm.refresh()
      #expect(realm.problem == nil)
    }
  }
}
