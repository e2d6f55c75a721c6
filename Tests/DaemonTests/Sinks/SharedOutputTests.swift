import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

/// An output that several sinks write, in one daemon or in two.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct SharedOutputTests {
  private let folder = TemporaryFolder()
  private let text = String(repeating: "long ", count: 200)

  /// The models of the files whose lines an output has. Each line must be whole.
  private func models(_ output: String) throws -> [String: NoteModel] {
    var lines = LineFile(folder.file(output))
    var models: [String: NoteModel] = [:]
    for line in try lines.next() {
      let json = try JSONScanner.value(in: line)
      guard case .string(let path)? = json["file"] else { throw ToolError("no file in \(line)") }
      try models[path, default: NoteModel()].apply(json)
    }
    return models
  }

  private func wait(for files: [NoteFile], in output: String) async throws {
    let versions = try Dictionary(uniqueKeysWithValues: files.map { ($0.path, try $0.version) })
    try await yieldUntil {
      let found = try models(output)
      return versions.allSatisfy { found[$0.key]?.version ?? 0 >= $0.value }
    }
    let found = try models(output)
    for file in files { #expect(try found[file.path]?.notes == file.expected) }
  }

  private static func watch(_ name: String, _ output: String) -> String {
    """
      - name: \(name)
        file: $/*.tarn
        class: Note
        delivery: {first-retry: 10ms, last-retry: 20ms}
        sinks: [{file: $/\(output)}]

    """
  }

  /// Batches are written in pieces, which must not be mixed.
  @Test func keepsTheLinesOfSeveralStoresWhole() async throws {
    let files = try (1...4).map { try NoteFile(folder, "\($0).tarn") }
    for file in files {
      for id in 1...100 { try file.put(id, text) }
    }
    symlink(folder.file("out.jsonl"), folder.file("other.jsonl"))
    let daemon = try DaemonProcess(
      folder,
      "watches:\n" + Self.watch("a", "out.jsonl") + Self.watch("b", "other.jsonl"))
    try await wait(for: files, in: "out.jsonl")
    for round in 1...5 {
      for file in files { try file.put(round, "\(text) \(round)") }
    }
    try await wait(for: files, in: "out.jsonl")
    #expect(daemon.stop() == .exited(0))
  }

  @Test func aSecondDaemonSaysWhoHasTheOutput() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, "watches:\n" + Self.watch("notes", "out.jsonl"))
    try await wait(for: [file], in: "out.jsonl")
    let other = TemporaryFolder()
    let second = try DaemonProcess(
      other,
      "name: second\nwatches:\n"
        + Self.watch("notes", "out.jsonl").replacingOccurrences(of: "$", with: folder.path))
    let holder = "process \(daemon.process.processID) (tarn-daemon)"
    try await yieldUntil { second.errors.contains(holder) }
    #expect(try models("out.jsonl")[file.path]?.lines == 1)
    daemon.stop()
    // Free, it is the other one's.
    try file.put(2, "two")
    try await wait(for: [file], in: "out.jsonl")
    #expect(second.stop() == .exited(0))
  }
}
