import TestSupport
import Testing
import ToolSupport

extension ProcessTests {
  /// `make damage` in small: no command dies or hangs, whatever is done to the file, and what one
  /// of them stumbles on, the check names.
  @Suite struct DamageToolTests {
    @Test(arguments: Seeds.of([1, 2, 3]))
    func `the commands survive damaged files`(_ seed: Int) throws {
      let (lines, end) = try StressTool.start([
        "damage", "--seed", "\(seed)", "--count", "100", "--jobs", "2",
      ]).finish()
      #expect(end == .exited(0))
      #expect(lines.contains("no faults"), "\(lines.filter { $0.hasPrefix("FAULT") })")
      #expect(lines.contains { $0.hasPrefix("100 files") })
    }
  }
}
