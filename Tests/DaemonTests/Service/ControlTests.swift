import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// What an operator does with a sink of a running daemon.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct ControlTests {
  private let folder = TemporaryFolder()

  private func configuration(_ sink: String, _ extra: String = "") -> String {
    """
    http: {listen: $/http.sock}
    watches:
      - name: notes
        file: $/notes.tarn
        class: Note\(extra)
        delivery: {first-retry: 5ms, last-retry: 10ms}
        sinks: [\(sink), {socket: $/notes.sock}]
    """
  }

  private func ask(_ words: String..., of daemon: DaemonProcess) throws -> String {
    let (text, end) = try DaemonProcess.run(words + ["--config", daemon.configuration])
    #expect(end == .exited(0), "\(words)")
    return text
  }

  private func fails(_ words: String..., of daemon: DaemonProcess) throws -> String {
    let errors = folder.file("asked-errors")
    let run = try ChildProcess(
      OwnProgram.sibling("tarn-daemon"), words + ["--config", daemon.configuration], errors: errors)
    #expect(run.finish().end == .exited(1), "\(words)")
    return try String(contentsOfFile: errors, encoding: .utf8)
  }

  private func status(_ key: String, of daemon: DaemonProcess) throws -> JSONValue? {
    let json = try JSONScanner.value(in: ask("status", "--json", of: daemon))
    guard case .array(let sinks)? = json["sinks"] else { return nil }
    return sinks.first { $0["sink"] != .string("socket") }?[key]
  }

  private var model: NoteModel { get throws { try NoteModel(file: folder.file("out.jsonl")) } }

  @Test func aPauseLastsUntilItIsResumed() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, configuration("{file: $/out.jsonl}"))
    try await yieldUntil { try model.lines == 1 }
    #expect(try ask("pause", "notes", "file", of: daemon) == "paused until it is resumed")
    try file.put(2, "two")
    let line = try LineClient(folder.file("notes.sock"), "{}\n").json()
    #expect(line["version"] == .integer(Int64(try file.version)))
    #expect(try status("paused", of: daemon) == .bool(true))
    #expect(try status("behind", of: daemon) == .integer(1))
    // Another start and another configuration change nothing about it.
    try daemon.killAndRestart()
    try daemon.reload(configuration("{file: $/out.jsonl}", "\n    keep: 1d"))
    try file.put(3, "three")
    #expect(try status("paused", of: daemon) == .bool(true))
    #expect(try model.lines == 1)
    #expect(try ask("resume", "notes", "file", of: daemon) == "resumed")
    let expected = try file.expected
    try await yieldUntil { try model.notes == expected }
    #expect(try model.lines == 2)
    #expect(try status("paused", of: daemon) == .bool(false))
    #expect(daemon.stop() == .exited(0))
  }

  /// Else a misspelt name of a file would drop the changes of all files.
  @Test func refusesAnActionThatItDoesNotUnderstandAsAWhole() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, configuration("{exec: [/bin/false]}"))
    try await yieldUntil { daemon.errors.contains("exited with 1") }
    for (query, body) in [
      ("?fiel=/a", ""), ("?file=/a&all=1", ""), ("", #"{"file":"/a"}"#), ("", "{}"),
    ] {
      let answer = try HTTPClient().perform(
        .init(
          url: "http://localhost/watches/notes/sinks/exec/skip\(query)",
          socketPath: folder.file("http.sock"), body: Array(body.utf8), timeout: .seconds(60)))
      #expect(answer.status == 400, "\(query) \(body)")
    }
    #expect(try status("skipped", of: daemon) != .integer(1))
    #expect(daemon.stop() == .exited(0))
  }

  /// What a sink lacks when that is asked for is dropped, and nothing after it.
  @Test func skipsWhatASinkLacks() async throws {
    let script = try folder.file(
      "script",
      Array("#!/bin/sh\ntest -e \(folder.path)/go && exec cat >>\(folder.path)/out.jsonl\n".utf8))
    chmod(script, 0o755)
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, configuration("{exec: [$/script], timeout: 1h}"))
    try await yieldUntil { daemon.errors.contains("exited with 1") }
    #expect(try status("failingSince", of: daemon) != .null)
    _ = try ask("pause", "notes", "exec", of: daemon)
    // Any name of the file; that of a relative path begins in the working folder.
    let working = FileManager.default.currentDirectoryPath.split(separator: "/")
    let relative = String(repeating: "../", count: working.count) + file.path.dropFirst()
    let name = (folder.path as NSString).lastPathComponent
    for path in [relative, folder.file("../\(name)/./notes.tarn"), file.path] {
      _ = try ask("skip", "notes", "exec", "--file", path, of: daemon)
    }
    try await yieldUntil { try status("skipped", of: daemon) == .integer(1) }
    #expect(try status("failingSince", of: daemon) == .null)
    try file.put(2, "two")
    _ = try folder.file("go", [])
    _ = try ask("resume", "notes", "exec", of: daemon)
    try await yieldUntil { try model.notes == [2: "two 0"] }
    #expect(try model.beginnings == [])
    #expect(
      try fails("skip", "notes", "exec", "--file", "/no", of: daemon).contains("no such file"))
    daemon.stop()
  }

  @Test(arguments: ["snapshot", "newest"])
  func sendsAllObjectsAgain(_ start: String) async throws {
    let file = try NoteFile(folder)
    for id in 1...3 { try file.put(id, "n") }
    let daemon = try DaemonProcess(
      folder, configuration("{file: $/out.jsonl}", "\n    start: \(start)"))
    try file.put(4, "four")
    try await yieldUntil { try model.notes[4] == "four 0" }
    let lines = try model.lines
    _ = try ask("resend", "notes", "file", of: daemon)
    let expected = try file.expected
    try await yieldUntil { try model.notes == expected && model.lines > lines }
    #expect(try model.beginnings.last == "snapshot")
    try file.put(5, "five")
    try await yieldUntil { try model.notes == file.expected }
    #expect(daemon.stop() == .exited(0))
  }

  /// What is asked for outlives a daemon that ends before it can do it.
  @Test(arguments: ["resend", "skip"])
  func doesWhatItWasAskedForAfterAnotherStart(_ action: String) async throws {
    let file = try NoteFile(folder)
    for id in 1...3 { try file.put(id, "n") }
    let daemon = try DaemonProcess(folder, configuration("{file: $/out.jsonl}"))
    try await yieldUntil { try model.lines == 1 }
    _ = try ask("pause", "notes", "file", of: daemon)
    try file.put(4, "four")
    try file.holding {
      // The daemon can change nothing in the file.
      _ = try ask(action, "notes", "file", of: daemon)
      daemon.process.signal(SIGKILL)
      daemon.process.wait()
    }
    try daemon.restart()
    _ = try ask("resume", "notes", "file", of: daemon)
    try file.put(5, "five")
    let expected = try file.expected
    try await yieldUntil { try model.notes[5] == expected[5] }
    #expect(try model.notes[4] == (action == "resend" ? "four 0" : nil))
    #expect(try model.beginnings == (action == "resend" ? ["snapshot", "snapshot"] : ["snapshot"]))
    // It is done once.
    let lines = try model.lines
    #expect(daemon.stop() == .exited(0))
    try daemon.restart()
    try file.put(6, "six")
    try await yieldUntil { try model.notes[6] == "six 0" }
    #expect(try model.lines == lines + 1)
    #expect(daemon.stop() == .exited(0))
  }

  @Test func triesAReceiver() async throws {
    let script = try #require(
      Bundle.module.url(forResource: "refuser", withExtension: "py", subdirectory: "Resources"))
    let server = try ChildProcess(
      "python3", [script.path, folder.file("taken"), "403", "shop"])
    let port = try #require(server.line { _ in true })
    let command = try folder.file(
      "script",
      Array("#!/bin/sh\necho \"$TARN_TEST\"\nexec cat >>\(folder.path)/tried\n".utf8))
    chmod(command, 0o755)
    let text = configuration("{webhook: 'http://127.0.0.1:\(port)/x'}, {exec: [$/script]}")
    // The watch has no file yet, so that nothing else is sent.
    let daemon = try DaemonProcess(
      folder,
      text + "\n"
        + text.split(separator: "\n").dropFirst(2).joined(separator: "\n")
        .replacingOccurrences(of: "name: notes", with: "name: shop")
        .replacingOccurrences(of: "notes.sock", with: "shop.sock"))
    #expect(try ask("try", "notes", "webhook", of: daemon) == "127.0.0.1:\(port) took it")
    let lines = try String(contentsOfFile: folder.file("taken"), encoding: .utf8)
    #expect(
      lines
        == "{\"watch\":\"notes\",\"file\":\"\(folder.file("notes.tarn"))\",\"class\":\"Note\","
        + "\"test\":true}\n")
    let refusal = try fails("try", "shop", "webhook", of: daemon)
    #expect(refusal.contains("127.0.0.1:\(port) answered 403: no shop"), "\(refusal)")
    #expect(try ask("try", "notes", "exec", of: daemon) == "\(folder.path)/script exited with 0")
    #expect(try String(contentsOfFile: folder.file("tried"), encoding: .utf8) == lines)
    for (words, reason) in [
      (("try", "notes", "socket"), "serves clients"), (("try", "notes", "no"), "has no sink 'no'"),
      (("pause", "no", "webhook"), "there is no watch 'no'"),
    ] {
      #expect(try fails(words.0, words.1, words.2, of: daemon).contains(reason))
    }
    // As a part of an address it would lead to the watch.
    let folded = ["pause", "notes/../notes", "webhook", "--config", daemon.configuration]
    #expect(try DaemonProcess.run(folded).end == .exited(2))
    daemon.stop()
    server.signal(SIGKILL)
  }

  /// An operator can stop a sink before the configuration is mended.
  @Test func asksTheDaemonWhileTheConfigurationIsBroken() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(folder, configuration("{file: $/out.jsonl}"))
    for text in ["watches: [", "whatches: []", "http: {listen: nowhere}\nwatches: []"] {
      try daemon.write(text)
      #expect(try ask("pause", "notes", "file", of: daemon) == "paused until it is resumed")
      #expect(try status("paused", of: daemon) == .bool(true))
      #expect(try ask("resume", "notes", "file", of: daemon) == "resumed")
      #expect(try status("paused", of: daemon) == .bool(false))
      let reload = ["reload", "--config", daemon.configuration]
      #expect(try DaemonProcess.run(reload).end == .exited(1))
    }
    // Nothing shows where it runs.
    try daemon.write(DaemonProcess.withoutState + "watches: [")
    let refusal = try fails("status", of: daemon)
    #expect(refusal.contains("watch.yaml:"), "\(refusal)")
    #expect(refusal.contains("give --config a file with the key 'http'"), "\(refusal)")
    try daemon.write(DaemonProcess.withoutState + "http: {listen: $/http.sock}")
    #expect(try status("paused", of: daemon) == .bool(false))
    #expect(daemon.stop() == .exited(0))
  }

  /// Output that cannot be written is a failure.
  @Test(arguments: ["check", "status", "--schema", "--help", "reload"])
  func fillsADisk(_ action: String) throws {
    let daemon = try DaemonProcess(folder, configuration("{file: $/out.jsonl}"))
    let words = [action] + (action.hasPrefix("-") ? [] : ["--config", daemon.configuration])
    let errors = folder.file("asked-errors")
    let script = "exec \"$0\" \"$@\" >/dev/full"
    let run = try ChildProcess(
      "sh", ["-c", script, OwnProgram.sibling("tarn-daemon")] + words, errors: errors)
    #expect(run.finish().end == .exited(1))
    let text = try String(contentsOfFile: errors, encoding: .utf8)
    #expect(text == "tarn: cannot write to standard output: No space left on device\n")
    #expect(daemon.stop() == .exited(0))
  }

  /// A test delivery that takes long holds up neither the daemon nor its end.
  @Test func endsDuringATestDelivery() async throws {
    let command = try folder.file(
      "script", Array("#!/bin/sh\necho >>\(folder.path)/tried\nexec sleep 600\n".utf8))
    chmod(command, 0o755)
    let daemon = try DaemonProcess(folder, configuration("{exec: [$/script], timeout: 1h}"))
    let asked = try ChildProcess(
      OwnProgram.sibling("tarn-daemon"),
      ["try", "notes", "exec", "--config", daemon.configuration],
      errors: folder.file("asked-errors"))
    try await yieldUntil { folder.names.contains("tried") }
    #expect(try status("paused", of: daemon) == nil)
    #expect(daemon.stop() == .exited(0))
    #expect(asked.finish().end == .exited(1))
  }
}
