import Foundation
import Tarn
import TarnText
import TestSupport
import Testing
import ToolSupport

/// Watches of several classes.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct SeveralClassesTests {
  final class Label: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text: String
    @Persisted var note: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  private let folder = TemporaryFolder()

  private var realm: Realm {
    get throws {
      var configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder.file("both.tarn")),
        objectTypes: [Note.self, Label.self])
      configuration.durability = .relaxed
      return try Realm(configuration: configuration)
    }
  }

  /// A label and its note, in one commit.
  private func put(_ id: Int, _ text: String) throws {
    let realm = try realm
    try realm.write {
      realm.create(Note.self, value: ["id": id, "text": text, "count": id], update: .all)
      realm.create(Label.self, value: ["id": id, "text": text, "note": id], update: .all)
    }
  }

  private static let classes = "Label, {class: Note, where: count > 0, columns: [text]}"

  private func configuration(
    _ sink: String, _ extra: String = "", classes: String = Self.classes
  ) -> String {
    """
    watches:
      - name: both
        file: $/both.tarn
        classes: [\(classes)]
        delivery: {first-retry: 5ms, last-retry: 10ms\(extra)}
        sinks: [\(sink)]
    """
  }

  /// What a consumer of lines has of each class.
  private struct Model {
    private(set) var objects: [String: [String: String]] = [:]
    private(set) var lines: [JSONValue] = []

    init(_ path: String) throws {
      var file = LineFile(path)
      for text in try file.next() {
        let line = try JSONScanner.value(in: text)
        lines.append(line)
        guard case .string(let name)? = line["class"] else { continue }
        if line["fullResync"] != nil { objects = [:] }
        if line["cleared"] != nil { objects[name] = [:] }
        let kinds = [
          "objects", "inserted", "entered", "replaced", "modified", "deleted", "left", "gone",
        ]
        for kind in kinds {
          guard case .array(let items)? = line[kind] else { continue }
          for item in items {
            let key = JSONText.text(item["key"] ?? .null)
            var text: String?
            if case .string(let found)? = item["new"]?["text"] { text = found }
            objects[name, default: [:]][key] = text
          }
        }
      }
    }

    /// The numbers and the classes of the parts.
    var parts: [String] {
      lines.map { line in
        let part = line["part"].map { JSONText.text($0) } ?? "-"
        let name = line["class"].map { JSONText.text($0) } ?? ""
        return "\(part) \(name)\(line["more"] == nil ? "" : " more")"
      }
    }
  }

  private func expected() throws -> [String: [String: String]] {
    let realm = try realm
    func texts(_ pairs: [(Int, String)]) -> [String: String] {
      Dictionary(uniqueKeysWithValues: pairs.map { ("\($0.0)", $0.1) })
    }
    return [
      "Label": texts(realm.objects(Label.self).map { ($0.id, $0.text) }),
      "Note": texts(realm.objects(Note.self).filter { $0.count > 0 }.map { ($0.id, $0.text) }),
    ]
  }

  @Test func deliversClassesAsPartsOfABatch() async throws {
    try put(0, "zero")
    try put(1, "one")
    let daemon = try DaemonProcess(
      folder, configuration("{file: $/out.jsonl}", ", every-commit: true"))
    let output = folder.file("out.jsonl")
    try await yieldUntil { try Model(output).lines.count == 2 }
    try put(2, "two")
    let realm = try realm
    try realm.write { realm.object(ofType: Label.self, forPrimaryKey: 1)!.text = "other" }
    try realm.write { realm.delete(realm.objects(Label.self)) }
    try put(3, "three")
    let wanted = try expected()
    try await yieldUntil { try Model(output).objects == wanted }
    let model = try Model(output)
    #expect(
      model.parts == [
        "1 \"Label\" more", "2 \"Note\"", "1 \"Label\" more", "2 \"Note\"", "- \"Label\"",
        "- \"Label\"", "1 \"Label\" more", "2 \"Note\"",
      ])
    let line = try #require(model.lines.first)
    #expect(line["fullResync"] == .string("snapshot"))
    #expect(line["position"] == nil)
    #expect(model.lines.allSatisfy { ($0["position"] == nil) == ($0["more"] != nil) })
    #expect(model.lines.filter { $0["fullResync"] != nil }.count == 1)
    // Both lines of a commit have its version.
    #expect(model.lines[2]["version"] == model.lines[3]["version"])
    #expect(daemon.stop() == .exited(0))
  }

  /// Whatever is written, and however often the daemon is killed.
  @Test(.serialized, arguments: Seeds.of(1...20, first: 3))
  func nothingIsLost(_ seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    try put(0, "first")
    let script = try folder.file(
      "script", Array("#!/bin/sh\nexec cat >>\(folder.path)/out.jsonl\n".utf8))
    chmod(script, 0o755)
    let daemon = try DaemonProcess(folder, configuration("{exec: [$/script], timeout: 1h}"))
    let realm = try realm
    for _ in 0..<Seeds.rounds(12, few: 4) {
      for _ in 0..<random.below(10) {
        let id = random.below(8)
        switch random.below(4) {
        case 0: try put(id, "t\(random.below(100))")
        case 1:
          try realm.write {
            realm.create(
              Note.self, value: ["id": id, "text": "n", "count": random.below(2)], update: .all)
          }
        case 2: try realm.write { realm.delete(realm.objects(Label.self)) }
        default:
          try realm.write {
            if let note = realm.object(ofType: Note.self, forPrimaryKey: id) { realm.delete(note) }
          }
        }
      }
      try daemon.killAndRestart()
    }
    try put(9, "end")
    let wanted = try expected()
    try await yieldUntil { try Model(folder.file("out.jsonl")).objects == wanted }
    #expect(daemon.stop() == .exited(0))
  }

  /// Each line names its class, and a client comes back by the position of the last one.
  @Test func servesClients() throws {
    try put(1, "one")
    let daemon = try DaemonProcess(
      folder,
      "http: {listen: $/http.sock}\n" + configuration("{socket: $/s.sock}, {events: true}"))
    let socket = try LineClient(folder.file("s.sock"), "{}\n")
    let first = [try socket.json(), try socket.json()]
    #expect(first.map { $0["class"] } == [.string("Label"), .string("Note")])
    #expect(first.map { $0["more"] } == [.bool(true), nil])
    guard case .string(let position)? = first[1]["position"] else {
      Issue.record("no position")
      return
    }
    let events = try LineClient(
      folder.file("http.sock"), "GET /watches/both/events HTTP/1.0\r\n\r\n")
    var lines: [String] = []
    while lines.count < 6, let line = try events.line() {
      if !lines.isEmpty || line.isEmpty || line.hasPrefix("data:") { lines.append(line) }
    }
    lines.removeAll { !$0.hasPrefix("data:") && !$0.hasPrefix("id:") }
    #expect(lines.count == 3)
    #expect(lines.first?.contains(#""class":"Label""#) == true)
    #expect(lines.dropFirst().first == "id: \(position)")
    try put(2, "two")
    let back = try LineClient(folder.file("s.sock"), "{\"from\":\"\(position)\"}\n")
    let next = [try back.json(), try back.json()]
    #expect(next.map { $0["class"] } == [.string("Label"), .string("Note")])
    #expect(next[0]["fullResync"] == nil)
    #expect(next[1]["position"] != nil)
    daemon.stop()
  }

  /// The lines of the file of dead letters, which may follow the last delivery.
  private func letters() throws -> [String] {
    var file = LineFile(folder.file("dead"))
    return try file.next()
  }

  /// A batch that is divided while the classes get another order goes on with all of them.
  @Test func losesNothingInAnotherOrder() async throws {
    let script = try #require(
      Bundle.module.url(forResource: "refuser", withExtension: "py", subdirectory: "Resources"))
    let server = try ChildProcess(
      "python3", [script.path, folder.file("taken"), "400", "poison"])
    let port = try #require(server.line { _ in true })
    let sink = "{webhook: 'http://127.0.0.1:\(port)/x', dead-letters: $/dead}"
    try put(1, "one")
    let daemon = try DaemonProcess(folder, configuration(sink))
    try await yieldUntil { try Model(folder.file("taken")).lines.count == 2 }
    daemon.stop()
    mkdir(folder.file("dead"), 0o700)
    let realm = try realm
    try realm.write {
      realm.create(Label.self, value: ["id": 2, "text": "fine", "note": 2], update: .all)
      realm.create(Note.self, value: ["id": 2, "text": "poison", "count": 2], update: .all)
    }
    try daemon.restart()
    try await yieldUntil { daemon.errors.contains("cannot write \(folder.path)/dead") }
    daemon.stop()
    #expect(try Model(folder.file("taken")).objects["Label"]?.count == 2)
    rmdir(folder.file("dead"))
    try daemon.write(
      configuration(sink, classes: "{class: Note, where: count > 0, columns: [text]}, Label"))
    try daemon.restart()
    try put(3, "three")
    let wanted = try expected().mapValues { $0.filter { $0.value != "poison" } }
    try await yieldUntil { try Model(folder.file("taken")).objects == wanted }
    try await yieldUntil { try letters().count == 1 }
    // The lines are in the order of the list, mappings and names alike.
    let names = try Model(folder.file("taken")).lines.suffix(2).map { $0["class"] }
    #expect(names == [.string("Note"), .string("Label")])
    daemon.stop()
    server.signal(SIGKILL)
  }

  /// Refused objects of each class go to the file, and no more.
  @Test func givesUpObjectsOfEachClass() async throws {
    let script = try #require(
      Bundle.module.url(forResource: "refuser", withExtension: "py", subdirectory: "Resources"))
    let server = try ChildProcess(
      "python3", [script.path, folder.file("taken"), "400", "poison"])
    let port = try #require(server.line { _ in true })
    for id in 0...4 { try put(id, id == 2 ? "poison" : "fine") }
    let daemon = try DaemonProcess(
      folder,
      configuration("{webhook: 'http://127.0.0.1:\(port)/x', dead-letters: $/dead}"))
    let wanted = try expected().mapValues { $0.filter { $0.value != "poison" } }
    try await yieldUntil {
      let model = try Model(folder.file("taken"))
      return model.objects == wanted && model.lines.last?["position"] != nil
    }
    let model = try Model(folder.file("taken"))
    #expect(model.lines.first?["fullResync"] == .string("snapshot"))
    try await yieldUntil { try letters().count == 2 }
    let classes = try letters().map { try JSONScanner.value(in: $0)["batch"]?["class"] }
    #expect(classes == [.string("Label"), .string("Note")])
    daemon.stop()
    server.signal(SIGKILL)
  }
}
