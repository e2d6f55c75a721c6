import Foundation
import TestSupport
import Testing

/// `tarn inspect --check` on a file that an earlier build wrote.
@Suite struct GoldenInspectTests {
  @Test(arguments: [
    ("golden-1", "Shelf"), ("golden-2", "Shelf"), ("golden-rules-1", "House"),
  ])
  func findsNothingWrongInAGoldenFile(file: String, className: String) throws {
    let resources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("TarnStoreTests/Resources")
    let folder = TemporaryFolder()
    let bytes = try Data(contentsOf: resources.appendingPathComponent("\(file).realm"))
    _ = try folder.file("golden.realm", [UInt8](bytes))
    let run = try ToolProcess.run(folder, "inspect", "--check", "golden.realm")
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(run.output.contains(className))
  }
}
