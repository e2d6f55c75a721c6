import Foundation
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// A configuration that is read again.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct ReloadTests {
  private let folder = TemporaryFolder()

  private static func watch(_ name: String, _ extra: String = "") -> String {
    """
      - name: \(name)
        file: $/notes.tarn
        class: Note
        \(extra.isEmpty ? "delivery: {first-retry: 10ms, last-retry: 20ms}" : extra)
        sinks: [{file: $/\(name).jsonl}, {socket: $/\(name).sock}]

    """
  }

  private static func configuration(_ watches: String...) -> String {
    "name: test\nwatches:\n" + watches.joined()
  }

  @Test func keepsWhatDidNotChange() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration(Self.watch("a"), Self.watch("b")))
    let client = try LineClient(folder.file("a.sock"), "{}\n")
    var model = NoteModel()
    try model.apply(try client.json())
    try file.put(2, "two")
    try daemon.reload(
      Self.configuration(
        Self.watch("a"), Self.watch("b", "delivery: {delay: 10ms}"), Self.watch("c")))
    try file.put(3, "three")
    // The connection goes on.
    try client.read(upTo: try file.version, into: &model)
    #expect(try model.notes == file.expected)
    let version = try file.version
    for name in ["a", "b", "c"] {
      let output = folder.file("\(name).jsonl")
      try await yieldUntil { try NoteModel(file: output).version >= version }
      let found = try NoteModel(file: output)
      #expect(try found.notes == file.expected)
      #expect(found.beginnings == ["snapshot"])
    }
    daemon.stop()
  }

  /// From its first call on, a daemon is not ended by SIGHUP.
  @Test func `a hangup while it starts does not end it`() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration(Self.watch("a"))) { process in
      while process.poll() == nil, !Self.catches(SIGBUS, process.processID) { sched_yield() }
      for _ in 0..<20 { process.signal(SIGHUP) }
    }
    let output = folder.file("a.jsonl")
    try await yieldUntil { try NoteModel(file: output).version >= 1 }
    #expect(daemon.stop() == .exited(0))
  }

  /// Whether the process has an action for a signal, which is one of the first that it sets.
  private static func catches(_ number: Int32, _ process: pid_t) -> Bool {
    let status = FileManager.default.contents(atPath: "/proc/\(process)/status") ?? Data()
    let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
    let digits = lines.first { $0.hasPrefix("SigCgt:") }?.dropFirst(7)
      .trimmingCharacters(in: .whitespaces)
    return digits.flatMap { UInt64($0, radix: 16) }.map { $0 >> (number - 1) & 1 == 1 } ?? false
  }

  @Test func deletesCursorsOfRemovedWatches() throws {
    let file = try NoteFile(folder)
    let daemon = try DaemonProcess(folder, Self.configuration(Self.watch("a"), Self.watch("b")))
    func names() throws -> [String] { try DaemonTestStore.cursors(file.path) }
    #expect(try names() == ["test/a/file", "test/a/socket", "test/b/file", "test/b/socket"])
    try daemon.reload(Self.configuration(Self.watch("a")))
    #expect(try names() == ["test/a/file", "test/a/socket"])
    daemon.stop()
  }

  @Test func carriesCursorsOverToANewName() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration(Self.watch("a")))
    try await yieldUntil { try NoteModel(file: folder.file("a.jsonl")).version == 1 }
    try daemon.reload(Self.configuration(Self.watch("b", "rename: a")))
    try file.put(2, "two")
    try await yieldUntil { try NoteModel(file: folder.file("b.jsonl")).version == 2 }
    let model = try NoteModel(file: folder.file("b.jsonl"))
    #expect(model.beginnings == [])
    #expect(model.notes == [2: "two 0"])
    daemon.stop()
  }

  /// Earlier versions named cursors by the host, too, which a container changes.
  @Test func takesOverCursorsWithAHost() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let output = folder.file("a.jsonl")
    let daemon = try DaemonProcess(folder, Self.configuration(Self.watch("a")))
    try await yieldUntil { try NoteModel(file: output).version == 1 }
    daemon.stop()
    try DaemonTestStore.rename(file.path, "test/a/file", to: "box1/test/a/file")
    try file.put(2, "two")
    try daemon.restart()
    try await yieldUntil { try NoteModel(file: output).version == 2 }
    #expect(try NoteModel(file: output).beginnings == ["snapshot"])
    #expect(try DaemonTestStore.cursors(file.path) == ["test/a/file", "test/a/socket"])
    daemon.stop()
    // Two hosts had one each: nobody knows which is this one's.
    try DaemonTestStore.rename(file.path, "test/a/file", to: "box1/test/a/file")
    try DaemonTestStore.rename(file.path, "test/a/socket", to: "box2/test/a/file")
    try daemon.restart()
    let doubt =
      "each of the cursors 'box1/test/a/file', 'box2/test/a/file' may be the one of 'test/a/file'"
    try await yieldUntil { daemon.errors.contains(doubt) }
    #expect(
      try DaemonProcess.run(["check", "--config", daemon.configuration]).text.contains(doubt))
    try file.put(3, "three")
    try DaemonTestStore.delete(file.path, "box2/test/a/file")
    try await yieldUntil { try NoteModel(file: output).version == 3 }
    #expect(try NoteModel(file: output).beginnings == ["snapshot"])
    daemon.stop()
  }

  @Test func keepsTheFormerConfigurationIfTheNewOneIsWrong() async throws {
    let file = try NoteFile(folder)
    let daemon = try DaemonProcess(folder, Self.configuration(Self.watch("a")))
    try daemon.reload("watches: 5\n")
    #expect(daemon.errors.contains("watches: needs a list, not '5'"))
    try file.put(1, "one")
    try await yieldUntil { try NoteModel(file: folder.file("a.jsonl")).notes == file.expected }
    daemon.stop()
  }

  @Test func checkNamesCursorsThatAChangeWouldLose() throws {
    _ = try NoteFile(folder)
    let daemon = try DaemonProcess(folder, Self.configuration(Self.watch("a"), Self.watch("b")))
    daemon.stop()
    func check(_ text: String) throws -> String {
      let path = try folder.file(
        "other.yaml",
        Array(
          ("state: $/state\n" + text).replacingOccurrences(of: "$", with: folder.path).utf8))
      let (found, end) = try DaemonProcess.run(["check", "--config", path])
      #expect(end == .exited(0))
      return found
    }
    let same = try check(Self.configuration(Self.watch("a"), Self.watch("b")))
    #expect(same == "\(folder.path)/other.yaml: 2 watches, no problem")
    let fewer = try check(Self.configuration(Self.watch("a", "where: count > 3")))
    #expect(fewer.contains("a/file: \(folder.path)/notes.tarn: needs a full resync"))
    #expect(fewer.contains("'test/b/file' belongs to no watch any more"))
    let renamed = try check(Self.configuration(Self.watch("a"), Self.watch("c", "rename: b")))
    #expect(!renamed.contains("belongs to no watch"))
  }

  @Test func answersWhenTheNewConfigurationStands() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let door = "http: {listen: $/http.sock}\n"
    let daemon = try DaemonProcess(folder, door + Self.configuration(Self.watch("a")))
    try daemon.write(door + Self.configuration(Self.watch("a"), Self.watch("b")))
    func reload() throws -> (text: String, end: ChildProcess.End) {
      try DaemonProcess.run(["reload", "--config", daemon.configuration])
    }
    let (text, end) = try reload()
    #expect(text == "2 watches, 1 of 1 files open")
    #expect(end == .exited(0))
    // It stands: a client is served at once.
    var model = NoteModel()
    try model.apply(try LineClient(folder.file("b.sock"), "{}\n").json())
    #expect(try model.notes == file.expected)
    try daemon.write(door + "watches: 5\n")
    let (problem, failure) = try reload()
    #expect(problem.contains("watches: needs a list, not '5'"))
    #expect(failure == .exited(1))
    // Another door opens when the one that was asked has answered.
    try daemon.write("http: {listen: $/other.sock}\n" + Self.configuration(Self.watch("a")))
    let request = HTTPClient.Request(
      url: "http://localhost/reload", socketPath: folder.file("http.sock"),
      body: Array("{}".utf8), timeout: .seconds(60))
    #expect(try HTTPClient().perform(request).status == 200)
    try await yieldUntil {
      !folder.names.contains("http.sock") && folder.names.contains("other.sock")
    }
    var status = ""
    while status.isEmpty {
      let found = try DaemonProcess.run(["status", "--config", daemon.configuration])
      if found.end == .exited(0) { status = found.text }
    }
    #expect(status.contains("a      file"))
    daemon.stop()
  }

  /// Nobody waits for the other end of a pipe.
  @Test func opensNoPipeInPlaceOfANote() throws {
    _ = try NoteFile(folder)
    let notes = folder.file("state/running")
    try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
    #expect(mkfifo("\(notes)/test.json", 0o600) == 0)
    let daemon = try DaemonProcess(
      folder, "http: {listen: $/http.sock}\n" + Self.configuration(Self.watch("a")))
    #expect(daemon.errors.contains("test.json is not a file: remove it"))
    let (_, end) = try DaemonProcess.run(["status", "--config", daemon.configuration])
    #expect(end == .exited(0))
    #expect(daemon.stop() == .exited(0))
  }

  /// The running daemon is asked at the address that it has, and not at the one that it is to get.
  @Test func findsTheDaemonAtItsFormerAddress() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    func text(_ door: String, _ watches: String...) -> String {
      door + "watches:\n" + watches.joined()
    }
    let daemon = try DaemonProcess(
      folder, text("http: {listen: $/http.sock}\n", Self.watch("a")))
    func reload() throws -> (text: String, end: ChildProcess.End) {
      try DaemonProcess.run(["reload", "--config", daemon.configuration])
    }
    // Another address, none, and one again.
    for (name, door) in [
      ("b", "http: {listen: $/other.sock}\n"), ("c", ""), ("d", "http: {listen: $/last.sock}\n"),
    ] {
      try daemon.write(text(door, Self.watch(name)))
      let (said, end) = try reload()
      #expect(end == .exited(0), "\(said)")
      try await yieldUntil {
        try NoteModel(file: folder.file("\(name).jsonl")).notes == [1: "one 0"]
      }
      let socket = door.isEmpty ? nil : "\(name == "b" ? "other" : "last").sock"
      try await yieldUntil {
        folder.names.filter { ["http.sock", "other.sock", "last.sock"].contains($0) }
          == (socket.map { [$0] } ?? [])
      }
    }
    // What cannot change while it runs.
    try daemon.write("name: other\n" + text("http: {listen: $/last.sock}\n", Self.watch("d")))
    for _ in 0..<2 {
      let (said, end) = try reload()
      #expect(end == .exited(1))
      #expect(said.hasSuffix("files open\n'name' takes effect at the next start"), "\(said)")
    }
    #expect(daemon.stop() == .exited(0))
    #expect(folder.names.contains("state"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.file("state/running")) == [])
  }

  @Test func namesTheSocketOfADaemonThatDoesNotRun() throws {
    let path = folder.file("none.sock")
    let text = "http: {listen: \(path)}\nwatches:\n" + Self.watch("a")
    let configuration = try folder.file(
      "watch.yaml", Array(text.replacingOccurrences(of: "$", with: folder.path).utf8))
    let errors = folder.file("errors")
    for action in ["reload", "status"] {
      let run = try ChildProcess(
        OwnProgram.sibling("tarn-daemon"), [action, "--config", configuration], errors: errors)
      #expect(run.finish().end == .exited(1))
      let said = try String(contentsOfFile: errors, encoding: .utf8)
      #expect(said.contains("does not answer at \(path): there is no such socket"), "\(said)")
    }
  }

  /// Whoever waits for the end of a reload can use what it has changed.
  @Test func isReadyWhenTheChangesHold() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, Self.configuration(Self.watch("a")))
    for door in ["http", "other"] {
      try daemon.reload(
        "http: {listen: $/\(door).sock, mode: 0660}\n" + Self.configuration(Self.watch("a")))
      let (_, end) = try DaemonProcess.run(["status", "--config", daemon.configuration])
      #expect(end == .exited(0))
    }
    // Another mode of the same socket.
    try daemon.reload("http: {listen: $/other.sock}\n" + Self.configuration(Self.watch("a")))
    var facts = stat()
    #expect(stat(folder.file("other.sock"), &facts) == 0)
    #expect(facts.st_mode & 0o777 == 0o600)
    // More commands at the same time.
    let watch = """
        - name: c
          file: $/notes.tarn
          class: Note
          sinks:
            - {name: x, exec: [sh, -c, 'echo >>$/runs; exec sleep 600'], timeout: 1h, grace: 10ms}
            - {name: y, exec: [sh, -c, 'echo >>$/runs; exec sleep 600'], timeout: 1h, grace: 10ms}

      """
    func runs() -> Int { FileManager.default.contents(atPath: folder.file("runs"))?.count ?? 0 }
    try daemon.reload("commands: 1\n" + Self.configuration(watch))
    try await yieldUntil { runs() == 1 }
    try daemon.reload("commands: 2\n" + Self.configuration(watch))
    try await yieldUntil { runs() == 2 }
    #expect(daemon.stop() == .exited(0))
  }

  @Test func answersReloadsOfManyAtOnce() async throws {
    _ = try NoteFile(folder)
    let door = "http: {listen: $/http.sock}\n"
    let daemon = try DaemonProcess(folder, door + Self.configuration(Self.watch("a")))
    let path = folder.file("http.sock")
    try await withThrowingTaskGroup(of: Int.self) { group in
      // More notices than that wait until a service manager reads them.
      for _ in 0..<3 {
        group.addTask {
          let request = HTTPClient.Request(
            url: "http://localhost/reload", socketPath: path, body: Array("{}".utf8),
            timeout: .seconds(60))
          return try HTTPClient().perform(request).status
        }
      }
      for try await status in group { #expect(status == 200) }
    }
    #expect(daemon.stop() == .exited(0))
  }
}
