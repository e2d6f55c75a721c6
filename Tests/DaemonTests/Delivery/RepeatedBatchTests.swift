import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

/// Which batches say that they may have been delivered before.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct RepeatedBatchTests {
  private let folder = TemporaryFolder()

  private func lines() throws -> [JSONValue] {
    var file = LineFile(folder.file("out.jsonl"))
    return try file.next().map { try JSONScanner.value(in: $0) }
  }

  /// Commits that were made after it died were not delivered, however many they are.
  @Test func commitsAfterADeathAreNotRepeated() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      """
      watches:
        - name: notes
          file: $/notes.tarn
          class: Note
          delivery: {every-commit: true}
          sinks: [{file: $/out.jsonl}]
      """)
    func waitForNewest() async throws {
      let newest = Int64(try file.version)
      try await yieldUntil { try lines().last?["version"] == .integer(newest) }
    }
    try await waitForNewest()
    for id in 2...4 { try file.put(id, "two") }
    try await waitForNewest()
    let last = Int64(try file.version)
    daemon.process.signal(SIGKILL)
    daemon.process.wait()
    for id in 5...12 { try file.put(id, "three") }
    try daemon.restart()
    try await waitForNewest()
    let later = try lines().filter { line in
      if case .integer(let from)? = line["from"] { return from >= last }
      return false
    }
    #expect(later.count == 8)
    #expect(later.allSatisfy { $0["repeated"] == nil })
    daemon.stop()
  }

  /// A batch that waits for a slot is not delivered yet.
  @Test func whatWaitedForASlotIsNotRepeated() async throws {
    let file = try NoteFile(folder)
    let script = try folder.file(
      "script",
      Array(
        """
        #!/bin/sh
        cat >/dev/null
        echo "$TARN_VERSION ${TARN_REPEATED:-no}" >>"\(folder.path)/$1"

        """.utf8))
    chmod(script, 0o755)
    let daemon = try DaemonProcess(
      folder,
      """
      commands: 1
      watches:
        - name: notes
          file: $/notes.tarn
          class: Note
          start: newest
          delivery: {every-commit: true}
          sinks:
            - {name: a, exec: [$/script, a], timeout: 1h}
            - {name: b, exec: [$/script, b], timeout: 1h}
            - {name: c, exec: [$/script, c], timeout: 1h}
      """)
    let first = try file.version
    for id in 1...4 { try file.put(id, "note") }
    let expected = (first + 1...first + 4).map { "\($0) no" }
    for name in ["a", "b", "c"] {
      try await yieldUntil { lines(of: name).count >= 4 }
      #expect(lines(of: name) == expected)
    }
    daemon.stop()
  }

  /// A receiver that ignores the keys that it knows must get all objects again, also those of a
  /// version that it had before. A new beginning that is only repeated has its former key.
  @Test func everyBeginningHasAKeyOfItsOwn() async throws {
    let script = try #require(
      Bundle.module.url(forResource: "refuser", withExtension: "py", subdirectory: "Resources"))
    let server = try ChildProcess("python3", [script.path, folder.file("taken"), "500", "poison"])
    let port = try #require(server.line { _ in true })
    func text(_ filter: String) -> String {
      """
      watches:
        - name: notes
          file: $/notes.tarn
          class: Note
          where: count \(filter)
          delivery: {first-retry: 5ms, last-retry: 5ms}
          sinks: [{webhook: 'http://127.0.0.1:\(port)/x'}]
      """
    }
    let file = try NoteFile(folder)
    try file.put(1, "poison")
    let daemon = try DaemonProcess(folder, text("== 0"))
    try await yieldUntil { try requests().count >= 2 }
    try daemon.killAndRestart()
    let count = try requests().count
    try await yieldUntil { try requests().count >= count + 2 }
    #expect(Set(try requests().map(\.key)).count == 1)
    // Nothing is committed meanwhile.
    for filter in ["== 1", "< 0", "== 1"] {
      let count = try taken().count
      try daemon.reload(text(filter))
      try await yieldUntil { try taken().count == count + 1 }
    }
    // The same backup twice.
    daemon.stop()
    let backup = folder.file("backup")
    try FileManager.default.copyItem(atPath: file.path, toPath: backup)
    for _ in 1...2 {
      let count = try taken().count
      try daemon.restart()
      try file.put(2, "lost", count: 1)
      try await yieldUntil { try taken().count == count + 1 }
      daemon.stop()
      unlink(file.path)
      try FileManager.default.copyItem(atPath: backup, toPath: file.path)
      try daemon.restart()
      try await yieldUntil { try taken().count == count + 2 }
      daemon.stop()
    }
    let all = try taken()
    #expect(all.count == 7)
    #expect(all.count { $0.body.contains("fullResync") } == 5)
    #expect(Set(all.map(\.key)).count == 7)
    server.signal(SIGKILL)
  }

  private func requests() throws -> [(key: String, body: String, isTaken: Bool)] {
    var file = LineFile(folder.file("taken.all"))
    return try file.next().map { line in
      let json = try JSONScanner.value(in: line)
      guard case .string(let key)? = json["key"], case .string(let body)? = json["body"] else {
        throw ToolError("not a request: \(line)")
      }
      return (key, body, json["taken"] == .bool(true))
    }
  }

  private func taken() throws -> [(key: String, body: String, isTaken: Bool)] {
    try requests().filter(\.isTaken)
  }

  private func lines(of name: String) -> [String] {
    FileManager.default.contents(atPath: folder.file(name)).map {
      String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init)
    } ?? []
  }
}
