import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Classes that were removed from the server and added again.
@Suite final class TableChangeTests: ReplicaPair {
  private typealias Object = FileReplica.Object

  /// Drops the tables of classes and makes them anew.
  private func remake(_ names: [String]) throws {
    for name in names {
      try server.rows("DROP TABLE \"\(name)\"")
      try ServerRepair(server).forget(class: name)
    }
    let schema = try a.store.newestSnapshot().schema.schema
    #expect(try ServerMigration(server).run(schema).sorted() == names.map { "created \($0)" })
    disconnect()
  }

  /// Takes classes out of sync, and their tables back afterwards.
  private func adoptAgain(_ names: [String], after statements: String = "SELECT") throws {
    for name in names { try ServerRepair(server).forget(class: name) }
    try server.run(statements, for: "change rows")
    for name in names { _ = try ServerAdoption(server).run(table: "\"\(name)\"", as: name) }
    disconnect()
  }

  private func disconnect() { for replica in [a, b] { replica.disconnect() } }

  private func expect(_ objects: [String: Object], line: Int = #line) throws {
    let location = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
    try synchronize()
    let fresh = try freshStore()
    defer { fresh.end() }
    try fresh.synchronize()
    for replica in [a, b, fresh] {
      let found = try replica.objects()
      #expect(found == objects, sourceLocation: location)
    }
    for replica in [a, b] {
      #expect(try ReplicaReport.of(replica.store)?.unsentCommits == 0, sourceLocation: location)
      #expect(replica.refused.isEmpty, sourceLocation: location)
      #expect(try replica.connected().compareDigests(), sourceLocation: location)
      #expect(try replica.connected().isComplete, sourceLocation: location)
    }
  }

  private func makeThings(_ numbers: ClosedRange<Int>) throws {
    for number in numbers { try a.create("Thing", .int(Int64(number)), a: number) }
  }

  @Test func `a table that was dropped and made anew gets all objects once`() throws {
    try a.create("Note", .string("n1"), a: 1)
    for number in 1...3 { try a.create("Thing", .int(Int64(number)), a: number, note: "n1") }
    try synchronize()
    let objects = try a.objects()
    var notices: [SyncNotice] = []
    a.replica.noticed = { notices.append($0) }
    try remake(["Note", "Thing"])
    try a.synchronize()
    #expect(Set(notices) == [.otherTable("Note"), .otherTable("Thing")])
    let rows = """
      SELECT _id::text, _tarn_xid::text, _tarn_oid, _tarn_cols FROM "Thing"
      UNION ALL SELECT _id, _tarn_xid::text, _tarn_oid, _tarn_cols FROM "Note" ORDER BY 1
      """
    let sent = try server.rows(rows)
    #expect(sent.count == 4)
    try expect(objects)
    #expect(try server.rows(rows) == sent)
    disconnect()
    try synchronize()
    #expect(notices.count == 2)
    // From then on all is as before.
    try b.set("Thing", .int(1), 1, .int(7))
    try b.delete("Thing", .int(2))
    try a.set("Thing", .int(1), 2, .int(8))
    try b.create("Thing", .int(4), a: 4)
    try expect([
      "Note n1": Object(a: 1), "Thing 1": Object(a: 7, rest: "8", note: "n1"),
      "Thing 3": Object(a: 3, note: "n1"), "Thing 4": Object(a: 4),
    ])
  }

  @Test func `unsent changes reach a table that was made anew, also older ones`() throws {
    try makeThings(1...4)
    try synchronize()
    try b.set("Thing", .int(1), 2, .int(5))
    try b.delete("Thing", .int(2))
    // Later than the changes of the other store.
    a.pause()
    try a.set("Thing", .int(4), 1, .int(44))
    try a.synchronize()
    try remake(["Thing"])
    try a.synchronize()
    try expect([
      "Thing 1": Object(a: 1, rest: "5"), "Thing 3": Object(a: 3), "Thing 4": Object(a: 44),
    ])
  }

