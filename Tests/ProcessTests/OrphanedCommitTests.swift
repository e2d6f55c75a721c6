import Foundation
import Tarn
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  /// The writer dies when its commit is in the file and LMDB has not yet told the table by which
  /// new readers find it: LMDB by itself hides such a commit until somebody begins a write.
  @Suite struct OrphanedCommitTests {
    /// One more commit, whose writer died there.
    private func orphan(_ file: StressFile) throws {
      let writer = try StressTool.worker(
        "commit-once", file.path, environment: ["TARN_FAULT": "storage.headerWritten"])
      let (lines, end) = writer.finish()
      #expect(lines == ["ready"])
      #expect(end == .killed(SIGKILL))
    }

    /// What an instance shows that another process opens now.
    private func shownByNewProcess(_ file: StressFile) throws -> String? {
      let observer = try StressTool.worker("observe", file.path)
      return observer.line { $0.hasPrefix("seen") }
    }

    @Test(arguments: [false, true])
    func `an orphaned commit reaches observers through the watcher`(isDurable: Bool) throws {
      let file = try StressFile(isDurable: isDurable)
      let observer = try StressTool.worker("observe", file.path)
      let first = try #require(observer.line { $0.hasPrefix("seen") })
      let before = try #require(Int(first.dropFirst(5)))
      for round in 1...10 {
        try orphan(file)
        #expect(observer.reached(before + round))
      }
      #expect(try shownByNewProcess(file) == "seen \(before + 10)")
    }

    // This process's instance has a scheduler whose turns nobody asks for, so no watcher runs that
    // could show the commit first.

    @Test func `an orphaned commit shows in an instance that is opened after it`() throws {
      let file = try StressFile()
      let realm = try file.open()
      let before = realm.commits
      for round in 1...10 {
        try orphan(file)
        #expect(try shownByNewProcess(file) == "seen \(before + round)")
        #expect(realm.commits == before)
      }
    }

    @Test func `an orphaned commit shows after a refresh`() throws {
      let file = try StressFile()
      let realm = try file.open()
      for _ in 1...10 {
        let before = realm.commits
        try orphan(file)
        #expect(realm.refresh())
        #expect(realm.commits == before + 1)
        #expect(realm.problem == nil)
      }
    }

    @Test func `an orphaned commit is what the next write is based on`() throws {
      let file = try StressFile()
      let realm = try file.open()
      for _ in 1...10 {
        let before = realm.commits
        try orphan(file)
        try realm.commitOne()
        #expect(realm.commits == before + 2)
        #expect(realm.problem == nil)
      }
      #expect(try Environment.verifyPages(path: file.path).problems == [])
    }
  }
}
