import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// Receivers that refuse some objects, and the file for these.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct DeadLetterTests {
  private let folder = TemporaryFolder()

  private func refuser(_ arguments: String...) throws -> (ChildProcess, port: String) {
    let script = try #require(
      Bundle.module.url(forResource: "refuser", withExtension: "py", subdirectory: "Resources"))
    let process = try ChildProcess("python3", [script.path, folder.file("taken")] + arguments)
    return (process, try #require(process.line { _ in true }))
  }

  private func configuration(_ sink: String, _ extra: String = "") -> String {
    """
    watches:
      - name: notes
        file: $/notes.tarn
        class: Note
        \(extra)
        delivery: {first-retry: 5ms, last-retry: 10ms}
        sinks:
          - \(sink)
    """
  }

  private func letters() throws -> [JSONValue] {
    var file = LineFile(folder.file("dead"))
    return try file.next().map { try JSONScanner.value(in: $0) }
  }

  private func texts(_ letters: [JSONValue]) -> [String] {
    letters.compactMap { letter in
      let batch = letter["batch"]
      for kind in ["objects", "inserted", "modified"] {
        if case .array(let items)? = batch?[kind], let item = items.first,
          case .string(let text)? = item["new"]?["text"]
        {
          return text
        }
      }
      return nil
    }
  }

  /// The notes that a receiver may have.
  private func expected(_ file: NoteFile) throws -> [Int: String] {
    try file.expected.filter { !$0.value.contains("poison") }
  }

  /// Of all that was written while the daemon was away, only the refused objects are given up, at
  /// once with an answer that stays, after some attempts with another.
  @Test(arguments: [("400", 1), ("422", 1), ("500", 3), ("429", 3)])
  func givesUpRefusedObjects(_ status: String, _ attempts: Int) async throws {
    let (server, port) = try refuser(status, "poison")
    let file = try NoteFile(folder)
    try file.put(0, "first")
    let text = configuration(
      "{webhook: 'http://127.0.0.1:\(port)/x', dead-letters: {file: $/dead, after: 3}}")
    let daemon = try DaemonProcess(folder, "http: {listen: $/http.sock}\n" + text)
    try await yieldUntil { try NoteModel(file: folder.file("taken")).notes == file.expected }
    daemon.stop()
    for id in 1...4 { try file.put(id, "n") }
    try file.putAll([5: "a", 6: "poison 6", 7: "b", 8: "poison 8"])
    for id in 9...11 { try file.put(id, id == 10 ? "poison 10" : "c") }
    try daemon.restart()
    let expected = try expected(file)
    try await yieldUntil { try NoteModel(file: folder.file("taken")).notes == expected }
    try await yieldUntil { try self.letters().count == 3 }
    let letters = try self.letters()
    #expect(texts(letters) == ["poison 6", "poison 8", "poison 10"])
    for letter in letters {
      #expect(letter["status"] == .integer(Int64(status)!))
      #expect(letter["answer"] == .string("no poison"))
      #expect(letter["attempts"] == .integer(Int64(attempts)))
      #expect(letter["sink"] == .string("webhook"))
      #expect(letter["reason"] == .string("127.0.0.1:\(port) answered \(status)"))
    }
    // Later changes are one batch again.
    daemon.process.signal(SIGSTOP)
    for id in 20...29 { try file.put(id, "late") }
    daemon.process.signal(SIGCONT)
    let all = try self.expected(file)
    try await yieldUntil { try NoteModel(file: folder.file("taken")).notes == all }
    // The receiver has them before its answer is here.
    try await yieldUntil {
      let report = try DaemonProcess.run(["status", "--json", "--config", daemon.configuration])
      guard case .array(let sinks)? = try JSONScanner.value(in: report.text)["sinks"] else {
        throw ToolError("no sinks: \(report.text)")
      }
      return sinks.first?["deadLetters"] == .integer(3) && sinks.first?["failingSince"] == .null
    }
    #expect(!daemon.errors.contains("poison"))
    #expect(daemon.stop() == .exited(0))
    server.signal(SIGKILL)
  }

  /// A new beginning reaches the receiver, also if its first object is refused.
  @Test func aNewBeginningIsNeverGivenUp() async throws {
    let (server, port) = try refuser("400", "poison")
    let file = try NoteFile(folder)
    for id in 0..<6 { try file.put(id, id == 0 || id == 5 ? "poison" : "n") }
    let daemon = try DaemonProcess(
      folder,
      configuration("{webhook: 'http://127.0.0.1:\(port)/x', dead-letters: $/dead}"))
    let expected = try expected(file)
    try await yieldUntil { try NoteModel(file: folder.file("taken")).notes == expected }
    let model = try NoteModel(file: folder.file("taken"))
    #expect(model.beginnings == ["snapshot"])
    try await yieldUntil { try letters().count == 2 }
    daemon.stop()
    server.signal(SIGKILL)
  }

  /// An answer that asks to wait says nothing of the batch.
  @Test func aReceiverThatIsBusyRefusesNothing() async throws {
    let (server, port) = try refuser("400", "poison", "1")
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      configuration(
        "{webhook: 'http://127.0.0.1:\(port)/x', dead-letters: {file: $/dead, after: 1}}"))
    try await yieldUntil { try NoteModel(file: folder.file("taken")).notes == file.expected }
    #expect(try letters().isEmpty)
    daemon.stop()
    server.signal(SIGKILL)
  }

  @Test(arguments: [65, 3])
  func givesUpWhatAProgramRefuses(_ status: Int) async throws {
    let script = """
      #!/bin/sh
      cat >$0.line
      if grep -q poison $0.line; then echo no; exit \(status); fi
      cat $0.line >>\(folder.path)/taken
      """
    chmod(try folder.file("script", Array(script.utf8)), 0o755)
    let file = try NoteFile(folder)
    for id in 0..<4 { try file.put(id, id == 2 ? "poison" : "n") }
    let daemon = try DaemonProcess(
      folder,
      configuration("{exec: [$/script], timeout: 1h, dead-letters: {file: $/dead, after: 2}}"))
    let expected = try expected(file)
    try await yieldUntil { try NoteModel(file: folder.file("taken")).notes == expected }
    try file.put(2, "cured")
    try file.put(3, "poison")
    let cured = try self.expected(file).merging([3: "n 0"]) { $1 }
    try await yieldUntil { try letters().count == 2 }
    try await yieldUntil { try NoteModel(file: folder.file("taken")).notes == cured }
    for letter in try letters() {
      #expect(letter["status"] == .integer(Int64(status)))
      #expect(letter["answer"] == .string("no\n"))
      #expect(letter["attempts"] == .integer(status == 65 ? 1 : 2))
    }
    daemon.stop()
  }

  /// A file that cannot be written loses nothing.
  @Test func waitsForTheFile() async throws {
    let (server, port) = try refuser("400", "poison")
    let file = try NoteFile(folder)
    try file.put(1, "poison")
    mkdir(folder.file("dead"), 0o700)
    let daemon = try DaemonProcess(
      folder,
      configuration("{webhook: 'http://127.0.0.1:\(port)/x', dead-letters: $/dead}"))
    try await yieldUntil { daemon.errors.contains("cannot write \(folder.path)/dead") }
    rmdir(folder.file("dead"))
    try await yieldUntil { try letters().count == 1 }
    try file.put(2, "two")
    try await yieldUntil { try NoteModel(file: folder.file("taken")).notes[2] == "two 0" }
    daemon.stop()
    server.signal(SIGKILL)
  }
}
