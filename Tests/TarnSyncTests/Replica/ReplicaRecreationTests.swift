import Foundation
import TarnStore
import TarnText
import TestSupport
import Testing

@testable import TarnSync

/// Keys that are deleted and created again, and links to them, where the commits between are sent
/// one by one because time passes.
@Suite final class ReplicaRecreationTests: ReplicaPair {
  private func deleteBox(_ replica: FileReplica) throws {
    try replica.commit { session in
      let found = try session.find(primaryKey: .int(1), in: FileBox.id)
      try session.delete(try #require(found), in: FileBox.id)
    }
  }

  private func expectEqual(_ box: String, line: Int = #line) throws {
    let location = SourceLocation(
      fileID: #fileID, filePath: #filePath, line: line, column: 1)
    let truth = try FileBox.all(server)["Box 1"]?.rest
    #expect(truth == box, sourceLocation: location)
    for replica in [a, b] {
      #expect(try replica.objects()["Box 1"]?.rest == truth, sourceLocation: location)
    }
  }

  @Test func `a link comes to a server's object that was deleted here`() throws {
    try a.create("Note", .string("x"), a: 1)
    try makeBox(a)
    try link(a, to: "x")
    try synchronize()
    try b.delete("Note", .string("x"))
    try synchronize()
    try deleteBox(a)
    try b.create("Note", .string("x"), a: 2)
    try b.synchronize()
    try synchronize()
    #expect(try a.objects().keys.sorted() == b.objects().keys.sorted())
    #expect(try a.objects()["Box 1"] == nil)
  }

  @Test func `edits before a deletion meet a list that SQL has written`() throws {
    try makeBox(a, [1])
    try synchronize()
    try server.rows("UPDATE \"Box\" SET items = '[1, 2]'")
    try change(a, 1) { try $0.insert(.int(9), at: 1, in: $1) }
    a.pause()
    try deleteBox(a)
    try makeBox(a, [5])
    try synchronize()
    try expectEqual("[5]  [] null [] null [] [] []")
  }

  @Test func `an object that is created again drops what was in the deleted one`() throws {
    try makeBox(a, [1, 2])
    try a.synchronize()
    try makeBox(b)
    b.pause()
    try deleteBox(b)
    b.pause()
    try makeBox(b, [5])
    try synchronize()
    try expectEqual("[5]  [] null [] null [] [] []")
  }

  @Test func `a copy takes back what the server refused of its original`() throws {
    try a.create("Thing", .int(2), a: 1)
    try synchronize()
    try a.create("Thing", .int(1), a: 13)
    a.pause()
    try a.set("Thing", .int(2), 1, .int(26))
    a.pause()
    try a.create("Note", .string("x"), a: 1)
    let copy = try copy(of: a)
    defer { copy.end() }
    try a.synchronize()
    try copy.synchronize()
    try synchronize()
    #expect(a.refused.count == 2)
    let objects = try a.objects()
    #expect(objects.keys.sorted() == ["Note \(Value.string("x"))", "Thing 2"])
    #expect(objects["Thing 2"]?.a == 1)
    #expect(try copy.objects() == objects)
    #expect(try b.objects() == objects)
  }

  @Test func `others that write a list all the time stop a session, but not for ever`() throws {
    try makeBox(a, [1])
    try synchronize()
    try change(a, 1) { try $0.insert(.int(9), at: 1, in: $1) }
    let link = try a.connected()
    let error = #expect(throws: ServerError.self) {
      for _ in 0..<1_000 {
        try link.pull()
        try server.rows("UPDATE \"Box\" SET items = items || '[2]'")
        guard try link.sendAll() == .pullFirst else { break }
      }
    }
    #expect(error?.state == "TN001")
    try synchronize()
    #expect(try a.objects() == b.objects())
    #expect(try a.objects()["Box 1"]?.rest?.contains("9") == true)
  }

  // MARK: - Links

  /// Lets a box, a thing and an embedded object link to a note, in each kind of property.
  private func linkAll(_ replica: FileReplica, to name: String) throws {
    try replica.create("Thing", .int(1), a: 1, note: name)
    try change(replica, 4) { session, place in
      let note = try note(name, session)
      try session.insert(.link(note), at: 0, in: place)
      try session.insert(.link(note), intoSet: FileBox.place(place.key, 9))
      let mixed: [Value] = [.int(1), .object(ClassID(1), note), .int(2)]
      try session.insert(mixed, at: 0, in: FileBox.place(place.key, 8))
      try session.set(ColumnID(7), at: place.key, in: FileBox.id, to: mixed[1])
      let spot = try session.create([ColumnID(2): .link(note)], in: FileBox.spotID)
      try session.set(ColumnID(5), at: place.key, in: FileBox.id, to: .link(spot))
    }
  }

  private func expectLinks(_ isThere: Bool, line: Int = #line) throws {
    let location = SourceLocation(
      fileID: #fileID, filePath: #filePath, line: line, column: 1)
    let fresh = try freshStore()
    defer { fresh.end() }
    try fresh.synchronize()
    let x = isThere ? "\"x\"" : "null"
    let mixed =
      isThere ? "{\"$type\":\"link\",\"class\":\"Note\",\"value\":\"x\"}" : "null"
    let spot = "{\"city\":\"\",\"facts\":{},\"note\":\(x),\"rank\":0}"
    let list = isThere ? "[\"x\"]" : "[]"
    let box = "[]  \(list) \(spot) [] \(mixed) [1,\(mixed),2] \(list) []"
    for replica in [a, b, fresh] {
      let objects = try replica.objects()
      #expect(objects["Box 1"]?.rest == box, sourceLocation: location)
      #expect((objects["Thing 1"]?.note != nil) == isThere, sourceLocation: location)
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `links to an object that both have deleted come back with it`(
    isHere: Bool, pauses: Bool
  ) throws {
    try a.create("Note", .string("x"), a: 1)
    try makeBox(a)
    try linkAll(a, to: "x")
    try synchronize()
    try expectLinks(true)
    for replica in [a, b] {
      if pauses { replica.pause() }
      try replica.delete("Note", .string("x"))
    }
    try synchronize()
    try expectLinks(false)
    try (isHere ? a : b).create("Note", .string("x"), a: 2)
    try synchronize()
    try expectLinks(true)
  }

  @Test(arguments: [false, true], [false, true])
  func `a link to a target that others create again stays while its holder changes`(
    pauses: Bool, sendsBetween: Bool
  ) throws {
    for name in ["x", "y"] { try a.create("Note", .string(name), a: 1) }
    try makeBox(a)
    try linkAll(a, to: "x")
    try synchronize()
    try b.delete("Note", .string("x"))
    if pauses { b.pause() }
    if sendsBetween { try b.synchronize() }
    try b.create("Note", .string("x"), a: 2)
    try b.synchronize()
    try link(a, to: "y", at: 1)
    try change(a, 9) { session, place in
      try session.insert(.link(try note("y", session)), intoSet: place)
      try session.insert(.int(3), at: 3, in: FileBox.place(place.key, 8))
    }
    try synchronize()
    let link = "{\"$type\":\"link\",\"class\":\"Note\",\"value\":\"x\"}"
    let spot = "{\"city\":\"\",\"facts\":{},\"note\":\"x\",\"rank\":0}"
    try expectEqual(
      "[]  [\"x\",\"y\"] \(spot) [] \(link) [1,\(link),2,3] [\"x\",\"y\"] []")
  }

  /// Keys of several thousand bytes do not fit into a short record.
  @Test func `links wait for targets with very long keys`() throws {
    let name = String(repeating: "q", count: 5_000)
    let other = name + "r"
    for text in [name, other] { try a.create("Note", .string(text), a: 1) }
    try makeBox(a)
    for text in [name, other] { try link(a, to: text) }
    try synchronize()
    try server.run(
      "INSERT INTO \"Thing\" (_id, a, note) VALUES (1, 1, repeat('k', 6000))", for: "test")
    try b.delete("Note", .string(name))
    for file in [b, a, try freshStore()] { try file.synchronize() }
    #expect(try a.objects()["Thing 1"]?.note == nil)
    try a.create("Note", .string(name), a: 2)
    try a.create("Note", .string(String(repeating: "k", count: 6_000)), a: 3)
    try synchronize()
    let fresh = try freshStore()
    try fresh.synchronize()
    for file in [a, b, fresh] {
      let objects = try file.objects()
      #expect(objects["Box 1"]?.rest?.contains("[\"\(other)\",\"\(name)\"]") == true)
      #expect(objects["Thing 1"]?.note?.count ?? 0 >= 6_000)
    }
  }
}
