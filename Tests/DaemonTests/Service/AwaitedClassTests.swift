import Foundation
import Tarn
import TarnText
import TestSupport
import Testing
import ToolSupport

/// Classes that a store does not have yet.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct AwaitedClassTests {
  final class Later: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text: String
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  private let folder = TemporaryFolder()

  private func putLater(_ id: Int) throws {
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("notes.tarn")),
      objectTypes: [Note.self, Later.self])
    configuration.durability = .relaxed
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.create(Later.self, value: ["id": id, "text": "late"], update: .all) }
  }

  private func sinks(_ daemon: DaemonProcess) throws -> [String: JSONValue] {
    let (text, _) = try DaemonProcess.run(["status", "--json", "--config", daemon.configuration])
    let status = try JSONScanner.value(in: text)
    #expect(status["healthy"] == .bool(true), "\(text)")
    guard case .array(let sinks)? = status["sinks"] else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: sinks.map { sink in
        (JSONText.text(sink["watch"] ?? .null), sink["waiting"] ?? .null)
      })
  }

  private func lines(_ name: String) throws -> [JSONValue] {
    var file = LineFile(folder.file(name))
    return try file.next().map { try JSONScanner.value(in: $0) }
  }

  /// The keys of a class that a consumer of the lines has.
  private func keys(_ lines: [JSONValue], _ name: String) -> [String] {
    var keys: [String] = []
    for line in lines {
      if line["fullResync"] != nil { keys = [] }
      guard line["class"] == .string(name) else { continue }
      for kind in ["objects", "inserted"] {
        guard case .array(let objects)? = line[kind] else { continue }
        keys += objects.map { JSONText.text($0["key"] ?? .null) }
      }
    }
    return keys
  }

  /// They are waited for, which is no failure, and the other classes of a watch are delivered.
  @Test func areWaitedFor() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      """
      http: {listen: $/http.sock}
      watches:
        - {name: one, file: $/notes.tarn, class: Later, start: newest, sinks: [{file: $/one}]}
        - {name: two, file: $/notes.tarn, classes: [Note, Later], sinks: [{file: $/two}]}
        - {name: client, file: $/notes.tarn, class: Later, sinks: [{socket: $/s.sock}]}
      """)
    try await yieldUntil { try self.lines("two").count == 1 }
    #expect(try lines("two").map { $0["more"] } == [nil])
    #expect(try keys(lines("two"), "Note") == ["1"])
    let waiting = JSONValue.string("waiting for the class 'Later'")
    #expect(try sinks(daemon) == [#""one""#: waiting, #""two""#: waiting, #""client""#: waiting])
    let client = try LineClient(folder.file("s.sock"), "{}\n")
    try putLater(7)
    var told: [JSONValue] = []
    while keys(told, "Later") != ["7"] { told.append(try client.json()) }
    for name in ["one", "two"] {
      try await yieldUntil { try self.keys(self.lines(name), "Later") == ["7"] }
    }
    #expect(try keys(lines("two"), "Note") == ["1"])
    #expect(
      try lines("two").compactMap { $0["fullResync"] } == [
        .string("snapshot"), .string("selection"),
      ])
    #expect(try sinks(daemon).values.allSatisfy { $0 == .null })
    daemon.stop()
  }
}
