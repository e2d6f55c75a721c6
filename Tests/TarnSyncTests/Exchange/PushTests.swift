import Foundation
import TarnStore
import Testing

@testable import TarnSync

/// The answers to one push.
@Suite struct PushTests {
  private let database: PostgresDatabase
  private let client: ServerConnection
  private let described: ExchangeClass
  private let id = UUID().uuidString
  private let number: UInt32

  init() throws {
    database = try PostgresDatabase([ServerPeer.thing])
    client = try database.connect(as: database.makeClient())
    described = try ExchangeClass(
      ServerCatalog(client, "test").existing("Thing"), ServerPeer.thing)
    number = try #require(
      try client.value("SELECT tarn.register($1)", [id]).flatMap { UInt32($0) })
  }

  private func pull(_ classes: [ExchangeClass]? = nil) throws -> Pull.Answer {
    try Pull(connection: client, replica: id).run(classes ?? [described], since: .none)
  }

  private func value(_ number: Int64, at time: Int64 = 1_000) -> ObjectRow<WireValue?>.Property {
    .init(.single(WireValue(.int(number))), Stamp(time, by: self.number))
  }

  /// Sends one more commit.
  private func push(_ key: Int64, _ operation: Push.Operation) throws -> Push.Answer {
    let answer = try pull([])
    let own = try #require(answer.own)
    return try Push(connection: client, replica: (id, number), server: answer.server).run(
      Push.Range(first: own, last: (own.version + 1, own.commit + 1)),
      [(described, [(.int(key), operation)])])
  }

  private func row(_ incarnation: Int64) -> ObjectRow<WireValue?> {
    ObjectRow(incarnation: incarnation, values: ["a": value(1), "b": value(2)])
  }

  @Test func `an object is made, changed and deleted`() throws {
    let administrator = try database.connect()
    #expect(try push(7, .insert(row(70))) == .taken)
    #expect(try push(7, .update(incarnation: 70, ["a": value(5, at: 2_000)])) == .taken)
    #expect(
      try administrator.rows("SELECT _id, a, b, _tarn_oid FROM \"Thing\"")
        == [["7", "5", "2", "70"]])
    // An older value does not win.
    #expect(try push(7, .update(incarnation: 70, ["a": value(4, at: 1_500)])) == .taken)
    #expect(try administrator.value("SELECT a FROM \"Thing\"") == "5")
    // Nor does a deletion of another incarnation delete this one.
    #expect(try push(7, .delete(incarnation: 71)) == .taken)
    #expect(try administrator.value("SELECT count(*) FROM \"Thing\"") == "1")
    #expect(try push(7, .delete(incarnation: 70)) == .taken)
    #expect(try administrator.value("SELECT count(*) FROM \"Thing\"") == "0")
    #expect(try pull().own?.version == 5)
  }

  @Test func `an edit of an object that was deleted is taken, and the object stays deleted`() throws
  {
    _ = try push(7, .insert(row(70)))
    try database.connect().rows("DELETE FROM \"Thing\"")
    #expect(try push(7, .update(incarnation: 70, ["a": value(5)])) == .taken)
  }

  @Test func `an edit of an object that the server has lost says so`() throws {
    #expect(try push(7, .update(incarnation: 70, ["a": value(5)])) == .lost([70]))
    #expect(try pull().own?.version == 0)
  }

  @Test func `an object with the key of a new one is merged with first`() throws {
    _ = try push(7, .insert(row(70)))
    #expect(try push(7, .insert(row(71))) == .mergeFirst)
    #expect(try pull().own?.version == 1)
  }

  @Test func `what the login may not see it cannot change, nor make again`() throws {
    _ = try push(7, .insert(row(70)))
    try database.connect().run(
      """
      ALTER TABLE "Thing" ENABLE ROW LEVEL SECURITY;
      CREATE POLICY small ON "Thing" TO tarn_client USING (a < 1) WITH CHECK (true)
      """, for: "make a policy")
    for (operation, reason) in [
      (Push.Operation.update(incarnation: 70, ["a": value(5)]), "the login has no right to"),
      (.insert(row(71)), "Thing_pkey"),
    ] {
      guard case .refused(let error) = try push(7, operation) else {
        Issue.record("it was not refused")
        continue
      }
      #expect(error.message.contains(reason))
    }
    let answer = try pull()
    #expect(answer.own?.version == 1)
    #expect(answer.changes[described.id]?.rows.isEmpty == true)
    #expect(answer.changes[described.id]?.incarnations == [70])
  }

  /// As for objects that only report something.
  @Test func `a login may be allowed to insert alone`() throws {
    try database.connect().run(
      "REVOKE ALL ON \"Thing\" FROM tarn_client; GRANT INSERT ON \"Thing\" TO tarn_client",
      for: "take rights")
    #expect(try push(7, .insert(row(70))) == .taken)
    #expect(try database.connect().value("SELECT count(*) FROM \"Thing\"") == "1")
    #expect(client.refusal("SELECT FROM \"Thing\"") == "42501")
  }

  @Test func `a rule of the server refuses with its code`() throws {
    try database.connect().rows("ALTER TABLE \"Thing\" ADD CHECK (a <> 1)")
    guard case .refused(let error) = try push(7, .insert(row(70))) else {
      Issue.record("it was not refused")
      return
    }
    #expect(error.state == "23514")
    #expect(try pull().own?.version == 0)
  }

  /// A row that somebody has locked for long is tried again later.
  @Test func `a lock is waited for, and then is no refusal`() throws {
    _ = try push(7, .insert(row(70)))
    let other = try database.connect()
    try other.rows("BEGIN")
    try other.rows("UPDATE \"Thing\" SET b = 9")
    let error = #expect(throws: ServerError.self) {
      try push(7, .update(incarnation: 70, ["a": value(5)]))
    }
    #expect(error?.state == "55P03")
    try other.rows("COMMIT")
    #expect(try push(7, .update(incarnation: 70, ["a": value(5, at: 3_000)])) == .taken)
  }

  /// PostgreSQL's jsonb takes no more, and libpq sends no message that is much larger.
  @Test func `a value that no server takes is refused before it is sent`() throws {
    let large = WireValue([UInt8](repeating: 65, count: Push.valueBytesMax + 1))
    let property = ObjectRow<WireValue?>.Property(.single(large), Stamp(1, by: 1))
    guard
      case .refused(let error) = try push(7, .update(incarnation: 70, ["a": property]))
    else {
      Issue.record("it was not refused")
      return
    }
    #expect(error.state == "54000")
  }
}