  @Test(arguments: [false, true])
  func `unsent changes outlive that a table is adopted again`(_ areJoined: Bool) throws {
    try makeThings(1...6)
    for name in ["x", "y", "z"] { try a.create("Note", .string(name), a: 1) }
    try synchronize()
    try a.set("Thing", .int(1), 1, .int(5))
    try a.delete("Thing", .int(4))
    try a.create("Thing", .int(7), a: 7)
    try a.delete("Thing", .int(6))
    try a.create("Thing", .int(6), a: 66)
    try a.set("Thing", .int(3), 2, .int(33))
    try a.set("Note", .string("x"), 2, .string("mine"))
    try a.delete("Note", .string("y"))
    try a.delete("Note", .string("z"))
    try a.create("Note", .string("z"), a: 9)
    if areJoined {
      a.disconnect()
      #expect(try a.join())
      try a.set("Thing", .int(5), 1, .int(55))
    } else {
      try a.set("Thing", .int(5), 1, .int(55))
    }
    try b.set("Thing", .int(1), 2, .int(9))
    try adoptAgain(
      ["Note", "Thing"],
      after: """
        DELETE FROM "Thing" WHERE _id = 3; UPDATE "Thing" SET a = 20 WHERE _id = 2;
        INSERT INTO "Thing" (_id, a) VALUES (8, 8); UPDATE "Note" SET a = 3 WHERE _id = 'x'
        """)
    // An object that one store has deleted would come back from one that knows only the old table.
    try b.connected().pull()
    try a.synchronize()
    try expect([
      "Thing 1": Object(a: 5, rest: "9"), "Thing 2": Object(a: 20),
      "Thing 3": Object(a: 3, rest: "33"), "Thing 5": Object(a: 55), "Thing 6": Object(a: 66),
      "Thing 7": Object(a: 7), "Thing 8": Object(a: 8),
      "Note x": Object(a: 3, rest: "mine"), "Note z": Object(a: 9),
    ])
  }

  @Test func `an object that SQL has deleted is deleted for a store that deletes it, too`() throws {
    try makeThings(1...2)
    try a.create("Note", .string("x"), a: 1)
    try a.synchronize()
    try a.delete("Thing", .int(1))
    try a.delete("Note", .string("x"))
    try adoptAgain(["Note", "Thing"], after: "DELETE FROM \"Thing\"; DELETE FROM \"Note\"")
    try a.connected().pull()
    // Others may use the keys again.
    try server.rows("INSERT INTO \"Note\" (_id, a) VALUES ('x', 4)")
    try server.rows("INSERT INTO \"Thing\" (_id, a) VALUES (1, 4)")
    try expect([
      "Note x": Object(a: 4), "Thing 1": Object(a: 4), "Thing 2": Object(a: 2),
    ])
  }

  @Test func `another table of the class gives and gets what the other side lacks`() throws {
    try makeThings(1...3)
    try synchronize()
    try a.set("Thing", .int(1), 2, .int(6))
    try ServerRepair(server).forget(class: "Thing")
    try server.run(
      """
      CREATE TABLE other (_id bigint PRIMARY KEY, a bigint NOT NULL, b bigint, note text);
      INSERT INTO other VALUES (1, 11, 1), (9, 9, 9);
      GRANT SELECT, INSERT, UPDATE, DELETE ON other TO tarn_client
      """, for: "test")
    _ = try ServerAdoption(server).run(table: "other", as: "Thing")
    disconnect()
    try expect([
      "Thing 1": Object(a: 11, rest: "6"), "Thing 2": Object(a: 2), "Thing 3": Object(a: 3),
      "Thing 9": Object(a: 9, rest: "9"),
    ])
    #expect(try server.value("SELECT count(*) FROM other") == "4")
  }

