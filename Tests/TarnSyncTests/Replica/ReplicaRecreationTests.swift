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
