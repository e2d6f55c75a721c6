import Foundation
import TestSupport
import Testing

/// Copies of every kind, backups and repairs of files that an earlier build wrote.
@Suite struct GoldenCopyTests {
  static let names = ["golden-1", "golden-2", "golden-feed-1", "golden-rules-1"]

  private let folder = TemporaryFolder()

  private func tarn(_ arguments: String...) throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments).finish()
  }

  private func done(_ arguments: String...) throws {
    let result = try ToolProcess(folder, arguments).finish()
    #expect(result.status == 0, "\(arguments): \(result)")
  }

  @Test(arguments: names) func everyCopyHasTheSameObjects(_ name: String) throws {
    let resources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("TarnStoreTests/Resources")
    let bytes = try Data(contentsOf: resources.appendingPathComponent("\(name).realm"))
    _ = try folder.file("a.realm", [UInt8](bytes))
    try FileManager.default.createDirectory(
      atPath: folder.file("backups"), withIntermediateDirectories: false)
    try done("copy", "a.realm", "copied.realm")
    try done("copy", "a.realm", "compacted.realm", "--exact")
    try done("compact", "compacted.realm")
    try done("backup", "a.realm", "backups", "--keep", "1")
    try done("restore", "backups", "restored.realm")
    try done("repair", "a.realm", "repaired.realm")
    let dump = try tarn("dump", "a.realm")
    #expect(dump.output.count > 100)
    for copy in ["copied.realm", "compacted.realm", "restored.realm", "repaired.realm"] {
      #expect(try tarn("dump", copy).output == dump.output, "\(copy)")
      let check = try tarn("inspect", "--check", copy)
      #expect(check.status == 0, "\(copy): \(check)")
    }
  }
}
