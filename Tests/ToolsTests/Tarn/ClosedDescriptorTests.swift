import TestSupport
import Testing

/// Commands that a shell starts without standard input, output or errors: what they print must not
/// end up in the store, whose files would get those numbers.
@Suite struct ClosedDescriptorTests {
  private let folder = TemporaryFolder()

  /// Runs `tarn` without those descriptors.
  private func run(_ closed: String, _ arguments: String...) throws -> ToolProcess.Result {
    let words = ["-c", "exec \"$0\" \"$@\" \(closed)", ToolProcess.tarn.path] + arguments
    return try ToolProcess(folder, words, program: "/bin/sh").finish()
  }

  @Test(arguments: ["0<&-", "1>&-", "2>&-", "0<&- 1>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"])
  func nothingThatIsPrintedReachesTheStore(_ closed: String) throws {
    // Every second line is one to complain about on standard error.
    let lines = (0..<2_000).map { $0 % 2 == 0 ? "\($0)" : "word \($0)" }
    _ = try folder.file("a.csv", Array((["id"] + lines).joined(separator: "\n").utf8))
    _ = try folder.file("b.csv", Array("id\n-1\n".utf8))
    try #require(
      try ToolProcess.run(folder, "import", "a.realm", "b.csv", "-c", "Thing").status == 0)
    // What cannot be printed is a failure, as it is in the shell's other commands.
    let status: Int32 = closed.contains("1") ? 1 : 0
    let imported = try run(
      closed, "import", "a.realm", "a.csv", "-c", "Thing", "--on-error", "ignore")
    #expect(imported.status == status)
    #expect(try run(closed, "export", "a.realm", "Thing").status == status)
    let check = try ToolProcess.run(folder, "inspect", "--check", "a.realm")
    #expect(check.status == 0, "\(check)")
    #expect(try ToolProcess.run(folder, "count", "a.realm", "Thing").output == "1001\n")
  }
}
