import Testing
import ToolSupport

extension ProcessTests {
  /// `make calls` in small: every so many calls fail.
  @Suite struct FailingCallTests {
    @Test func `a system call that fails costs nothing that was committed`() throws {
      let (lines, end) = try StressTool.start(["calls", "--stride", "11"]).finish()
      #expect(lines.last == "no faults", "\(lines.filter { $0.hasPrefix("FAULT") })")
      #expect(end == .exited(0))
    }
  }
}
