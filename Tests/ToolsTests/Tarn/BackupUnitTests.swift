import Foundation
import TestSupport
import Testing

/// The units of the package that make backups.
@Suite struct BackupUnitTests {
  private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Tools/package")

  /// The lines of a unit, by their keys.
  private static func unit(_ name: String) throws -> [String: String] {
    let text = try String(contentsOf: package.appendingPathComponent(name), encoding: .utf8)
    let pairs = text.split(separator: "\n").compactMap { line -> (String, String)? in
      guard !line.hasPrefix("#"), let equal = line.firstIndex(of: "=") else { return nil }
      return (String(line[..<equal]), String(line[line.index(after: equal)...]))
    }
    return Dictionary(pairs) { _, later in later }
  }

  @Test func `the service may do no more than that of the daemon`() throws {
    let daemon = try Self.unit("tarn.service.in")
    let backup = try Self.unit("tarn-backup.service.in")
    let allows = ["Restrict", "Protect", "Private", "SystemCall", "NoNew", "Lock", "Capability"]
    let rules = daemon.filter { rule in allows.contains { rule.key.hasPrefix($0) } }
    #expect(rules.count > 15)
    for (key, value) in rules where key != "RestrictAddressFamilies" {
      #expect(backup[key] == value, "\(key)")
    }
    #expect(backup["RestrictAddressFamilies"] == "AF_UNIX")
    for key in ["User", "Group", "UMask"] { #expect(backup[key] == daemon[key], "\(key)") }
  }

  @Test func `the command makes backups, and the timer makes up for a missed time`() throws {
    let folder = TemporaryFolder()
    try CopyToolTests.makeStore(folder, objects: 3)
    let unit = try Self.unit("tarn-backup.service.in")
    let settings = try #require(unit["Environment"])
      .replacingOccurrences(of: "/var/lib/tarn/%i.tarn", with: "a.tarn")
      .replacingOccurrences(of: "/var/backups/tarn/%i", with: "d")
    let command = try #require(unit["ExecStart"])
      .replacingOccurrences(of: "@PREFIX@/bin/tarn", with: ToolProcess.tarn.path)
    func run() throws -> ToolProcess.Result {
      let script = "\(settings); \(command)"
      return try ToolProcess(folder, ["-c", script], program: "/bin/sh").finish()
    }
    // Nothing is written below the mount point of a disk that is missing.
    let missing = try run()
    #expect(missing.errors.contains("cannot read the folder d"))
    #expect(missing.status == 1)
    try FileManager.default.createDirectory(
      atPath: folder.file("d"), withIntermediateDirectories: false)
    let made = try run()
    #expect(made.status == 0, "\(made.errors)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("d"))
    #expect(names.count == 1, "\(names)")
    #expect(names.first?.hasPrefix("a-") == true, "\(names)")
    let timer = try Self.unit("tarn-backup.timer")
    #expect(timer["Persistent"] == "true")
    #expect(timer["OnCalendar"] != nil)
  }
}
