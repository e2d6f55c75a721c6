import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

/// The file sink of a real daemon.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct FileSinkTests {
  private let folder = TemporaryFolder()

  private static let configuration = """
    watches:
      - name: notes
        file: $/notes.tarn
        class: Note
        sinks: [{file: $/out.jsonl}]
    """

  private var output: String { folder.file("out.jsonl") }

  private func wait(for file: NoteFile) async throws {
    let version = try file.version
    var (model, lines) = (NoteModel(), LineFile(output))
    try await yieldUntil {
      try model.apply(&lines)
      return model.version >= version
    }
  }

  @Test func writesTheStateAndThenChanges() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration)
    try file.put(2, "two")
    try file.put(1, "uno")
    try file.delete(2)
    try await wait(for: file)
    let model = try NoteModel(file: output)
    #expect(model.notes == [1: "uno 0"])
    #expect(model.beginnings == ["snapshot"])
    #expect(daemon.stop() == .exited(0))
    // What happens meanwhile is one difference.
    try file.put(3, "three")
    try file.put(4, "four")
    try daemon.restart()
    try await wait(for: file)
    let later = try NoteModel(file: output)
    #expect(try later.notes == file.expected)
    #expect(later.lines == model.lines + 1)
    #expect(later.beginnings == ["snapshot"])
    daemon.stop()
  }

  /// Killed at any moment, each change arrives at least once and in order.
  @Test(.serialized, arguments: Seeds.of(1...20, first: 3))
  func survivesKills(_ seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let file = try NoteFile(folder)
    let daemon = try DaemonProcess(folder, Self.configuration)
    for _ in 0..<Seeds.rounds(20, few: 6) {
      for _ in 0..<random.below(20) {
        try file.change(&random)
        for _ in 0..<random.below(3_000) { await Task.yield() }
      }
      try daemon.killAndRestart()
      if random.chance(50) {
        // As if it had died in the middle of a line.
        let beginning = "{\"watch\":\"notes\",\"file\":\"\(file.path)\",\"version\":9"
        let handle = try #require(FileHandle(forWritingAtPath: output))
        daemon.process.signal(SIGKILL)
        daemon.process.wait()
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(beginning.utf8))
        try handle.close()
        try daemon.restart()
      }
    }
    try file.put(99, "end")
    try await wait(for: file)
    let model = try NoteModel(file: output)
    #expect(try model.notes == file.expected)
    // Killed between a delivery and its acknowledgement, it begins once more.
    #expect(Set(model.beginnings) == ["snapshot"])
    #expect(daemon.stop() == .exited(0))
  }

  /// `logrotate` renames the file and sends SIGHUP.
  @Test func reopensTheFile() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration)
    try await wait(for: file)
    rename(output, folder.file("old.jsonl"))
    try daemon.reload(Self.configuration)
    try file.put(2, "two")
    try await wait(for: file)
    #expect(try NoteModel(file: folder.file("old.jsonl")).notes == [1: "one 0"])
    #expect(try NoteModel(file: output).notes == [2: "two 0"])
    daemon.stop()
  }

  /// An interval that no clock can hold is one that never ends.
  @Test func waitsForAnyInterval() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      Self.configuration.replacingOccurrences(
        of: "class: Note", with: "class: Note\n    delivery: {interval: 200000d}"))
    try await wait(for: file)
    try file.put(2, "two")
    #expect(daemon.stop() == .exited(0))
    #expect(try NoteModel(file: output).notes == [1: "one 0"])
  }

  /// A full disk holds up its own sink only.
  @Test func triesAgainWhenTheDiskIsFull() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      """
      http: {listen: $/http.sock}
      watches:
        - name: notes
          file: $/notes.tarn
          class: Note
          delivery: {first-retry: 10ms, last-retry: 20ms}
          sinks: [{file: $/out.jsonl}, {name: full, file: /dev/full}]
      """)
    try file.put(2, "two")
    try await wait(for: file)
    try await yieldUntil { try retries(daemon) > 1 }
    #expect(try NoteModel(file: output).notes == file.expected)
    #expect(daemon.errors.contains("notes.tarn: cannot write /dev/full: No space left on device"))
    daemon.stop()
  }

  private func retries(_ daemon: DaemonProcess) throws -> Int64 {
    let (text, _) = try DaemonProcess.run(["status", "--json", "--config", daemon.configuration])
    guard case .array(let sinks)? = try JSONScanner.value(in: text)["sinks"] else { return 0 }
    let full = sinks.first { $0["sink"] == .string("full") }
    if case .integer(let count)? = full?["retried"] { return count }
    return 0
  }
}
