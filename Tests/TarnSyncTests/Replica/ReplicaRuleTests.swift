import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// What two files show of the same objects, rule by rule.
@Suite final class ReplicaRuleTests: ReplicaPair {
  private typealias Object = FileReplica.Object

  @Test func `another one's change of another property stands beside an unsent one`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try b.set("Thing", .int(1), 1, .int(2))
    try a.set("Thing", .int(1), 2, .int(7))
    try a.synchronize()
    try b.connected().pull()
    // Not sent yet, and shown.
    #expect(try b.objects() == ["Thing 1": Object(a: 2, rest: "7")])
    try synchronize()
    #expect(try a.objects() == ["Thing 1": Object(a: 2, rest: "7")])
  }

  @Test func `of one property the later value stays`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try b.set("Thing", .int(1), 1, .int(2))
    try a.set("Thing", .int(1), 1, .int(3))
    try a.synchronize()
    // The later one is on the server: it is shown, although the own one is not sent.
    try b.connected().pull()
    #expect(try b.objects() == ["Thing 1": Object(a: 3)])
    try synchronize()
    #expect(try a.objects() == ["Thing 1": Object(a: 3)])
    #expect(try b.objects() == ["Thing 1": Object(a: 3)])
  }

  /// The file goes on from its last stamp, although the clock is right again.
  @Test func `a store whose clock was a year ahead does not win for ever`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    a.pause(by: 365 * 86_400_000_000)
    try a.set("Thing", .int(1), 2, .int(1))
    try synchronize()
    for value in 3...5 {
      try a.set("Thing", .int(1), 1, .int(Int64(value)))
      try b.set("Thing", .int(1), 1, .int(Int64(value * 10)))
      try b.synchronize()
      try synchronize()
      for replica in [a, b] {
        #expect(try replica.objects()["Thing 1"] == Object(a: Int64(value * 10), rest: "1"))
      }
    }
  }

  /// The other one's clock is 20 seconds ahead of its own, which is right again.
  @Test func `a store whose clock was ahead wins over what it has seen`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    a.pause(by: 365 * 86_400_000_000)
    try a.set("Thing", .int(1), 2, .int(1))
    try synchronize()
    b.pause(by: 20_000_000)
    try b.set("Thing", .int(1), 1, .int(5))
    try synchronize()
    for value in 6...8 {
      a.disconnect()
      try a.set("Thing", .int(1), 1, .int(Int64(value)))
      try synchronize()
      for replica in [a, b] {
        #expect(try replica.objects()["Thing 1"] == Object(a: Int64(value), rest: "1"))
      }
    }
  }

  @Test func `a deletion wins over edits`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try a.delete("Thing", .int(1))
    try b.set("Thing", .int(1), 1, .int(2))
    try synchronize()
    #expect(try a.objects() == [:])
    #expect(try b.objects() == [:])
    #expect(try server.value("SELECT count(*) FROM \"Thing\"") == "0")
  }

  @Test(arguments: [false, true])
  func `edits of a deleted object are not those of its successor`(goesOverAll: Bool) throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try a.delete("Thing", .int(1))
    try a.synchronize()
    try a.create("Thing", .int(1), a: 3)
    try a.synchronize()
    try b.set("Thing", .int(1), 2, .int(2))
    // A refused commit lets each be sent by itself, with the values that it had then.
    try b.create("Thing", .int(2), a: 13)
    if goesOverAll { #expect(try ServerRepair(server).restore() == []) }
    try synchronize()
    #expect(try a.objects() == ["Thing 1": Object(a: 3)])
    #expect(try b.objects() == ["Thing 1": Object(a: 3)])
  }

  @Test func `a deletion does not reach an object that got the key since`() throws {
    try a.create("Note", .string("n"), a: 1)
    try synchronize()
    try b.delete("Note", .string("n"))
    try a.delete("Note", .string("n"))
    try a.synchronize()
    try a.create("Note", .string("n"), a: 3)
    try synchronize()
    #expect(try a.objects() == ["Note n": Object(a: 3)])
    #expect(try b.objects() == ["Note n": Object(a: 3)])
  }

  @Test func `two creations of one key are one object`() throws {
    try a.connected().pull()
    try b.connected().pull()
    try a.create("Note", .string("n"), a: 1)
    try b.create("Note", .string("n"), a: 2)
    try b.set("Note", .string("n"), 2, .string("text"))
    try synchronize()
    #expect(try a.objects() == ["Note n": Object(a: 2, rest: "text")])
    #expect(try b.objects() == ["Note n": Object(a: 2, rest: "text")])
    #expect(try server.value("SELECT count(*) FROM \"Note\"") == "1")
  }

  @Test func `a link is nil without its target, and comes back with it`() throws {
    try a.create("Note", .string("n"), a: 1)
    try a.create("Thing", .int(1), a: 1, note: "n")
    try synchronize()
    #expect(try b.objects()["Thing 1"] == Object(a: 1, note: "n"))
    try b.delete("Note", .string("n"))
    try b.set("Thing", .int(1), 1, .int(2))
    try synchronize()
    #expect(try a.objects() == ["Thing 1": Object(a: 2)])
    // The file's nil follows from the deletion, and is not sent.
    #expect(try server.value("SELECT note FROM \"Thing\"") == "n")
    try a.create("Note", .string("n"), a: 5)
    try synchronize()
    for replica in [a, b] {
      #expect(try replica.objects()["Thing 1"] == Object(a: 2, note: "n"))
    }
  }

  @Test(arguments: [false, true])
  func `a link comes back with a target that is created again`(sendsBetween: Bool) throws {
    try a.create("Note", .string("n"), a: 1)
    try a.create("Thing", .int(1), a: 1, note: "n")
    try synchronize()
    try a.delete("Note", .string("n"))
    if sendsBetween { try synchronize() }
    try a.create("Note", .string("n"), a: 2)
    try synchronize()
    for replica in [a, b] {
      #expect(try replica.objects()["Thing 1"] == Object(a: 1, note: "n"))
    }
  }

  @Test func `a link waits for a target that was never here`() throws {
    try server.rows("INSERT INTO \"Thing\" (_id, a, note) VALUES (1, 1, 'n')")
    try synchronize()
    #expect(try a.objects() == ["Thing 1": Object(a: 1)])
    try a.set("Thing", .int(1), 1, .int(2))
    try synchronize()
    #expect(try server.value("SELECT note FROM \"Thing\"") == "n")
    try server.rows("INSERT INTO \"Note\" (_id, a) VALUES ('n', 1)")
    try synchronize()
    for replica in [a, b] {
      #expect(try replica.objects()["Thing 1"] == Object(a: 2, note: "n"))
    }
    // Nil by choice stays nil.
    try b.set("Thing", .int(1), 3, .null)
    try synchronize()
    #expect(try a.objects()["Thing 1"] == Object(a: 2))
    #expect(try server.value("SELECT note FROM \"Thing\"") == nil)
  }

  /// The commits are sent one by one, because one of them is refused.
  @Test func `a link does not come back with a target that is deleted meanwhile`() throws {
    try server.rows("INSERT INTO \"Thing\" (_id, a, note) VALUES (1, 1, 'n')")
    try synchronize()
    try a.create("Note", .string("n"), a: 1)
    try a.create("Thing", .int(2), a: 13)
    try a.delete("Note", .string("n"))
    try synchronize()
    #expect(a.refused.count == 1)
    #expect(try a.objects() == ["Thing 1": Object(a: 1)])
    #expect(try b.objects() == ["Thing 1": Object(a: 1)])
  }

  @Test func `a refused commit goes, and later ones stay`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try a.set("Thing", .int(1), 1, .int(13))
    try a.set("Thing", .int(1), 2, .int(5))
    try a.create("Thing", .int(2), a: 2)
    try synchronize()
    #expect(
      try a.objects() == ["Thing 1": Object(a: 1, rest: "5"), "Thing 2": Object(a: 2)])
    #expect(try b.objects() == a.objects())
    #expect(a.refused.map(\.error.state) == ["23514"])
    #expect(a.refused.first?.objects.map(\.primaryKey) == [.int(1)])
  }

  @Test(arguments: [
    ("ALTER TABLE \"Note\" ALTER text SET NOT NULL", ["text"]),
    ("ALTER TABLE \"Note\" ADD CHECK (text IS NOT NULL OR a = 9)", ["a", "text"]),
    ("CREATE UNIQUE INDEX ON \"Note\" (a, _id) WHERE a = 1", []),
    ("CREATE UNIQUE INDEX ON \"Note\" (a)", ["a"]),
  ])
  func `a refusal names the properties`(rule: String, names: [String]) throws {
    try server.rows("INSERT INTO \"Note\" (_id, a, text) VALUES ('m', 0, 'm')")
    try server.run(rule, for: "rule")
    try a.create("Note", .string("n"), a: 0)
    try a.synchronize()
    #expect(a.refused.flatMap(\.properties) == names)
  }

  /// A policy rests on another table, whose changes let all objects be compared.
  @Test func `an unsent change of an object that a policy hides meanwhile is refused`() throws {
    try server.run(
      """
      CREATE TABLE member (thing bigint); GRANT SELECT ON member TO PUBLIC;
      INSERT INTO member VALUES (1), (2);
      ALTER TABLE "Thing" ENABLE ROW LEVEL SECURITY;
      CREATE POLICY members ON "Thing" TO tarn_client
        USING (EXISTS (SELECT FROM member WHERE thing = _id)) WITH CHECK (true)
      """, for: "policy")
    _ = try ServerRepair(server).depend("Thing", on: "member")
    for number in 1...2 { try a.create("Thing", .int(Int64(number)), a: number) }
    try synchronize()
    try a.set("Thing", .int(1), 1, .int(5))
    try a.set("Thing", .int(2), 1, .int(6))
    try server.rows("DELETE FROM member WHERE thing = 1")
    try synchronize()
    for replica in [a, b] { #expect(try replica.objects() == ["Thing 2": Object(a: 6)]) }
    #expect(a.refused.map(\.error.state) == ["42501"])
    #expect(a.refused.first?.objects.map(\.primaryKey) == [.int(1)])
    #expect(try server.value("SELECT a FROM \"Thing\" WHERE _id = 1") == "1")
  }

  /// Nobody has to send these commits again when the right is back.
  @Test func `a function that the role may not call makes commits wait`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try server.rows("REVOKE EXECUTE ON FUNCTION tarn.push FROM tarn_client")
    try a.set("Thing", .int(1), 1, .int(5))
    let error = #expect(throws: ServerError.self) { try a.synchronize() }
    #expect(error?.state == ServerError.lacksRight)
    #expect(error?.isLasting == true)
    #expect(error?.hint.contains("tarn server migrate") == true)
    #expect(try a.objects() == ["Thing 1": Object(a: 5)])
    try ServerMigration(server).run()
    a.disconnect()
    try synchronize()
    #expect(a.refused.isEmpty)
    #expect(try server.value("SELECT a FROM \"Thing\"") == "5")
  }

  @Test func `a table in a schema that the owner may not use makes commits wait`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try server.run(
      """
      CREATE SCHEMA app; GRANT USAGE ON SCHEMA app TO tarn_client, tarn_owner;
      ALTER TABLE "Thing" SET SCHEMA app
      """, for: "test")
    try ServerMigration(server).run()
    try server.rows("REVOKE USAGE ON SCHEMA app FROM tarn_owner")
    try a.set("Thing", .int(1), 1, .int(5))
    a.disconnect()
    let error = #expect(throws: ServerError.self) { try a.synchronize() }
    #expect(error?.hint.contains("GRANT USAGE ON SCHEMA app TO tarn_owner") == true)
    try server.rows("GRANT USAGE ON SCHEMA app TO tarn_owner")
    a.disconnect()
    b.disconnect()
    try synchronize()
    #expect(a.refused.isEmpty)
    #expect(try server.value("SELECT a FROM app.\"Thing\"") == "5")
  }

  @Test func `commits with large values are sent one by one`() throws {
    try a.connected().pull()
    try a.connected().pushBytes = 3_000
    for number in 1...4 { try a.create("Note", .string("n\(number)"), a: number) }
    for number in 1...4 {
      try a.set("Note", .string("n\(number)"), 2, .string(String(repeating: "x", count: 2_000)))
    }
    try synchronize()
    #expect(try b.objects() == a.objects())
    #expect(try server.value("SELECT count(DISTINCT _tarn_xid) FROM \"Note\"") == "4")
  }

  @Test func `a message about a refused commit is kept until it is delivered`() throws {
    try a.synchronize()
    let key = Value.string("\u{0}n")
    try a.replica.edit { edit, _ throws(StorageError) in
      try edit.note(
        RefusedCommit(
          version: 7, objects: [("Note", key), ("Thing", .int(1))],
          error: ServerError(state: "23514", "send", "no", detail: "d", hint: "h"),
          properties: ["a", "b"]))
    }
    for _ in 0..<2 {
      a.disconnect()
      try a.synchronize()
    }
    #expect(a.refused.map(\.version) == [7])
    #expect(a.refused.first?.objects.map(\.className) == ["Note", "Thing"])
    #expect(a.refused.first?.properties == ["a", "b"])
    #expect(a.refused.first?.objects.map(\.primaryKey) == [key, .int(1)])
    #expect(a.refused.first?.error.description == "cannot send: no (SQLSTATE 23514)\nd\nh")
  }

  @Test func `a write by SQL is a commit like any other`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try server.rows("UPDATE \"Thing\" SET a = 4, b = 5 WHERE _id = 1")
    try synchronize()
    #expect(try a.objects() == ["Thing 1": Object(a: 4, rest: "5")])
    try server.rows("DELETE FROM \"Thing\"")
    try synchronize()
    #expect(try b.objects() == [:])
  }

  /// Without the records of the commits nothing is known of edits; whole objects are not lost.
  @Test func `a file whose cursor was deleted compares everything`() throws {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    b.end()
    try b.store.deleteCursor("tarn-sync")
    try b.set("Thing", .int(1), 1, .int(2))
    try b.create("Thing", .int(2), a: 3)
    let again = try FileReplica(b.path) { [database, server] in
      try database.connect(as: server.value("SELECT role FROM tarn.replica LIMIT 1") ?? "")
    }
    try again.synchronize()
    try a.synchronize()
    let expected = ["Thing 1": Object(a: 1), "Thing 2": Object(a: 3)]
    #expect(try again.objects() == expected)
    #expect(try a.objects() == expected)
    again.end()
  }

  /// Otherwise each download would wake all other replicas.
  @Test func `a download leaves nothing to send`() throws {
    try synchronize()
    try a.create("Thing", .int(1), a: 1)
    #expect(try a.connected().sendAll() == .sent)
    #expect(try b.connected().pull())
    #expect(try b.connected().sendAll() == .nothing)
    #expect(try !b.connected().pull())
  }

  @Test func `a link that waits is not one of the object's successor`() throws {
    try server.rows("INSERT INTO \"Thing\" (_id, a, note) VALUES (1, 1, 'n')")
    try synchronize()
    try server.rows("DELETE FROM \"Thing\"")
    try synchronize()
    try a.create("Thing", .int(1), a: 2)
    try server.rows("INSERT INTO \"Note\" (_id, a) VALUES ('n', 1)")
    try synchronize()
    #expect(try a.objects()["Thing 1"] == Object(a: 2))
    #expect(try b.objects()["Thing 1"] == Object(a: 2))
  }

  /// The replica does not exist in the backup, and has changed an object that does.
  @Test func `what a restored server has lost of a younger replica is sent again`() throws {
    try b.create("Thing", .int(1), a: 1)
    try b.create("Thing", .int(2), a: 2)
    try b.synchronize()
    let copy = try ServerCopy(server)
    try a.synchronize()
    try a.set("Thing", .int(1), 1, .int(7))
    try a.delete("Thing", .int(2))
    try a.create("Thing", .int(3), a: 3)
    try a.synchronize()
    try copy.restore()
    try synchronize()
    let wanted = ["Thing 1": Object(a: 7), "Thing 3": Object(a: 3)]
    #expect(try a.objects() == wanted)
    #expect(try b.objects() == wanted)
  }

  /// The store that has sent more than the server remembers notices it, others with their digest.
  @Test func `a restore that is not announced is noticed by the store that has sent since`() throws
  {
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    let copy = try ServerCopy(server)
    try a.set("Thing", .int(1), 1, .int(7))
    try a.create("Thing", .int(2), a: 2)
    try synchronize()
    try copy.restore(announces: false)
    try synchronize()
    let wanted = ["Thing 1": Object(a: 7), "Thing 2": Object(a: 2)]
    #expect(try a.objects() == wanted)
    #expect(try b.objects() == wanted)
  }

  @Test func `an object that a restored server has lost goes back without a refused change`() throws
  {
    let copy = try ServerCopy(server)
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try copy.restore()
    try b.set("Thing", .int(1), 1, .int(13))
    try b.set("Thing", .int(1), 2, .int(7))
    try b.synchronize()
    #expect(b.refused.count == 1)
    try synchronize()
    #expect(try a.objects() == ["Thing 1": Object(a: 1, rest: "7")])
    #expect(try b.objects() == ["Thing 1": Object(a: 1, rest: "7")])
  }

  @Test func `an unsent change of an object that another store has sent again is kept`() throws {
    let copy = try ServerCopy(server)
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    try copy.restore()
    try b.set("Thing", .int(1), 2, .int(7))
    try synchronize()
    #expect(b.refused.isEmpty)
    #expect(try a.objects() == ["Thing 1": Object(a: 1, rest: "7")])
    #expect(try b.objects() == ["Thing 1": Object(a: 1, rest: "7")])
  }
}
