import Foundation
import TestSupport
import Testing

/// Paths at which a file may exist that cannot be seen.
@Suite struct HiddenFileTests {
  private let folder = TemporaryFolder()

  private static let commands = [
    ["count", "FILE", "A"], ["inspect", "FILE"], ["shell", "FILE"], ["diff", "FILE", "FILE"],
    ["cursor", "list", "FILE"], ["delete", "FILE", "A", "--all"],
  ]

  private func errors(_ command: [String], _ path: String) throws -> String {
    // Without the rights of an administrator, whom no folder refuses.
    let words = command.map { $0 == "FILE" ? path : $0 }
    let done = try ToolProcess(
      folder, ["-U", ToolProcess.tarn.path] + words, program: "/usr/bin/unshare"
    ).finish()
    #expect(done.status == 1)
    return done.errors
  }

  @Test(arguments: commands) func theSystemSaysWhy(_ command: [String]) throws {
    let closed = folder.file("closed")
    try #require(mkdir(closed, 0) == 0)
    try #require(symlink("loop", folder.file("loop")) == 0)
    _ = try folder.file("plain", [])
    let long = String(repeating: "x", count: 300)
    for (path, reason) in [
      ("closed/a.realm", "Permission denied"), ("loop", "Too many levels of symbolic links"),
      ("plain/a.realm", "Not a directory"), (long, "File name too long"),
    ] {
      #expect(try errors(command, path) == "tarn: cannot open \(path): \(reason)\n")
    }
    #expect(try errors(command, "none") == "tarn: none: there is no such file\n")
  }
}
