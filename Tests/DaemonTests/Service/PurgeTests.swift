import Foundation
import TestSupport
import Testing
import ToolSupport

/// What `apt purge tarn-daemon` removes. The package's script works on the folder of the test, as
/// it does for `dpkg --root`.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct PurgeTests {
  private let folder = TemporaryFolder()

  private static var script: String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Tools/package/tarn-daemon.postrm").path
  }

  private var state: String { folder.file("var/lib/tarn") }

  private func make(_ path: String) throws {
    let file = URL(fileURLWithPath: "\(state)/\(path)")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("x".utf8).write(to: file)
  }

  private var left: [String] {
    (FileManager.default.enumerator(atPath: state)?.compactMap { $0 as? String } ?? []).sorted()
  }

  private func purge() throws -> String {
    let errors = folder.file("errors")
    let run = try ChildProcess(
      "/bin/sh", [Self.script, "purge"], environment: ["DPKG_ROOT": folder.path], errors: errors)
    #expect(run.finish().end == .exited(0))
    return try String(contentsOfFile: errors, encoding: .utf8)
  }

  private func makePositions() throws {
    let sum = String(repeating: "0a", count: 16)
    for name in ["", "shop/"] {
      try make("\(name)positions/watch/orders/log/\(sum)")
      try make("\(name)positions/watch/orders/log/begun")
      try make("\(name)positions/watch/orders/log/paused")
      try make("\(name)running/watch.json")
      try make("\(name)positions/or.ders.log.cbf29ce484222325")
    }
  }

  @Test func keepsWhatTheDaemonHasNotMade() throws {
    try makePositions()
    let kept = ["orders.tarn", "positions/mine.tarn", "shop/out.jsonl", "positions/a/b/c/d"]
    for path in kept { try make(path) }
    // A link leads nowhere else.
    let elsewhere = TemporaryFolder()
    let other = elsewhere.file("positions/a/b/c")
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    let sum = "\(other)/\(String(repeating: "0a", count: 16))"
    try Data("x".utf8).write(to: URL(fileURLWithPath: sum))
    symlink(elsewhere.path, "\(state)/link")
    let said = try purge()
    #expect(said.contains("The files in \(state) are kept. To delete them: rm -r \(state)"))
    for path in kept { #expect(left.contains(path)) }
    #expect(!left.contains { $0.contains("orders/log") || $0.contains("cbf29ce484222325") })
    #expect(FileManager.default.fileExists(atPath: sum))
  }

  @Test func removesTheFolderIfThereIsNothingElse() throws {
    try makePositions()
    #expect(try !purge().contains("are kept"))
    #expect(!FileManager.default.fileExists(atPath: state))
    #expect(try purge().contains("tarn cursor delete FILE NAME"))
  }

  /// Debconf asks, where it is.
  @Test(arguments: [true, false])
  func asksBeforeItDeletes(_ answer: Bool) throws {
    try make("orders.tarn")
    let module = folder.file("usr/share/debconf/confmodule")
    try FileManager.default.createDirectory(
      at: URL(fileURLWithPath: module).deletingLastPathComponent(),
      withIntermediateDirectories: true)
    let functions = """
      db_input() { [ "$1 $2" = 'high tarn-daemon/delete-data' ]; }
      db_go() { :; }
      db_get() { RET=\(answer); }
      db_purge() { :; }
      """
    try Data(functions.utf8).write(to: URL(fileURLWithPath: module))
    #expect(try purge().contains("are kept") == !answer)
    #expect(FileManager.default.fileExists(atPath: state) == !answer)
  }
}
