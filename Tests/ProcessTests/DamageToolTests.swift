import TestSupport
import Testing
import ToolSupport

extension ProcessTests {
  /// `make damage` in small: no command dies or hangs, whatever is done to the file, and what one
  /// of them stumbles on, the check names. With `TARN_SEEDS=all` there are 100 files of each seed.
  @Suite struct DamageToolTests {
    @Test(arguments: Seeds.of([1, 2, 3], first: 1))
    func `the commands survive damaged files`(_ seed: Int) throws {
      let count = Seeds.rounds(100, few: 20)
      let (lines, end) = try StressTool.start([
        "damage", "--seed", "\(seed)", "--count", "\(count)", "--jobs", "2",
      ]).finish()
      #expect(end == .exited(0))
      #expect(lines.contains("no faults"), "\(lines.filter { $0.hasPrefix("FAULT") })")
      #expect(lines.contains { $0.hasPrefix("\(count) files") })
    }
  }
}
