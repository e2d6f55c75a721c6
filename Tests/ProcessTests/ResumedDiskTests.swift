import Foundation
import Tarn
import TarnStore
import Testing
import ToolSupport

extension ProcessTests {
  /// A disk that fails for a while. The worker's own `pwrite`, `writev` and `fdatasync` stand for
  /// it.
  @Suite struct ResumedDiskTests {
    private func run(_ step: Int, _ level: String, isDurable: Bool = true) throws -> (
      file: StressFile, lines: [String]
    ) {
      let file = try StressFile(isDurable: isDurable)
      let worker = try StressTool.worker("resume-disk", file.path, "\(step)", "1", level)
      let (lines, end) = worker.finish()
      #expect(end == .exited(0), "\(lines)")
      return (file, lines)
    }

    @Test(arguments: ["full", "consistent"], [1, 2, 3])
    func `a program writes again when the disk works again`(_ level: String, _ step: Int) throws {
      let (file, lines) = try run(step, level)
      let failure = step == 3 ? "outcomeUnknown" : "fileOperationFailed"
      #expect(
        lines == [
          "before fine", "failed \(failure)", "refused fail", "still fileOperationFailed",
          "resumed fine", "after fine", "flushed fine", "shown [1, 4] frozen [1]", "told [1, 2]",
        ])
      try check(file, commits: 2)
    }

    @Test(arguments: ["full", "consistent"])
    func `a flush that fails closes the file, and it is written again`(_ level: String) throws {
      let (file, lines) = try run(0, level)
      #expect(
        lines == [
          "before fine", "failed fileOperationFailed", "refused fail", "still fileOperationFailed",
          "resumed fine", "after fine", "flushed fine", "shown [1, 4] frozen [1]", "told [1, 2]",
        ])
      try check(file, commits: 2)
    }

    /// Any page of it may be missing, also after the program has ended in order.
    @Test func `a relaxed file is not written again`() throws {
      let (file, lines) = try run(0, "relaxed", isDurable: false)
      #expect(
        lines == [
          "before fine", "failed fileOperationFailed", "refused fail", "still fail",
          "resumed fail", "after fail", "flushed fail", "shown [1] frozen [1]", "told [1]",
        ])
      #expect(throws: Realm.Error.mayBeDamaged) { try file.open() }
    }

    /// Otherwise a power failure could take what a consumer has.
    @Test(arguments: ["full", "consistent", "relaxed"])
    func `a cursor syncs what is not on the disk before it delivers it`(_ level: String) throws {
      let file = try StressFile(isDurable: level != "relaxed")
      let worker = try StressTool.worker("deliver", file.path, "0", "1", level)
      let (lines, end) = worker.finish()
      #expect(end == .exited(0), "\(lines)")
      let first = level == "consistent" ? "fileOperationFailed" : "fine"
      #expect(lines == ["wrote fine", "delivered \(first)", "resumed fine", "again fine"])
    }

    private func check(_ file: StressFile, commits: Int) throws {
      let realm = try file.open()
      #expect(realm.commits == commits)
      #expect(realm.problem == nil)
      try realm.commitOne()
      #expect(try Environment.verifyPages(path: file.path).problems == [])
    }
  }
}
