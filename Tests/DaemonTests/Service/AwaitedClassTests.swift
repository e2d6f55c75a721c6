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

  /// A file that replaces another one, or an older backup, may lack the class: receivers need to
  /// know that the objects that they have are gone.
  @Test func areWaitedForAfterAResync() async throws {
    let file = try NoteFile(folder)
    try file.putAll([1: "one", 2: "two"])
    let daemon = try DaemonProcess(
      folder,
      """
      http: {listen: $/http.sock}
      watches:
        - name: notes
          file: $/notes.tarn
          class: Note
          sinks: [{file: $/out}, {socket: $/s.sock}, {events: true}]
      """)
    func model() throws -> NoteModel { try NoteModel(file: folder.file("out")) }
    try await yieldUntil { try model().notes == file.expected }
    let first = try LineClient(folder.file("s.sock"), "{}\n").json()
    guard case .string(let position)? = first["position"] else { throw ToolError("\(first)") }
    daemon.stop()
    for companion in ["", "-lock", "-signal"] { unlink(file.path + companion) }
    try putLaterAlone(7)
    try daemon.restart()
    try await yieldUntil { try model().notes.isEmpty }
    // The cursor in the new file is new, but the receiver has a position in the former one.
    #expect(try model().beginnings == ["snapshot", "restored"])
    let request = #"{"from":"\#(position)"}"# + "\n"
    let client = try LineClient(folder.file("s.sock"), request)
    let events = try LineClient(
      folder.file("http.sock"),
      "GET /watches/notes/events HTTP/1.0\r\nLast-Event-ID: \(position)\r\n\r\n")
    for line in [try client.json(), try event(events)] {
      #expect(line["fullResync"] == .string("restored"))
      #expect(line["objects"] == .array([]))
    }
    // It is a position of the new file.
    daemon.stop()
    try daemon.restart()
    let again = try LineClient(folder.file("s.sock"), request)
    #expect(try again.json()["fullResync"] == .string("restored"))
    try NoteFile(folder).put(8, "eight")
    let expected = try NoteFile(folder).expected
    try await yieldUntil { try model().notes == expected }
    var copy = NoteModel()
    while copy.notes != expected { try copy.apply(again.json()) }
    #expect(daemon.stop() == .exited(0))
  }

  private func event(_ client: LineClient) throws -> JSONValue {
    while let line = try client.line() {
      if line.hasPrefix("data: ") { return try JSONScanner.value(in: String(line.dropFirst(6))) }
    }
    throw ToolError("the stream has ended")
  }

  private func putLaterAlone(_ id: Int) throws {
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("notes.tarn")), objectTypes: [Later.self])
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
