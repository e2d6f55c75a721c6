import Foundation
import Tarn
import TarnStore
import Testing
import ToolSupport

extension ProcessTests {
  /// Copies during which each call that writes to the disk fails once.
  @Suite struct FailingCopyTests {
    private let file: StressFile

    init() throws { file = try StressFile() }

    /// The outcome of each failing call, the one without a failure last.
    private func run(_ kind: String, _ number: Int32) throws -> [(error: String, names: String)] {
      let worker = try StressTool.worker("fail-copy", file.path, "\(number)", "1", kind)
      let (lines, end) = worker.finish()
      #expect(end == .exited(0), "\(lines)")
      let outcomes = lines.map { line in
        let parts = line.split(separator: " ", maxSplits: 2)
        return (error: String(parts[1]), names: String(parts[2]))
      }
      #expect(outcomes.count > 5)
      #expect(outcomes.last?.error == "fine")
      return outcomes
    }

    private func expectSound(_ path: String) throws {
      #expect(try Environment.verifyPages(path: path).problems == [])
      let realm = try Realm(
        configuration: StressFile.configuration(path), scheduler: ManualScheduler())
      #expect(realm.problem == nil)
    }

    @Test(arguments: [(EIO, StorageError.Code.inputOutput), (ENOSPC, .diskFull)])
    func `a copy that fails leaves nothing, and the original is whole`(
      _ number: Int32, _ code: StorageError.Code
    ) throws {
      let before = file.bytes
      let outcomes = try run("copy", number)
      for outcome in outcomes.dropLast() {
        #expect(outcome.error == "\(code.rawValue)", "\(outcomes)")
        #expect(outcome.names == "x.realm", "\(outcomes)")
      }
      #expect(outcomes.last?.names == "copy.realm x.realm")
      #expect(file.bytes == before)
      try expectSound(file.folder + "/copy.realm")
    }

    @Test(arguments: ["replace", "compact"])
    func `a file is replaced wholly or not at all`(_ kind: String) throws {
      let outcomes = try run(kind, EIO)
      let names = kind == "replace" ? "copy.realm x.realm" : "x.realm"
      for outcome in outcomes.dropLast() {
        // A call to wake others may fail without harm.
        let failed = "\(StorageError.Code.inputOutput.rawValue)"
        let codes = kind == "compact" ? [failed, "fine"] : [failed]
        #expect(codes.contains(outcome.error), "\(outcomes)")
        #expect(outcome.names == names, "\(outcomes)")
      }
      try expectSound(file.path)
      if kind == "replace" { try expectSound(file.folder + "/copy.realm") }
    }
  }
}
