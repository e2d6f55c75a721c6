import TestSupport
import Testing
import ToolSupport

extension ProcessTests {
  /// `make power` in small.
  @Suite struct PowerTests {
    private func run(_ arguments: String...) throws -> (lines: [String], end: ChildProcess.End) {
      try StressTool.start(["power"] + arguments).finish()
    }

    @Test func `a power failure costs no commit that was acknowledged`() throws {
      let count = Seeds.rounds(5000, few: 500)
      let (lines, end) = try run("--count", "\(count)")
      #expect(lines.last == "no faults", "\(lines.filter { $0.hasPrefix("FAULT") })")
      #expect(lines.contains { $0.hasPrefix("\(count) images in ") }, "\(lines)")
      #expect(end == .exited(0))
    }

    @Test func `a file whose commits are not synced is refused, or is as it was closed`() throws {
      let (lines, end) = try run("--kind", "relaxed", "--count", "100")
      #expect(lines.last == "no faults", "\(lines.filter { $0.hasPrefix("FAULT") })")
      let words = lines.first { $0.hasPrefix("100 images in ") }?.split(separator: " ") ?? []
      #expect(words.last == "refused", "\(lines)")
      #expect(words.dropLast().last.flatMap { Int($0) } ?? 0 > 20, "\(lines)")
      #expect(end == .exited(0))
    }

    /// A medium that only says that it has synced, and one that writes eight bytes at a time.
    @Test(arguments: ["lie", "tear"])
    func `a medium that breaks what is assumed is found out`(_ medium: String) throws {
      let (lines, end) = try run("--sabotage", medium, "--kind", "commits", "--count", "300")
      #expect(lines.contains { $0.hasPrefix("FAULT commits, image ") }, "\(lines)")
      #expect(end == .exited(1))
    }
  }
}
