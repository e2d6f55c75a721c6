import Foundation
import TarnStore
import Testing
import ToolSupport

extension ProcessTests {
  /// A page that is gone, and a limit for the length of files.
  @Suite struct SystemWallTests {
    @Test func `a page that cannot be read is named before the process ends`() throws {
      let file = try StressFile()
      let errors = file.folder + "/errors"
      let (lines, end) = try ChildProcess(
        StressTool.path, ["worker", "read-cut", file.path], errors: errors
      ).finish()
      #expect(lines == ["opened 120"])
      #expect(end == .killed(SIGBUS))
      let text = try String(contentsOfFile: errors, encoding: .utf8)
      let told = text.split(separator: "\n").first { $0.hasPrefix("SIGBUS: page ") } ?? ""
      #expect(
        told.hasSuffix(" of \(file.path) cannot be used: the file was cut by another program"),
        "\(text)")
    }

    @Test func `a file that may not get longer is an error, and the next write works`() throws {
      let file = try StressFile(isDurable: true)
      let (lines, end) = try StressTool.worker("fill-limit", file.path, "200000").finish()
      #expect(end == .exited(0), "\(lines)")
      #expect(lines.count == 2, "\(lines)")
      #expect(lines.first?.hasPrefix("limited invalidInput") == true, "\(lines)")
      #expect(lines.first?.contains("ulimit -f, RLIMIT_FSIZE") == true, "\(lines)")
      #expect(lines.last == "again fine")
      #expect(try Environment.verifyPages(path: file.path).problems == [])
    }

    /// The lock file would be longer.
    @Test func `a store whose companions may not be made is refused with the limit`() throws {
      let file = try StressFile()
      for ending in ["-lock", "-signal"] { unlink(file.path + ending) }
      let lines = try StressTool.worker("fill-limit", file.path, "1000").finish().lines
      #expect(lines.first?.hasPrefix("open invalidInput") == true, "\(lines)")
      #expect(lines.first?.contains("ulimit -f, RLIMIT_FSIZE") == true, "\(lines)")
    }
  }
}
