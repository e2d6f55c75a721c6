import Foundation
import TestSupport
import Testing

/// `tarn watch` of a file that goes away: it tells what was committed, says so, and ends with 1.
@Suite struct LostWatchTests {
  enum Loss: CaseIterable { case deleted, dataDeleted, lockDeleted, replaced }

  private static let farewell = "tarn: a.realm or its lock file was deleted, moved or replaced"

  private let folder = TemporaryFolder()

  /// - Parameter count: dogs; more than 2,000 are more than a pipe holds.
  private func fill(_ count: Int) throws {
    let lines = (0..<count).map { "{\"id\":\($0),\"name\":\"a dog with a long name\"}\n" }.joined()
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", "-k", "id", input: lines)
    try #require(done.status == 0)
  }

  private func lose(_ loss: Loss) throws {
    let path = folder.file("a.realm")
    let files = FileManager.default
    switch loss {
    case .deleted:
      for ending in ["", "-lock", "-signal"] { try files.removeItem(atPath: path + ending) }
    case .dataDeleted: try files.removeItem(atPath: path)
    case .lockDeleted: try files.removeItem(atPath: path + "-lock")
    case .replaced:
      try files.copyItem(atPath: path, toPath: path + "-new")
      try #require(rename(path + "-new", path) == 0)
    }
  }

  @Test(arguments: Loss.allCases)
  func anIdleWatchEndsWithItsFile(_ loss: Loss) throws {
    try fill(2)
    let watch = try ToolProcess(folder, ["watch", "a.realm", "Dog", "--rows", "0"])
    #expect(try watch.line() == "version 1  Dog  2 objects")
    try lose(loss)
    let done = try watch.finish()
    #expect(done.status == 1)
    #expect(done.output == "")
    #expect(done.errors.hasPrefix(Self.farewell), "\(done.errors)")
  }

  @Test func whatWasCommittedBeforeIsTold() throws {
    try fill(2)
    let watch = try ToolProcess(folder, ["watch", "a.realm", "Dog", "--rows", "0"])
    #expect(try watch.line() == "version 1  Dog  2 objects")
    watch.signal(SIGSTOP)
    let deletion = try ToolProcess.run(folder, "delete", "a.realm", "Dog", "--where", "id == 1")
    #expect(deletion.status == 0)
    try lose(.deleted)
    watch.signal(SIGCONT)
    let done = try watch.finish()
    #expect(done.status == 1)
    #expect(done.output.hasPrefix("version 2  Dog  -1  now 1 object\n"))
  }

  @Test(arguments: Loss.allCases)
  func aWatchThatNobodyReadsEndsWithItsFile(_ loss: Loss) throws {
    try fill(5000)
    let errors = Pipe.ofOneProcess()
    let watch = try ToolProcess(
      folder, ["watch", "a.realm", "Dog", "--json"], errors: errors.fileHandleForWriting)
    try errors.fileHandleForWriting.close()
    try watch.awaitOutput()
    try lose(loss)
    let said = watch.rest(of: errors.fileHandleForReading)
    #expect(watch.status() == 1)
    #expect(said.hasPrefix(Self.farewell), "\(said)")
  }

  @Test func aReaderWhoIsSlowGetsAllOfIt() throws {
    try fill(5000)
    let watch = try ToolProcess(folder, ["watch", "a.realm", "Dog", "--json"])
    try watch.awaitOutput()
    try lose(.deleted)
    #expect(
      try watch.line()?.hasSuffix("{\"id\":4999,\"name\":\"a dog with a long name\"}]}") == true)
    #expect(try watch.finish().status == 1)
  }

  @Test(
    .enabled(if: geteuid() == 0, "only root can become another user"),
    arguments: [
      ([], "version 1  Dog  2 objects\n"), (["--json"], "{\"version\":1,"), (["--no-initial"], ""),
    ]
      as [([String], String)])
  func aUserWhoMayNotLockGetsTheFirstStateAndAnError(_ more: [String], _ start: String) throws {
    try fill(2)
    for ending in ["-lock", "-signal"] { chmod(folder.file("a.realm" + ending), 0o644) }
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]
    let done = try ToolProcess(
      folder, nobody + [ToolProcess.tarn.path, "watch", "a.realm", "Dog"] + more,
      program: "/usr/bin/setpriv", environment: ["TMPDIR": "/tmp"]
    ).finish()
    #expect(done.status == 1)
    #expect(done.output.hasPrefix(start), "\(done)")
    #expect(done.output.isEmpty == start.isEmpty)
    #expect(
      done.errors.hasPrefix("tarn: a.realm cannot be watched: this user cannot write its lock"))
  }
}
