import Foundation
import Tarn
import TarnText
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

  init(
    _ folder: TemporaryFolder, _ name: String = "notes.tarn", schemaVersion: UInt64 = 0
  ) throws {
    path = folder.file(name)
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), schemaVersion: schemaVersion, objectTypes: [Note.self])
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

  /// Puts several in one commit.
  func putAll(_ texts: [Int: String]) throws {
    let realm = try realm
    try realm.write {
      for (id, text) in texts.sorted(by: { $0.key < $1.key }) {
        realm.create(Note.self, value: ["id": id, "text": text, "count": 0], update: .all)
      }
    }
  }

  func delete(_ id: Int) throws {
    let realm = try realm
    try realm.write {
      if let note = realm.object(ofType: Note.self, forPrimaryKey: id) { realm.delete(note) }
    }
  }

  /// Keeps the change records of so many versions.
  func retain(_ versions: Int) throws {
    try realm.setRetention(Retention(versions: versions))
  }

  /// Runs the body while a write of the file is open.
  func holding<R>(_ body: () throws -> R) throws -> R {
    let realm = try realm
    realm.beginWrite()
    defer { realm.cancelWrite() }
    return try body()
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

/// What a consumer keeps of notes.
struct NoteModel {
  private var model = LineModel()

  var lines: Int { model.lines }
  var beginnings: [String] { model.beginnings }
  var version: Int { model.version }

  /// The text and the count of each note.
  var notes: [Int: String] {
    var notes: [Int: String] = [:]
    for (key, values) in model.objects {
      guard case .string(let text)? = values["text"], case .integer(let count)? = values["count"]
      else { continue }
      notes[Int(key) ?? -1] = "\(text) \(count)"
    }
    return notes
  }

  mutating func apply(_ line: JSONValue) throws { try model.apply(line) }

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
