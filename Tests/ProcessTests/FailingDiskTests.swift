import Foundation
import Tarn
import TarnStore
import Testing
import ToolSupport

extension ProcessTests {
  /// A disk that fails once, at one of LMDB's steps, under every kind of write. The worker's own
  /// `pwrite`, `writev` and `fdatasync` stand for the disk.
  @Suite struct FailingDiskTests {
    private static let kinds = [
      "write", "asyncWrite", "writeAsync", "commitAsyncWrite", "grouped",
    ]

    private func run(_ kind: String, _ step: Int) throws -> (file: StressFile, lines: [String]) {
      var attempt = 0
      while true {
        attempt += 1
        let file = try StressFile(isDurable: true)
        let worker = try StressTool.worker("fail-disk", file.path, "\(step)", "1", kind)
        let (lines, end) = worker.finish()
        #expect(end == .exited(0), "\(lines)")
        // Writes are grouped for some milliseconds, so a busy machine may make two groups of them.
        let outcomes = Set(lines.first?.split(separator: " ").dropFirst() ?? [])
        if outcomes.count == 1 || attempt == 20 { return (file, lines) }
      }
    }

    private func times(_ kind: String) -> Int { kind == "grouped" ? 5 : 1 }

    private func outcome(_ kind: String, _ name: String) -> String {
      Array(repeating: name, count: times(kind)).joined(separator: " ")
    }

    @Test(arguments: kinds)
    func `without a fault all is fine`(_ kind: String) throws {
      let (_, lines) = try run(kind, 0)
      #expect(lines.first == "first " + outcome(kind, "fine"))
      #expect(lines.contains("shown \(2 * times(kind)) busy false"), "\(lines)")
    }

    @Test(arguments: kinds)
    func `a full disk is told of, and the next write works`(_ kind: String) throws {
      let (file, lines) = try run(kind, 1)
      let second = times(kind)
      #expect(
        lines == [
          "first " + outcome(kind, "outOfDiskSpace"), "shown 0 in write false", "told []",
          "second " + outcome(kind, "fine"), "shown \(second) busy false", "gate fine",
        ])
      let realm = try file.open()
      #expect(realm.problem == nil)
      #expect(realm.commits == second)
      #expect(realm.objects(StressWriter.self).map(\.id).min() == 101)
    }

    @Test(arguments: kinds)
    func `a sync that fails is told of, and closes the file for writing`(_ kind: String) throws {
      let (file, lines) = try run(kind, 2)
      #expect(
        lines == [
          "first " + outcome(kind, "fileOperationFailed"), "shown 0 in write false", "told []",
          "second " + outcome(kind, "fail"), "shown 0 busy false", "gate fail",
        ])
      try checkWritable(file, commits: [0])
    }

    @Test(arguments: kinds)
    func `a header that fails leaves it open what is in the file`(_ kind: String) throws {
      let (file, lines) = try run(kind, 3)
      #expect(
        lines == [
          "first " + outcome(kind, "outcomeUnknown"), "shown 0 in write false", "told []",
          "second " + outcome(kind, "fail"), "shown 0 busy false", "gate fail",
        ])
      try checkWritable(file, commits: [0, times(kind)])
    }

    /// Another process goes on, from what the file shows.
    private func checkWritable(_ file: StressFile, commits: [Int]) throws {
      let realm = try file.open()
      #expect(commits.contains(realm.commits))
      #expect(realm.problem == nil)
      try realm.commitOne()
      #expect(try Environment.verifyPages(path: file.path).problems == [])
    }
  }
}
