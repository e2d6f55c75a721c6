import Foundation
import Tarn
import TarnText
import TestSupport
import Testing
import ToolSupport

/// Programs that get keys, and keys that no argument can have.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct ImpossibleKeyTests {
  final class Entry: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var count: Int
  }

  private let folder = TemporaryFolder()

  private func write(_ body: (Realm) -> Void) throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder.file("notes.tarn")), objectTypes: [Entry.self],
        durability: .relaxed))
    try realm.write { body(realm) }
  }

  private func put(_ keys: String...) throws {
    try write { realm in
      for key in keys { realm.create(Entry.self, value: ["name": key], update: .all) }
    }
  }

  private func delete(_ key: String) throws {
    try write { realm in
      if let entry = realm.object(ofType: Entry.self, forPrimaryKey: key) { realm.delete(entry) }
    }
  }

  private func configuration(_ extra: String = "") throws -> String {
    let script = "#!/bin/sh\nprintf '%s\\n' \"$@\" >>\(folder.path)/keys\n"
    chmod(try folder.file("script", Array(script.utf8)), 0o755)
    return """
      watches:
        - name: notes
          file: $/notes.tarn
          class: Entry
          start: newest
          delivery: {first-retry: 5ms, last-retry: 10ms}
          sinks: [{exec: [$/script, '{key}']\(extra)}]
      """
  }

  private func lines(_ name: String) -> [String] {
    FileManager.default.contents(atPath: folder.file(name)).map {
      String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init)
    } ?? []
  }

  enum Key: CaseIterable {
    case withZero, option, long

    var text: String {
      switch self {
      case .withZero: "b\0c"
      case .option: "-x"
      case .long: String(repeating: "k", count: 1 << 17)
      }
    }
  }

  /// The others are not held up.
  @Test(arguments: Key.allCases)
  func goToTheDeadLetters(_ one: Key) async throws {
    let key = one.text
    try put("first")
    let daemon = try DaemonProcess(folder, try configuration(", dead-letters: $/dead"))
    try put("a", key, "z")
    try await yieldUntil { lines("keys").count == 2 && lines("dead").count == 1 }
    let letter = try JSONScanner.value(in: lines("dead")[0])
    guard case .array(let items)? = letter["batch"]?["inserted"] else {
      throw ToolError("no object in \(letter)")
    }
    #expect(items.first?["key"] == .string(key))
    try put("fine")
    try await yieldUntil { lines("keys").count == 3 }
    #expect(lines("keys") == ["a", "z", "fine"])
    daemon.stop()
  }

  /// The message names the object and the ways out; one of them is to delete it.
  @Test(arguments: Key.allCases)
  func areNamed(_ one: Key) async throws {
    let key = one.text
    try put("first")
    let daemon = try DaemonProcess(folder, try configuration())
    try put("a", key, "z")
    let shown = JSONText.text(.string(String(key.prefix(64))))
    try await yieldUntil {
      daemon.errors.contains("an object of Entry with the key \(shown):")
    }
    for text in ["{key}", "set 'dead-letters', or delete the object"] {
      #expect(daemon.errors.contains(text))
    }
    #expect(lines("keys") == [])
    try delete(key)
    try await yieldUntil { lines("keys").count == 2 }
    #expect(lines("keys") == ["a", "z"])
    #expect(
      daemon.errors.contains("leaves out the end of an object of Entry with the key \(shown):"))
    daemon.stop()
  }
}
