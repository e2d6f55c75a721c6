import TestSupport
import Testing
import ToolSupport

extension ProcessTests {
  @Suite struct StressToolTests {
    /// 4,000 commits with `TARN_SEEDS=all`.
    @Test func `twenty processes at once find nothing wrong`() throws {
      let count = Seeds.rounds(4000, few: 1000)
      let (lines, end) = try StressTool.start(["--commits", "\(count)", "--seed", "7"]).finish()
      #expect(end == .exited(0), "\(lines.joined(separator: "\n"))")
      #expect(lines.contains { $0.contains("no problems") })
    }

    @Test(arguments: ["lost", "sum", "mirror", "list", "stock", "cursor"])
    func `the stress finds what was broken on purpose`(_ sabotage: String) throws {
      let arguments = ["--commits", "100000", "--processes", "6", "--sabotage", sabotage]
      let (lines, end) = try StressTool.start(arguments).finish()
      #expect(end == .exited(1), "\(lines.joined(separator: "\n"))")
      #expect(lines.contains { $0.contains("wrong") })
    }

    @Test func `a command line that makes no sense is refused`() throws {
      #expect(try StressTool.start(["--seconds", "soon"]).finish().end == .exited(2))
      #expect(try StressTool.start(["--commits", "0"]).finish().end == .exited(2))
      #expect(try StressTool.start(["--help"]).finish().end == .exited(0))
    }
  }
}
