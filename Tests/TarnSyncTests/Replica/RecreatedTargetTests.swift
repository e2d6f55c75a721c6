import TarnStore
import TarnText
import TestSupport
import Testing

@testable import TarnSync

/// Links to objects that are deleted and created again with the same keys.
@Suite final class RecreatedTargetTests: ReplicaPair {
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

  /// A change of the holders that concerns no link.
  private func edit(_ replica: FileReplica) throws {
    try replica.set("Thing", .int(1), 1, .int(7))
    try change(replica, 2) { try $0.insert(.string("t"), intoSet: $1) }
  }

  private func expectLinked(_ note: String = "x", line: Int = #line) throws {
    let location = SourceLocation(
      fileID: #fileID, filePath: #filePath, line: line, column: 1)
    let link = "{\"$type\":\"link\",\"class\":\"Note\",\"value\":\"x\"}"
    let spot = "{\"city\":\"\",\"facts\":{},\"note\":\"x\",\"rank\":0}"
    let box = "[] \"t\" [\"x\"] \(spot) [] \(link) [1,\(link),2] [\"x\"] []"
    let fresh = try freshStore()
    defer { fresh.end() }
    try fresh.synchronize()
    for replica in [a, b, fresh] {
      let objects = try replica.objects()
      #expect(objects["Box 1"]?.rest == box, sourceLocation: location)
      #expect(
        objects["Thing 1"]
          == FileReplica.Object(a: 7, rest: nil, note: "\(Value.string(note))"),
        sourceLocation: location)
    }
  }

  private func linkedNote() throws {
    for name in ["x", "y"] { try a.create("Note", .string(name), a: 1) }
    try makeBox(a)
    try linkAll(a, to: "x")
    try synchronize()
  }

  @Test(arguments: [false, true], [false, true])
  func `links to a target that is created again stay while others edit their holder`(
    pauses: Bool, joins: Bool
  ) throws {
    try linkedNote()
    try edit(b)
    try b.synchronize()
    try a.delete("Note", .string("x"))
    if pauses { a.pause() }
    try a.create("Note", .string("x"), a: 2)
    if joins { _ = try a.join() }
    try synchronize()
    try expectLinked()
  }

  @Test(arguments: [false, true], [false, true])
  func `links come back to a target that both delete, and the one that edits creates again`(
    pauses: Bool, joins: Bool
  ) throws {
    try linkedNote()
    try edit(b)
    try b.delete("Note", .string("x"))
    if pauses { b.pause() }
    try b.create("Note", .string("x"), a: 2)
    try b.synchronize()
    try a.delete("Note", .string("x"))
    if joins { _ = try a.join() }
    try synchronize()
    try expectLinked()
  }

  @Test(arguments: [false, true], [false, true])
  func `a link to another target stays while its former target is deleted and created again`(
    pauses: Bool, joins: Bool
  ) throws {
    try linkedNote()
    try a.commit { session in
      let y = try note("y", session)
      try session.set(ColumnID(3), at: ObjectKey(1), in: ClassID(0), to: .link(y))
    }
    try edit(a)
    try a.synchronize()
    try a.delete("Note", .string("x"))
    if pauses { a.pause() }
    try a.create("Note", .string("x"), a: 2)
    try b.delete("Note", .string("x"))
    if joins { _ = try b.join() }
    try synchronize()
    try expectLinked("y")
  }

  /// The server has lost the links before the deletion that would have made them nil.
  @Test(arguments: [false, true])
  func `links that SQL has cut do not return with their target`(isSentFirst: Bool) throws {
    try a.create("Note", .string("x"), a: 1)
    try makeBox(a)
    try linkAll(a, to: "x")
    try synchronize()
    try server.rows("UPDATE \"Thing\" SET note = NULL")
    try server.rows(
      """
      UPDATE "Box" SET notes = '[]', "noteSet" = '[]', "any" = NULL, mixes = '[1, null, 2]',
        spot = jsonb_set(spot, '{note}', 'null')
      """)
    try b.delete("Note", .string("x"))
    if isSentFirst { try synchronize() }
    try b.create("Note", .string("x"), a: 2)
    try b.synchronize()
    try synchronize()
    try expectLinks(false)
  }
}