  @Test func `a store with a part of the objects keeps its part`() throws {
    try makeThings(1...5)
    try a.synchronize()
    try a.subscribe(["Thing": ["a < 4"]])
    try a.synchronize()
    try a.set("Thing", .int(1), 2, .int(7))
    try a.set("Thing", .int(2), 2, .int(7))
    try adoptAgain(
      ["Thing"],
      after: "UPDATE \"Thing\" SET a = 40 WHERE _id = 2; DELETE FROM \"Thing\" WHERE _id = 3")
    try a.synchronize()
    #expect(
      try a.objects() == ["Thing 1": Object(a: 1, rest: "7"), "Thing 3": Object(a: 3)])
    #expect(
      try server.rows("SELECT _id, a, b FROM \"Thing\" ORDER BY _id") == [
        ["1", "1", "7"], ["2", "40", "7"], ["3", "3", nil], ["4", "4", nil], ["5", "5", nil],
      ])
    #expect(try a.connected().isComplete)
  }

  private func changeList(
    _ replica: FileReplica, _ change: (WriteSession, SequencePlace) throws -> Void
  ) throws {
    try replica.commit { session in
      let found = try session.find(primaryKey: .int(1), in: FileBox.id)
      let key = try found ?? session.create([ColumnID(0): .int(1)], in: FileBox.id)
      try change(session, FileBox.place(key, 1))
    }
  }

  @Test(arguments: [false, true])
  func `lists are merged with those of the other table`(_ isDropped: Bool) throws {
    try a.create("Note", .string("n0"), a: 1)
    try changeList(a) { session, place in
      try session.insert([.int(1), .int(2), .int(3)], at: 0, in: place)
      let note = try #require(try session.find(primaryKey: .string("n0"), in: ClassID(1)))
      try session.insert(.link(note), at: 0, in: FileBox.place(place.key, 4))
      try session.insert(.string("t"), intoSet: FileBox.place(place.key, 2))
      try session.set(.int(5), forKey: "k", inMap: FileBox.place(place.key, 3))
    }
    try synchronize()
    try changeList(a) { session, place in
      try session.insert(.int(4), at: 3, in: place)
      try session.remove(0..<1, in: place)
    }
    try changeList(b) { session, place in
      try session.set(.int(6), forKey: "l", inMap: FileBox.place(place.key, 3))
    }
    if isDropped {
      try remake(["Box", "Note"])
    } else {
      try adoptAgain(
        ["Box", "Note"], after: "UPDATE \"Box\" SET tags = '[\"t\", \"u\"]' WHERE _id = 1")
    }
    try synchronize()
    let objects = try a.objects()
    #expect(FileBox.repeated(in: objects) == [])
    let box = try #require(objects["Box 1"]?.rest)
    #expect(box.hasPrefix("[2,3,4] \"t\"\(isDropped ? "" : " \"u\"") k: 5 l: 6 "), "\(box)")
    #expect(try FileBox.all(server)["Box 1"]?.rest == box)
    try expect(objects)
  }

  @Test func `a push whose answer was lost is known by the new table's rows`() throws {
    try makeThings(1...1)
    try synchronize()
    try makeThings(2...2)
    try a.delete("Thing", .int(1))
    try a.connected().pull()
    a.losesAnswer = true
    #expect(throws: FileReplica.LostAnswer.self) { try a.connected().sendAll() }
    try a.set("Thing", .int(2), 2, .int(3))
    try b.synchronize()
    try adoptAgain(["Thing"])
    try expect(["Thing 2": Object(a: 2, rest: "3")])
  }

  @Test func `many objects go over in parts`() throws {
    try server.rows(
      "INSERT INTO \"Thing\" (_id, a) SELECT n, n * 13 + 1 FROM generate_series(1, 25000) n")
    try a.synchronize()
    try a.set("Thing", .int(3), 2, .int(3))
    try a.set("Thing", .int(4), 2, .int(4))
    try adoptAgain(
      ["Thing"], after: "DELETE FROM \"Thing\" WHERE _id <= 20000 AND _id % 4 <> 0")
    try a.synchronize()
    try a.synchronize()
    #expect(
      try server.rows("SELECT count(*), count(DISTINCT _tarn_oid), sum(b) FROM \"Thing\"")
        == [["25000", "25000", "7"]])
    #expect(try a.connected().compareDigests())
    #expect(try a.connected().isComplete)
    #expect(try a.objects().count == 25_000)
  }
}
