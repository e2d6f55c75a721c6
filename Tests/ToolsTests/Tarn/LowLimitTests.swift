import Foundation
import TestSupport
import Testing

/// Commands in processes whose limit of file descriptors is low.
@Suite struct LowLimitTests {
  private let folder = TemporaryFolder()

  init() throws { try CopyToolTests.makeStore(folder, objects: 2) }

  /// Below four, the program's libraries cannot be loaded.
  @Test(arguments: [
    "set a.tarn Crate name=new --all", "watch a.tarn Crate", "repair a.tarn b.tarn",
    "backup a.tarn . --incremental", "import c.tarn a.jsonl -c Crate",
  ])
  func `a command works or names the limit`(_ command: String) throws {
    _ = try folder.file("a.jsonl", Array("{\"id\": 1}\n".utf8))
    // The end of the reader ends a command that goes on.
    let script = """
      for count in $(seq 4 20); do
        rm -f b.tarn* c.tarn*
        (ulimit -n $count; exec \(ToolProcess.tarn.path) \(command)) 2>said | head -c 1 >/dev/null
        echo "$count ${PIPESTATUS[0]} $(tr '\\n' ' ' <said)"
      done
      """
    let run = try ToolProcess(folder, ["-c", script], program: "/bin/bash").finish()
    let lines = run.output.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 2) }
    #expect(lines.count == 17, "\(run)")
    var failures = 0
    for line in lines where line[1] != "0" {
      failures += 1
      #expect(line[1] == "1", "\(line)")
      #expect(line.last?.contains("file descriptor left: raise its limit") == true, "\(line)")
    }
    #expect(failures > 0)
  }
}
