import Foundation
import Tarn
import TestSupport
import Testing
import ToolSupport

/// What the tests put into files.
final class Note: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
  @Persisted var count: Int
}

/// A file of notes, written by the test, which may go on on another thread after each wait.
struct NoteFile {
  let path: String
  private let configuration: Realm.Configuration

  init(_ folder: TemporaryFolder, _ name: String = "notes.tarn") throws {
    path = folder.file(name)
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [Note.self])
    configuration.durability = .relaxed
    self.configuration = configuration
    _ = try realm
  }

  private var realm: Realm { get throws { try Realm(configuration: configuration) } }

  /// The newest version.
  var version: Int {
    get throws { Int(try DaemonTestStore.version(path)) }
  }

  func put(_ id: Int, _ text: String, count: Int = 0) throws {
    let realm = try realm
    try realm.write {
      realm.create(Note.self, value: ["id": id, "text": text, "count": count], update: .all)
    }
  }

  func delete(_ id: Int) throws {
    let realm = try realm
    try realm.write {
      if let note = realm.object(ofType: Note.self, forPrimaryKey: id) { realm.delete(note) }
    }
  }

  /// A commit with some random changes.
  func change(_ random: inout SeededRandom) throws {
    let realm = try realm
    try realm.write {
      for _ in 0...random.below(3) {
        let id = random.below(20)
        if random.chance(25), let note = realm.object(ofType: Note.self, forPrimaryKey: id) {
          realm.delete(note)
        } else {
          realm.create(
            Note.self,
            value: ["id": id, "text": "t\(random.below(1000))", "count": random.below(5)],
            update: .all)
        }
      }
    }
  }

  /// All notes as a consumer should have them.
  var expected: [Int: String] {
    get throws {
      Dictionary(
        uniqueKeysWithValues: try realm.objects(Note.self)
          .map { ($0.id, "\($0.text) \($0.count)") })
    }
  }
}

/// What a consumer keeps that applies each line it gets.
struct NoteModel {
  private(set) var notes: [Int: String] = [:]
  private(set) var lines = 0
  private(set) var beginnings: [String] = []
  private(set) var version = 0

  mutating func apply(_ line: JSONValue) throws {
    lines += 1
    if case .string(let error)? = line["error"] { throw ToolError("refused: \(error)") }
    guard case .integer(let version)? = line["version"] else {
      throw ToolError("no version in \(JSONText.text(line).prefix(200))")
    }
    self.version = Int(version)
    if case .string(let reason)? = line["startAnew"] {
      if line["part"] == nil || line["part"] == .integer(1) {
        notes = [:]
        beginnings.append(reason)
      }
      for object in items(line["objects"]) { store(object) }
      return
    }
    if line["cleared"] == .bool(true) { notes = [:] }
    for kind in ["deleted", "left", "gone"] {
      for object in items(line[kind]) {
        if case .integer(let key)? = object["key"] { notes[Int(key)] = nil }
      }
    }
    for kind in ["inserted", "replaced", "modified", "entered"] {
      for object in items(line[kind]) { store(object) }
    }
  }

  private mutating func store(_ object: JSONValue) {
    guard case .integer(let key)? = object["key"], let new = object["new"],
      case .string(let text)? = new["text"], case .integer(let count)? = new["count"]
    else { return }
    notes[Int(key)] = "\(text) \(count)"
  }

  private func items(_ value: JSONValue?) -> [JSONValue] {
    if case .array(let items)? = value { items } else { [] }
  }

  /// Applies the lines that a file has got since.
  mutating func apply(_ file: inout LineFile) throws {
    for line in try file.next() { try apply(JSONScanner.value(in: line)) }
  }

  /// The model of all lines of a file.
  init(file: String) throws {
    var lines = LineFile(file)
    try apply(&lines)
  }

  init() {}
}
