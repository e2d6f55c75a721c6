import Foundation
import TestSupport
import Testing

/// The benchmark itself, at a size at which its figures mean nothing.
@Suite(.serialized) struct TarnBenchTests {
  /// Runs the tool that was built beside the tests.
  private func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let process = Process()
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("tarn-bench")
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
  }

  @Test func `a tiny run measures every workload, appends a line and leaves nothing`() throws {
    let folder = TemporaryFolder()
    let history = "\(folder.path)/history.ndjson"
    let run = try run(["--tiny", "--json", "--append", history, "--folder", folder.path])
    #expect(run.status == 0)
    #expect(try String(contentsOfFile: history, encoding: .utf8) == run.output)
    let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8))
    let figures = try #require((object as? [String: Any])?["figures"] as? [[String: Any]])
    // A sanitizer's allocator does not tell how much it gave, so that W9b is nothing there.
    let ours = figures.filter { ($0["ours"] as? Double ?? 0) > 0 || $0["id"] as? String == "W9b" }
      .compactMap { $0["id"] as? String }
    let all = [
      "W1", "W10", "W11", "W11a", "W11c", "W11d", "W11i", "W11m", "W11n", "W11r", "W11s", "W11x",
      "W13", "W1f", "W2a", "W2b", "W2g", "W2m", "W2r", "W2s", "W2t", "W3", "W4", "W4a", "W4o",
      "W4s", "W5", "W5a", "W5c", "W5g", "W5gm", "W5i", "W5n", "W5q", "W5r", "W5y", "W6", "W6i",
      "W6n", "W6p", "W6pf", "W6pk", "W6w", "W7", "W7b", "W7g", "W7gm", "W7k", "W7kc", "W7l", "W7m",
      "W7n", "W7p", "W7r", "W7t", "W7w", "W7xc", "W7xcr", "W7xd", "W7xdr", "W7xe", "W7xer", "W7xf",
      "W7xfr", "W7xg", "W7xgr", "W7xl", "W7xlr", "W7xs", "W7xsr", "W7xv", "W7xvr", "W8", "W8a",
      "W8b", "W8c", "W8p", "W8t", "W8w", "W9", "W9b",
    ]
    #expect(ours.sorted() == all)
    #expect(folder.names == ["history.ndjson"])
  }

  @Test func `an unknown workload is refused`() throws {
    #expect(try run(["--only", "W99"]).status == 2)
  }
}
