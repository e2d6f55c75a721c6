import Foundation
import TarnText
import TestSupport
import Testing
import ToolSupport

/// Which batches say that they may have been delivered before.
@Suite(.timeLimit(.minutes(30)))
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

  private func lines(of name: String) -> [String] {
    FileManager.default.contents(atPath: folder.file(name)).map {
      String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init)
    } ?? []
  }
}
