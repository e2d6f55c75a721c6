import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// Outputs that are something else than lines of the daemon: what others made is kept.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct OtherOutputTests {
  private let folder = TemporaryFolder()

  private static func configuration(_ output: String, _ extra: String = "") -> String {
    """
    \(extra)
    watches:
      - name: notes
        file: $/notes.tarn
        class: Note
        delivery: {first-retry: 10ms, last-retry: 20ms}
        sinks: [{file: \(output)}]
    """
  }

  private func bytes(_ name: String) -> [UInt8] {
    FileManager.default.contents(atPath: folder.file(name)).map(Array.init) ?? []
  }

  @Test func keepsALastLineThatIsNotTheDaemons() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let texts = [
      "first\nlast", "{\"watch\":\"no", "{\"watch\":1,\"file\":2}",
      // A line of the daemon's that lost its line feed in an editor.
      "{\"watch\":\"notes\",\"file\":\"/x\",\"text\":\"} \\\" {\"}",
    ]
    for (number, text) in texts.enumerated() {
      let output = try folder.file("\(number).jsonl", Array(text.utf8))
      let daemon = try DaemonProcess(
        folder, Self.configuration(output, "name: d\(number)"))
      try await yieldUntil { bytes("\(number).jsonl").last == 0x0a }
      try await yieldUntil { bytes("\(number).jsonl").count > text.utf8.count + 1 }
      let found = String(decoding: bytes("\(number).jsonl"), as: UTF8.self)
      #expect(found.hasPrefix(text + "\n{\"watch\":\"notes\",\"file\":\""), "\(found)")
      daemon.stop()
    }
  }

  @Test func doesNotTouchAStoreOrItsCompanions() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    do { try NoteFile(folder, "other.tarn").put(2, "two") }
    // As it is while no process has it open.
    let other = TemporaryFolder()
    for ending in ["", "-lock", "-signal"] {
      try FileManager.default.copyItem(
        atPath: folder.file("other.tarn" + ending), toPath: other.file("other.tarn" + ending))
    }
    for ending in ["", "-lock", "-signal"] {
      let path = other.file("other.tarn" + ending)
      let before = try #require(FileManager.default.contents(atPath: path))
      let daemon = try DaemonProcess(
        folder, Self.configuration(path, "name: d\(ending)"))
      try await yieldUntil {
        daemon.errors.contains("cannot write \(path): it is not a file of lines")
      }
      daemon.stop()
      #expect(FileManager.default.contents(atPath: path) == before)
    }
  }

  @Test func refusesAnOutputThatItWatches() throws {
    _ = try NoteFile(folder)
    for output in ["notes.tarn", "notes.tarn-lock"] {
      let path = try folder.file(
        "bad.yaml",
        Array(
          Self.configuration("$/\(output)").replacingOccurrences(of: "$", with: folder.path).utf8))
      let (text, end) = try DaemonProcess.run(["check", "--config", path])
      #expect(end == .exited(1))
      #expect(text.contains("\(folder.path)/\(output) is a store that 'notes' watches"), "\(text)")
    }
  }

  /// Lines cannot be written to a socket, whether it is there or the daemon is to make it.
  @Test func refusesASocketAsAFileOfLines() throws {
    _ = try NoteFile(folder)
    let there = try ListeningSocket(at: folder.file("there.sock"), mode: 0o600)
    for (name, more) in [("there.sock", ""), ("http.sock", "http: {listen: $/http.sock}")] {
      let path = try folder.file(
        "bad.yaml",
        Array(
          Self.configuration("$/\(name)", more)
            .replacingOccurrences(of: "$", with: folder.path).utf8))
      let (text, end) = try DaemonProcess.run(["check", "--config", path])
      #expect(end == .exited(1))
      #expect(text.contains("\(folder.path)/\(name) is a socket, not a file for lines"), "\(text)")
      let (_, run) = try DaemonProcess.run(["run", "--config", path])
      #expect(run == .exited(1))
    }
    withExtendedLifetime(there) {}
  }

  @Test func keepsAFileWhereASocketShallBe() throws {
    _ = try NoteFile(folder)
    let path = try folder.file("text", Array("precious".utf8))
    let configurations = [
      Self.configuration("$/out.jsonl", "http: {listen: $/text}"),
      Self.configuration("$/out.jsonl").replacingOccurrences(
        of: "file: $/out.jsonl", with: "socket: $/text"),
    ]
    for text in configurations {
      let file = try folder.file(
        "bad.yaml", Array(text.replacingOccurrences(of: "$", with: folder.path).utf8))
      let errors = folder.file("bad-errors")
      let run = try ChildProcess(
        OwnProgram.sibling("tarn-daemon"), ["run", "--config", file], errors: errors)
      #expect(run.finish().end == .exited(1))
      #expect(
        try String(contentsOfFile: errors, encoding: .utf8)
          .contains("cannot listen on \(path): it is not a socket"))
      #expect(bytes("text") == Array("precious".utf8))
    }
  }

  /// Started by mistake, it fails, and the first one's sockets still serve.
  @Test func aSecondDaemonLeavesTheSocketsOfTheFirst() throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let clients =
      "  - {name: clients, file: $/notes.tarn, class: Note, sinks: [{socket: $/notes.sock}]}"
    let text = Self.configuration("$/out.jsonl", "http: {listen: $/http.sock}") + "\n" + clients
    let daemon = try DaemonProcess(folder, text)
    for part in ["socket: $/notes.sock", "events: true"] {
      let path = try folder.file(
        "second.yaml",
        Array(
          text.replacingOccurrences(of: "socket: $/notes.sock", with: part)
            .replacingOccurrences(of: "$", with: folder.path).utf8))
      let errors = folder.file("second-errors")
      let second = try ChildProcess(
        OwnProgram.sibling("tarn-daemon"), ["run", "--config", path], errors: errors)
      #expect(second.finish().end == .exited(1))
      #expect(
        try String(contentsOfFile: errors, encoding: .utf8).contains("another process listens"))
      let line = try LineClient(folder.file("notes.sock"), "{}\n").json()
      #expect(line["fullResync"] == .string("snapshot"))
      let (_, end) = try DaemonProcess.run(["status", "--config", daemon.configuration])
      #expect(end == .exited(0))
    }
    #expect(daemon.stop() == .exited(0))
    #expect(!folder.names.contains("notes.sock"))
    #expect(!folder.names.contains("http.sock"))
  }

  /// A reader that is slow, or away, costs nothing but time.
  @Test func writesToAPipeAndToNull() async throws {
    let file = try NoteFile(folder)
    try file.put(1, String(repeating: "long ", count: 50_000))
    mkfifo(folder.file("pipe"), 0o600)
    let daemon = try DaemonProcess(
      folder,
      Self.configuration("$/pipe").replacingOccurrences(
        of: "sinks: [", with: "sinks: [{name: nothing, file: /dev/null}, "))
    try await yieldUntil {
      daemon.errors.contains("cannot write \(folder.path)/pipe: nobody reads it")
    }
    let reader = open(folder.file("pipe"), O_RDONLY | O_CLOEXEC)
    defer { close(reader) }
    var found: [UInt8] = []
    while found.last != 0x0a {
      var piece = [UInt8](repeating: 0, count: 1 << 16)
      let count = read(reader, &piece, piece.count)
      found += piece[..<max(0, count)]
    }
    var model = NoteModel()
    try model.apply(JSONScanner.value(in: String(decoding: found, as: UTF8.self)))
    #expect(try model.notes == file.expected)
    #expect(!daemon.errors.contains("/dev/null"))
    // The next line does not fit in the pipe, and nobody takes it.
    try file.put(2, String(repeating: "long ", count: 50_000))
    var count: Int32 = 0
    try await yieldUntil {
      _ = ioctl(reader, UInt(FIONREAD), &count)
      return count > 0
    }
    #expect(daemon.stop() == .exited(0))
  }
}
