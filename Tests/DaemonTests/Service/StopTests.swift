import Foundation
import Tarn
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// The end of a daemon, which takes 5 seconds at most.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct StopTests {
  private let folder = TemporaryFolder()

  /// Each of them has three seconds; all have the same three.
  @Test func commandsThatIgnoreSignalsEndTogether() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let script = try folder.file(
      "script",
      Array("#!/bin/sh\ntrap '' TERM\necho >>\(folder.path)/runs\nexec sleep 600\n".utf8))
    chmod(script, 0o755)
    let sinks = (1...12).map { "{name: s\($0), exec: [$/script], timeout: 1h, grace: 3s}" }
    let watch = "{name: a, file: $/notes.tarn, class: Note"
    let daemon = try DaemonProcess(
      folder, "watches: [\(watch), sinks: [\(sinks.joined(separator: ", "))]}]")
    try await yieldUntil {
      FileManager.default.contents(atPath: folder.file("runs"))?.count == 12
    }
    let begin = ContinuousClock.now
    #expect(daemon.stop() == .exited(0))
    // One after another on two cores they would take 18 s.
    #expect(ContinuousClock.now - begin < .seconds(12))
  }

  /// An acknowledgement waits for the writer; its batch is delivered again.
  @Test func aWriterDoesNotHoldUpTheEnd() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      "watches: [{name: a, file: $/notes.tarn, class: Note, sinks: [{file: $/out.jsonl}]}]")
    func model() throws -> NoteModel { try NoteModel(file: folder.file("out.jsonl")) }
    try await yieldUntil { try model().version == 1 }
    try file.put(2, "two")
    try await yieldUntil { try model().version == 2 }
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: file.path), objectTypes: [Note.self], durability: .relaxed)
    try writing(configuration) { #expect(daemon.stop() == .exited(0)) }
    try daemon.restart()
    try file.put(3, "three")
    try await yieldUntil { try model().version >= 3 }
    #expect(try model().notes == file.expected)
    daemon.stop()
  }

  /// A daemon that ends while it starts opens no more stores.
  @Test func opensNothingAfterTheSignal() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let text = """
      state: $/state
      http: {listen: $/http.sock}
      watches: [{name: a, file: $/*.tarn, class: Note, sinks: [{file: $/out.jsonl}]}]
      """
    let path = try folder.file(
      "watch.yaml", Array(text.replacingOccurrences(of: "$", with: folder.path).utf8))
    let daemon = try Daemon(ConfigurationFiles(path), DaemonLog(upTo: .error))
    daemon.stopSoon()
    #expect(try daemon.start() == nil)
    #expect(daemon.hasStopped)
    daemon.stop()
    #expect(try DaemonTestStore.cursors(file.path) == [])
    #expect(!folder.names.contains("out.jsonl"))
    #expect(!folder.names.contains("http.sock"))
  }

  /// Those that wait for a file are not held up by it.
  @Test func nobodyWaitsForFilesAfterTheSignal() throws {
    let table = FileTable()
    table.closeSoon()
    let listener = NoListener()
    let group = table.add(folder.file("notes.tarn"), listener)
    #expect(group.wait(timeout: .now()) == .success)
    table.remove(listener)
    #expect(table.files.isEmpty)
  }

  private final class NoListener: FileTable.Listener {
    func begin(_ file: OpenFile) { Issue.record("began \(file.path)") }
    func end(_ path: String) {}
    func isWaiting(for path: String, _ reason: String) { Issue.record("waits for \(path)") }
  }

  private func writing(_ configuration: Realm.Configuration, _ body: () -> Void) throws {
    let realm = try Realm(configuration: configuration)
    realm.beginWrite()
    body()
    realm.cancelWrite()
  }
}
