import Foundation
import TestSupport
import Testing

/// Pipes, folders and devices where a command expects a store.
@Suite struct OtherFilesTests {
  private let folder = TemporaryFolder()

  init() throws {
    try CopyToolTests.makeStore(folder, objects: 2)
    mkfifo(folder.file("pipe.tarn"), 0o600)
    try FileManager.default.createDirectory(
      atPath: folder.file("folder.tarn"), withIntermediateDirectories: false)
    symlink("/dev/null", folder.file("null.tarn"))
    #expect(try ToolProcess.run(folder, "dump", "a.tarn").status == 0)
    let dumped = try ToolProcess.run(folder, "dump", "a.tarn").output
    _ = try folder.file("dump", Array(dumped.utf8))
    try FileManager.default.createDirectory(
      atPath: folder.file("d"), withIntermediateDirectories: false)
    #expect(try ToolProcess.run(folder, "backup", "a.tarn", "d").status == 0)
  }

  /// Each command ends soon, with an error, and leaves what is there.
  @Test(arguments: [
    "copy a.tarn X --replace", "copy a.tarn X", "restore d X --replace", "restore d X",
    "repair a.tarn X", "load X dump", "backup a.tarn X", "copy X b.tarn", "backup X d",
    "repair X b.tarn", "restore X b.tarn", "compact X", "query X Crate", "inspect X", "dump X",
    "schema X", "export X Crate", "import X dump -c Crate", "accept X", "diff a.tarn X",
  ])
  func `nothing else is taken for a store`(_ command: String) throws {
    for name in ["pipe.tarn", "folder.tarn", "null.tarn"] {
      if name == "folder.tarn", command == "backup a.tarn X" { continue }
      let words = command.split(separator: " ").map { $0 == "X" ? name : String($0) }
      let limited = ["30", ToolProcess.tarn.path] + words
      let run = try ToolProcess(folder, limited, program: "/usr/bin/timeout").finish()
      #expect(run.status == 1 || run.status == 2, "\(name): \(run)")
      #expect(!run.errors.isEmpty)
      #expect(!folder.names.contains("b.tarn"))
    }
    var facts = stat()
    #expect(lstat(folder.file("pipe.tarn"), &facts) == 0)
    #expect(facts.st_mode & S_IFMT == S_IFIFO)
    #expect(lstat(folder.file("null.tarn"), &facts) == 0)
    #expect(facts.st_mode & S_IFMT == S_IFLNK)
  }
}
