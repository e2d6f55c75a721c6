import Foundation
import Tarn
import TestSupport
import Testing
import ToolSupport

@testable import TarnStore

/// What is wrong with one watch or one store concerns no other one.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct AloneTests {
  private let folder = TemporaryFolder()

  /// Two programs' ideas of one class.
  enum Before {
    final class Memo: Object {
      @Persisted(primaryKey: true) var id: Int
      @Persisted var text: String
      @Persisted var count: Int
    }
  }
  enum After {
    final class Memo: Object {
      @Persisted(primaryKey: true) var id: Int
      @Persisted var text: String
    }
  }

  private func write(
    _ type: Object.Type, schemaVersion: UInt64 = 0, _ id: Int, _ text: String
  ) throws {
    let configuration = Realm.Configuration(
      fileURL: folder.url("memos.tarn"), schemaVersion: schemaVersion, objectTypes: [type],
      durability: .relaxed)
    let realm = try Realm(configuration: configuration)
    try realm.write {
      realm.create(type, value: ["id": id, "text": text] as [String: Any], update: .all)
    }
  }

  private static let delivery = "delivery: {first-retry: 10ms, last-retry: 20ms}"
  private static let good =
    "  - {name: good, file: $/notes.tarn, class: Note, \(delivery), "
    + "sinks: [{file: $/good.jsonl}]}\n"

  private func goodNotes() throws -> [Int: String] {
    try NoteModel(file: folder.file("good.jsonl")).notes
  }

  @Test func wrongSelectionsFailAlone() async throws {
    let file = try NoteFile(folder)
    try file.put(1, "one")
    let wrong = [
      ("columns: [nme]", "has no property 'nme'"), ("columns: ['']", "has no property ''"),
      ("columns: [text.x]", "is not a link"), ("columns: [a.b.c]", "has no property 'a'"),
      ("columns: ['text.']", "is not a link"), ("columns: ['.text']", "has no property ''"),
      ("where: nme == 1", "nme"), ("where: text ==", "Invalid filter"),
      ("where: ''", "Invalid filter"), ("where: 'ANY text.x == 1'", "text"),
    ]
    var text = "http: {listen: $/http.sock}\nwatches:\n" + Self.good
    for (number, (keys, _)) in wrong.enumerated() {
      text += "  - {name: w\(number), file: $/notes.tarn, class: Note, \(keys), \(Self.delivery), "
      text += "sinks: [{file: $/w\(number).jsonl}, {socket: $/w\(number).sock}]}\n"
    }
    let daemon = try DaemonProcess(folder, text)
    let log = { daemon.errors.split(separator: "\n") }
    for (number, (_, reason)) in wrong.enumerated() {
      for sink in ["file", "socket"] {
        try await yieldUntil {
          log().contains { $0.contains("w\(number)/\(sink): ") && $0.contains(reason) }
        }
      }
    }
    try file.put(2, "two")
    try await yieldUntil { try goodNotes() == [1: "one 0", 2: "two 0"] }
    // A client of a watch that cannot work ends nothing either.
    let client = try LineClient(folder.file("w0.sock"), "{}\n")
    try file.put(3, "three")
    try await yieldUntil { try goodNotes()[3] != nil }
    let (health, _) = try DaemonProcess.run(["status", "--json", "--config", daemon.configuration])
    #expect(health.contains("\"healthy\":false"))
    #expect(daemon.stop() == .exited(0))
    withExtendedLifetime(client) {}
  }

  @Test func aMigrationThatRemovesAColumnEndsNothing() async throws {
    let file = try NoteFile(folder)
    try write(Before.Memo.self, 1, "one")
    let daemon = try DaemonProcess(
      folder,
      "watches:\n" + Self.good
        + "  - {name: memos, file: $/memos.tarn, class: Memo, columns: [text, count], "
        + "\(Self.delivery), sinks: [{file: $/memos.jsonl}, {socket: $/memos.sock}]}\n")
    let client = try LineClient(folder.file("memos.sock"), "{}\n")
    _ = try client.json()
    try write(After.Memo.self, schemaVersion: 1, 2, "two")
    try await yieldUntil { daemon.errors.contains("has no property 'count'") }
    try file.put(1, "one")
    try await yieldUntil { try goodNotes() == [1: "one 0"] }
    try write(Before.Memo.self, schemaVersion: 2, 3, "three")
    // It has tried again, and finds the column.
    try await yieldUntil {
      let lines = FileManager.default.contents(atPath: folder.file("memos.jsonl")) ?? Data()
      return String(decoding: lines, as: UTF8.self).contains("three")
    }
    #expect(daemon.stop() == .exited(0))
  }

  @Test func aDamagedStoreEndsNothing() async throws {
    let file = try NoteFile(folder)
    try write(Before.Memo.self, 1, "one")
    try damage(folder.file("memos.tarn"))
    let daemon = try DaemonProcess(
      folder,
      "watches:\n" + Self.good
        + "  - {name: memos, file: $/memos.tarn, class: Memo, \(Self.delivery), sinks: "
        + "[{file: $/memos.jsonl}, {exec: ['true']}, {name: k, exec: ['true', '{key}']}]}\n")
    for sink in ["file", "exec", "k"] {
      try await yieldUntil {
        daemon.errors.split(separator: "\n").contains { $0.contains("memos/\(sink): ") }
      }
    }
    try file.put(1, "one")
    try await yieldUntil { try goodNotes() == [1: "one 0"] }
    #expect(daemon.stop() == .exited(0))
  }

  /// Replaces the rows of the only class by other bytes.
  private func damage(_ path: String) throws {
    let store = try StoreRegistry.open(path, options)
    try store.environment.write { transaction throws(StorageError) in
      let first = TreeKey.cluster(ClassID(0), first: .smallest)
      var key: [UInt8] = []
      var count = 0
      do {
        var cursor = try Cursor(transaction)
        _ = try first.withBytes { bytes throws(StorageError) in
          try cursor.seek(atOrAfter: bytes)
        }
        (key, count) = (Array(cursor.key), cursor.value.count)
      }
      let rubbish = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: key.count, alignment: 1)
      defer {
        rubbish.deallocate()
        copy.deallocate()
      }
      copy.copyBytes(from: key)
      for index in 0..<count { rubbish[index] = 0xa5 }
      try transaction.put(UnsafeRawBufferPointer(rubbish), forKey: UnsafeRawBufferPointer(copy))
    }
  }

  private var options: Store.Options {
    var options = Store.Options()
    options.adoptsClasses = false
    options.isDurable = false
    return options
  }
}
