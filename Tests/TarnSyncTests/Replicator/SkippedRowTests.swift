import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Rows that the server does not write, or writes past Tarn's triggers, although it reports
/// success.
@Suite struct SkippedRowTests {
  private let pair: ReplicaPair

  init() throws {
    pair = try ReplicaPair()
    try pair.a.commit { session in
      for key in 1...3 {
        try session.create(
          [ColumnID(0): .int(Int64(key)), ColumnID(1): .int(Int64(key))], in: ClassID(0))
      }
    }
    try pair.synchronize()
  }

  private func trigger(_ event: String, _ body: String) throws {
    try pair.server.run(
      """
      CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(body) END $$;
      CREATE TRIGGER own BEFORE \(event) ON "Thing" FOR EACH ROW EXECUTE FUNCTION own()
      """, for: "test")
  }

  private func things(_ replica: FileReplica) throws -> [String: Int64] {
    try replica.objects().filter { $0.key.hasPrefix("Thing") }.mapValues(\.a)
  }

  private func expectSame(_ things: [String: Int64]) throws {
    try pair.synchronize()
    let fresh = try pair.freshStore()
    defer { fresh.end() }
    try fresh.synchronize()
    for replica in [pair.a, pair.b, fresh] { #expect(try self.things(replica) == things) }
    #expect(pair.b.refused.isEmpty)
  }

  private func expectRefusal(_ text: String, of key: Int64) throws {
    #expect(pair.a.refused.map(\.error.state) == ["09000"])
    let refused = try #require(pair.a.refused.first)
    #expect(refused.error.message.contains(text), "\(refused.error)")
    #expect(refused.objects.map(\.primaryKey) == [.int(key)])
  }

  @Test(arguments: [
    "TRIGGER", "CREATE RULE r AS ON INSERT TO \"Thing\" WHERE NEW.a = 99 DO INSTEAD NOTHING",
    "CREATE RULE r AS ON INSERT TO \"Thing\" DO INSTEAD NOTHING",
  ])
  func `an object whose row the server skips is taken back`(_ rule: String) throws {
    if rule == "TRIGGER" {
      try trigger("INSERT", "IF NEW.a = 99 THEN RETURN NULL; END IF; RETURN NEW;")
    } else {
      try pair.server.rows(rule)
    }
    try pair.a.create("Thing", .int(4), a: 99)
    try expectSame(["Thing 1": 1, "Thing 2": 2, "Thing 3": 3])
    try expectRefusal("trigger or rule of public.\"Thing\" skipped", of: 4)
  }

  @Test func `only the commit is taken back whose row is skipped`() throws {
    try trigger("INSERT", "IF NEW.a = 99 THEN RETURN NULL; END IF; RETURN NEW;")
    for (key, a) in [(4, 4), (5, 99), (6, 6)] {
      try pair.a.create("Thing", .int(Int64(key)), a: a)
    }
    try expectSame(["Thing 1": 1, "Thing 2": 2, "Thing 3": 3, "Thing 4": 4, "Thing 6": 6])
    try expectRefusal("skipped the row", of: 5)
  }

  @Test func `a change that a trigger skips is taken back, and not for lack of a right`() throws {
    try trigger("UPDATE", "IF NEW.a = 99 THEN RETURN NULL; END IF; RETURN NEW;")
    try pair.a.set("Thing", .int(1), 1, .int(99))
    try pair.a.set("Thing", .int(2), 1, .int(5))
    try expectSame(["Thing 1": 1, "Thing 2": 5, "Thing 3": 3])
    try expectRefusal("a trigger or rule of public.\"Thing\" skipped", of: 1)
  }

  @Test(arguments: [
    "TRIGGER", "CREATE RULE r AS ON DELETE TO \"Thing\" DO INSTEAD NOTHING",
    """
    ALTER TABLE "Thing" ENABLE ROW LEVEL SECURITY;
    CREATE POLICY s ON "Thing" FOR SELECT USING (true)
    """,
  ])
  func `an object whose deletion the server skips comes back`(_ script: String) throws {
    if script == "TRIGGER" {
      try trigger("DELETE", "RETURN NULL;")
    } else {
      try pair.server.run(script, for: "test")
    }
    try pair.a.delete("Thing", .int(1))
    try expectSame(["Thing 1": 1, "Thing 2": 2, "Thing 3": 3])
    try expectRefusal("rule of public.\"Thing\" skipped", of: 1)
    let isPolicy = script.contains("POLICY")
    #expect(pair.a.refused[0].error.message.hasPrefix("a policy") == isPolicy)
  }

  @Test func `a trigger that marks a row in place of its deletion brings the object back`() throws {
    try trigger(
      "DELETE", "UPDATE \"Thing\" SET a = 50 WHERE _id = OLD._id; RETURN NULL;")
    try pair.a.delete("Thing", .int(1))
    try pair.a.set("Thing", .int(2), 1, .int(5))
    try expectSame(["Thing 1": 50, "Thing 2": 5, "Thing 3": 3])
    #expect(pair.a.refused.isEmpty)
  }

  @Test func `objects that two stores delete are gone without a refusal`() throws {
    for replica in [pair.a, pair.b] {
      for key in 1...2 { try replica.delete("Thing", .int(Int64(key))) }
    }
    try pair.a.create("Thing", .int(4), a: 4)
    try expectSame(["Thing 3": 3, "Thing 4": 4])
    #expect(pair.a.refused.isEmpty)
  }

  @Test func `a new object whose key a trigger changes is taken back`() throws {
    try trigger(
      "INSERT", "IF NEW.a = 99 THEN NEW._id := NEW._id + 500; END IF; RETURN NEW;")
    try pair.a.create("Thing", .int(4), a: 99)
    try pair.a.create("Thing", .int(5), a: 5)
    try expectSame(["Thing 1": 1, "Thing 2": 2, "Thing 3": 3, "Thing 5": 5])
    try expectRefusal("has changed the primary key of a new object from 4 to 504", of: 4)
  }

  // MARK: - Child tables

  @Test func `rows of child tables reach no store`() throws {
    try pair.server.run(
      """
      CREATE TABLE kid () INHERITS ("Thing");
      INSERT INTO kid (_id, a, _tarn_xid, _tarn_oid, _tarn_at, _tarn_by)
      VALUES (7, 7, pg_current_xact_id(), 7, 1, 0), (1, 8, pg_current_xact_id(), 8, 1, 0)
      """, for: "test")
    #expect(try ServerRepair(pair.server).touch("Thing") == 3)
    try pair.a.set("Thing", .int(1), 1, .int(5))
    try expectSame(["Thing 1": 5, "Thing 2": 2, "Thing 3": 3])
    #expect(try pair.a.connected().compareDigests())
    try pair.b.delete("Thing", .int(1))
    try expectSame(["Thing 2": 2, "Thing 3": 3])
    #expect(try pair.server.value("SELECT count(*) FROM kid") == "2")
  }

  // MARK: - Tarn's own triggers

  private func change(_ kind: Int) throws {
    switch kind {
    case 0: try pair.a.create("Thing", .int(4), a: 4)
    case 1: try pair.a.set("Thing", .int(1), 1, .int(7))
    default: try pair.a.delete("Thing", .int(2))
    }
  }

  @Test(
    arguments: [
      "ALTER TABLE \"Thing\" DISABLE TRIGGER ALL",
      "DROP TRIGGER \"~tarn\" ON \"Thing\"; DROP TRIGGER \"~tarn_gone\" ON \"Thing\"",
    ], [0, 1, 2])
  func `commits wait while Tarn's triggers are off`(_ script: String, _ kind: Int) throws {
    try pair.server.run(script, for: "test")
    try change(kind)
    let error = #expect(throws: ServerError.self) { try pair.a.synchronize() }
    #expect(error?.state == "55000")
    #expect(error?.message.hasPrefix("Tarn's triggers of ") == true)
    #expect(error?.message.hasSuffix(".\"Thing\" are disabled or missing") == true)
    #expect(try pair.server.value("SELECT sum(_id * 10 + a) FROM \"Thing\"") == "66")

    let classes = try ServerCatalog(pair.server, "test").existing("Thing")
    try ServerCatalog(pair.server, "test").changing { () throws(ServerError) in
      try ServerCatalog(pair.server, "test").makeTriggers(classes)
    }
    var things: [String: Int64] = ["Thing 1": 1, "Thing 2": 2, "Thing 3": 3]
    switch kind {
    case 0: things["Thing 4"] = 4
    case 1: things["Thing 1"] = 7
    default: things["Thing 2"] = nil
    }
    try expectSame(things)
    #expect(pair.a.refused.isEmpty)
  }
}
