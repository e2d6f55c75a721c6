import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Files that have some objects of a class.
@Suite final class SubscriptionTests: ReplicaPair {
  private func things(_ replica: FileReplica) throws -> [String] {
    try replica.objects().keys.filter { $0.hasPrefix("Thing") }.sorted()
  }

  private func state(_ replica: FileReplica) throws -> SubscriptionSet.State? {
    try SubscriptionSet.read(in: replica.store.newestSnapshot())?.state
  }

  /// Ten things whose `a` is their key.
  private func makeThings() throws {
    try server.rows("INSERT INTO \"Thing\" (_id, a) SELECT n, n FROM generate_series(1, 10) n")
  }

  @Test func `a file has the objects of its subscriptions`() throws {
    try makeThings()
    try a.subscribe(["Thing": ["a < 3", "a = 9"]])
    #expect(try state(a) == .pending)
    try a.synchronize()
    #expect(try things(a) == ["Thing 1", "Thing 2", "Thing 9"])
    #expect(try state(a) == .complete)
    // One comes, one goes.
    try server.rows("UPDATE \"Thing\" SET a = CASE a WHEN 1 THEN 5 ELSE 2 END WHERE _id IN (1, 8)")
    try a.synchronize()
    #expect(try things(a) == ["Thing 2", "Thing 8", "Thing 9"])
    try a.subscribe(["Thing": ["a = 9"]])
    try a.synchronize()
    #expect(try things(a) == ["Thing 9"])
    try a.subscribe([:])
    try a.synchronize()
    #expect(try things(a) == [])
    #expect(try server.value("SELECT count(*) FROM \"Thing\"") == "10")
  }

  @Test func `a file that had all objects keeps those that are subscribed to`() throws {
    try makeThings()
    try a.synchronize()
    try a.subscribe(["Thing": ["a < 3"]])
    try a.synchronize()
    #expect(try things(a) == ["Thing 1", "Thing 2"])
  }

  @Test func `an unsent change of an object that leaves is sent first`() throws {
    try makeThings()
    try a.subscribe(["Thing": ["a < 3"]])
    try a.synchronize()
    try a.set("Thing", .int(1), 2, .int(77))
    try server.rows("UPDATE \"Thing\" SET a = 50 WHERE _id = 1")
    try a.connected().pull()
    #expect(try things(a) == ["Thing 1", "Thing 2"])
    try a.synchronize()
    #expect(try things(a) == ["Thing 2"])
    #expect(try server.rows("SELECT a, b FROM \"Thing\" WHERE _id = 1") == [["50", "77"]])
  }

  @Test func `an unsent deletion of an object that leaves is sent`() throws {
    try makeThings()
    try a.subscribe(["Thing": ["a < 3"]])
    try a.synchronize()
    try a.delete("Thing", .int(1))
    try server.rows("UPDATE \"Thing\" SET a = 50 WHERE _id = 1")
    try a.synchronize()
    #expect(try server.rows("SELECT _id FROM \"Thing\" WHERE _id = 1") == [])
  }

  @Test func `a new object that no subscription chooses goes to the server`() throws {
    try a.subscribe(["Thing": ["a < 3"]])
    try a.synchronize()
    try a.create("Thing", .int(1), a: 40)
    #expect(try things(a) == ["Thing 1"])
    try a.synchronize()
    #expect(try things(a) == [])
    #expect(try server.rows("SELECT _id, a FROM \"Thing\"") == [["1", "40"]])
  }

  @Test func `a new object is one with a hidden one of its key`() throws {
    try server.rows("INSERT INTO \"Thing\" (_id, a, b) VALUES (1, 50, 7)")
    try a.subscribe(["Thing": ["a < 3"]])
    try a.synchronize()
    try a.create("Thing", .int(1), a: 2)
    try a.synchronize()
    #expect(try server.rows("SELECT a FROM \"Thing\"") == [["2"]])
    #expect(try things(a) == ["Thing 1"])
  }

  @Test func `pages go on where a killed process ended`() throws {
    try server.rows(
      "INSERT INTO \"Thing\" (_id, a) SELECT n, 1 FROM generate_series(1, 1200) n")
    try a.subscribe(["Thing": ["a < 3"]])
    let link = try a.connected()
    link.pagesMax = 1
    while try things(a).isEmpty { try link.pull() }
    let count = try things(a).count
    #expect(count == 500)
    #expect(try state(a) == .pending)
    a.disconnect()
    let progress = try ReplicaObjects(a.store.newestSnapshot()).progress(of: ClassID(0))
    #expect(progress?.last == .int(500))
    // One page of the rest, not two.
    try a.connected().pageSize = PageSize(rows: 1_000)
    try a.connected().pull()
    #expect(try things(a).count == 1_200)
    #expect(try state(a) == .complete)
  }

  @Test func `a transaction is not shown in half while objects are fetched`() throws {
    try server.rows(
      "INSERT INTO \"Thing\" (_id, a, b) SELECT n, 1 + n % 2, 10 FROM generate_series(1, 2000) n")
    try a.subscribe(["Thing": ["a = 1"]])
    try a.synchronize()
    try a.subscribe(["Thing": ["a = 1", "a = 2"]])
    let link = try a.connected()
    link.pagesMax = 1
    var (steps, random) = (0, SeededRandom(seed: 3))
    repeat {
      link.pageSize = PageSize(rows: 100)
      // Moves 1 from one thing to another of the complete query.
      let (from, to) = (random.below(1_000) * 2 + 2, random.below(1_000) * 2 + 2)
      try server.rows(
        """
        UPDATE "Thing" SET b = b + CASE _id WHEN \(from) THEN -1 ELSE 1 END
        WHERE _id IN (\(from), \(to)) AND \(from) <> \(to)
        """)
      try link.pull()
      steps += 1
      let sum = try a.objects().filter { $0.key.hasPrefix("Thing") && $0.value.a == 1 }
        .reduce(0) { $0 + (Int($1.value.rest ?? "") ?? 0) }
      #expect(sum == 10_000)
    } while !link.isComplete
    #expect(steps > 9)
    try a.synchronize()
    #expect(try things(a).count == 2_000)
  }

  @Test func `a query that the server cannot answer fails, and the others stay`() throws {
    try makeThings()
    try a.subscribe(["Thing": ["a < 3"]])
    try a.synchronize()
    try server.rows("ALTER TABLE \"Note\" DROP COLUMN a")
    try a.subscribe(["Thing": ["a < 5"], "Note": ["a < 3"]])
    // The classes are other ones than when it connected.
    let ended = #expect(throws: StorageError.self) { try a.connected().pull() }
    #expect(ended?.code == .conflict)
    a.disconnect()
    try a.connected().pull()
    guard case .failed(let reason) = try state(a) else {
      Issue.record("\(String(describing: try state(a)))")
      return
    }
    #expect(reason.contains("column \"a\" does not exist"))
    #expect(try things(a) == ["Thing 1", "Thing 2"])
  }

  @Test func `a role that may not read a class is an error until it may`() throws {
    try makeThings()
    let role = try a.connected().connection.value("SELECT session_user") ?? ""
    try server.rows("REVOKE SELECT ON \"Thing\" FROM tarn_client")
    try a.subscribe(["Thing": ["a < 3"]])
    let error = #expect(throws: ServerError.self) { try a.synchronize() }
    #expect(error?.state == "42501")
    #expect(error?.description.contains("subscribe to Thing") == true)
    guard case .failed(let reason) = try state(a) else { throw NotFailed() }
    #expect(reason == error?.description)
    try server.rows("GRANT SELECT ON \"Thing\" TO \(SQLText.name(role))")
    a.disconnect()
    try a.synchronize()
    #expect(try state(a) == .complete)
    #expect(try things(a) == ["Thing 1", "Thing 2"])
    // It loses the right later.
    try server.rows("REVOKE SELECT ON \"Thing\" FROM \(SQLText.name(role))")
    try server.rows("UPDATE \"Thing\" SET b = 5")
    #expect(throws: ServerError.self) { try a.synchronize() }
    guard case .failed = try state(a) else { throw NotFailed() }
    try server.rows("GRANT SELECT ON \"Thing\" TO \(SQLText.name(role))")
    try a.connected().pull()
    #expect(try state(a) == .complete)
  }

  @Test func `an error names each class that the server refuses, and nothing is changed`() throws {
    try makeThings()
    let role = try a.connected().connection.value("SELECT session_user") ?? ""
    try a.subscribe(["Thing": ["a < 3"]])
    try a.synchronize()
    try server.rows("REVOKE SELECT ON \"Note\", \"Box\" FROM tarn_client")
    try a.subscribe(["Thing": ["a < 5"], "Note": ["a < 3"], "Box": ["_id < 3"]])
    let error = #expect(throws: ServerError.self) { try a.synchronize() }
    #expect(error?.description.hasPrefix("cannot subscribe: the server refuses 2 classes") == true)
    for name in ["Box", "Note"] {
      let line = "\n- \(name): permission denied for table \(name) (SQLSTATE 42501)"
      #expect(error?.description.contains(line) == true, "\(error?.description ?? "")")
    }
    #expect(try state(a) == .failed("\(try #require(error))"))
    #expect(try things(a) == ["Thing 1", "Thing 2"])
    try server.rows("UPDATE \"Thing\" SET a = 1 WHERE _id = 9")
    #expect(throws: ServerError.self) { try a.synchronize() }
    #expect(try things(a) == ["Thing 1", "Thing 2", "Thing 9"])
    try server.rows("GRANT SELECT ON \"Note\", \"Box\" TO \(SQLText.name(role))")
    a.disconnect()
    try a.synchronize()
    #expect(try state(a) == .complete)
    // The same when rights are lost later.
    try server.rows("REVOKE SELECT ON \"Note\", \"Box\" FROM \(SQLText.name(role))")
    try server.rows("INSERT INTO \"Note\" (_id, a) VALUES ('n', 1)")
    let later = #expect(throws: ServerError.self) { try a.synchronize() }
    #expect(later?.description.contains("\n- Box: permission") == true)
    #expect(later?.description.contains("\n- Note: permission") == true)
    guard case .failed(let reason) = try state(a) else { throw NotFailed() }
    #expect(reason == later?.description)
  }

  private struct NotFailed: Error {}

  /// Both are parts of other characters with what is beside them.
  private static let attack = "x\u{600}' OR true OR text = '\u{200c}z"

  private func makeNotes() throws {
    for (number, text) in ["x", Self.attack, "é", "e\u{301}"].enumerated() {
      try server.rows(
        "INSERT INTO \"Note\" (_id, a, text) VALUES ($1, 0, $2)", ["\(number)", text])
    }
  }

  private func notes() throws -> [String] {
    try a.objects().keys.filter { $0.hasPrefix("Note") }.sorted()
  }

  @Test func `a text in a condition is only a text`() throws {
    try makeNotes()
    let text = Value.string(Self.attack).predicateText
    try a.subscribe(["Note": ["text == \(text)"]])
    try a.synchronize()
    #expect(try notes() == ["Note 1"])
  }

  @Test func `a condition that an earlier build has written badly means what it says`() throws {
    try makeNotes()
    try a.subscribe(["Note": ["text == \(Value.string(Self.attack).predicateText)"]])
    let bad = "coalesce((\"text\" COLLATE \"C\") = '\(Self.attack)', false)"
    try a.store.editSubscriptions { set in
      set.subscriptions[0].sql = bad
      return true
    }
    try a.synchronize()
    #expect(try notes() == ["Note 1"])
    #expect(try SubscriptionSet.read(in: a.store.newestSnapshot())?.subscriptions[0].sql == bad)
    // Without a condition that can be read nothing says what it means.
    try a.store.editSubscriptions { set in
      set.subscriptions[0].condition = "text ??"
      set.renew()
      return true
    }
    #expect(throws: ServerError.self) { try a.synchronize() }
    guard case .failed(let reason) = try state(a) else { throw NotFailed() }
    #expect(reason.contains("text ??"))
  }

  @Test func `two forms of one letter are two queries`() throws {
    try makeNotes()
    try a.subscribe(["Note": ["text == \"\u{e9}\""]])
    try a.synchronize()
    #expect(try notes() == ["Note 2"])
    try a.subscribe(["Note": ["text == \"e\u{301}\""]])
    try a.synchronize()
    #expect(try notes() == ["Note 3"])
  }

  @Test func `another process's subscriptions take effect`() throws {
    try makeThings()
    try a.synchronize()
    let set = try a.store.editSubscriptions { _ in false }
    #expect(set == SubscriptionSet())
    #expect(try state(a) == nil)
    #expect(try !a.connected().hasNewSubscriptions)
    try a.subscribe(["Thing": ["a = 4"]])
    #expect(try a.connected().hasNewSubscriptions)
    try a.synchronize()
    #expect(try !a.connected().hasNewSubscriptions)
    #expect(try things(a) == ["Thing 4"])
  }

  @Test func `a transaction that is too large for one step is fetched in pages`() throws {
    try makeThings()
    try a.subscribe(["Thing": ["a < 5000"], "Note": ["TRUEPREDICATE"]])
    try a.synchronize()
    let link = try a.connected()
    link.stepBytes = 20_000
    try server.run(
      """
      BEGIN; INSERT INTO "Thing" (_id, a) SELECT n, 1 FROM generate_series(100, 1100) n;
      DELETE FROM "Thing" WHERE _id = 1; INSERT INTO "Note" (_id, a) VALUES ('n', 1); COMMIT
      """, for: "write much")
    try link.pull()
    // What is small enough is here; the rest follows, and the subscriptions say so.
    #expect(try a.objects().keys.contains { $0.hasPrefix("Note") })
    #expect(try state(a) == .pending)
    #expect(try things(a).count == 10)
    try a.synchronize()
    #expect(try state(a) == .complete)
    #expect(try things(a).count == 1_010)
    try server.rows("UPDATE \"Thing\" SET a = 2 WHERE _id = 100")
    try a.synchronize()
    #expect(try a.objects()["Thing 100"]?.a == 2)
  }

  @Test func `a digest finds what no transaction told`() throws {
    try makeThings()
    try a.subscribe(["Thing": ["a < 7"], "Note": ["TRUEPREDICATE"]])
    try a.synchronize()
    #expect(try a.connected().compareDigests())
    #expect(try a.connected().isComplete)
    // Past the triggers: one is lost, and one changes its id.
    try server.run(
      """
      BEGIN; ALTER TABLE "Thing" DISABLE TRIGGER ALL; DELETE FROM "Thing" WHERE _id = 2;
      UPDATE "Thing" SET _tarn_oid = _tarn_oid + 1, a = 3 WHERE _id = 4;
      ALTER TABLE "Thing" ENABLE TRIGGER ALL; COMMIT
      """, for: "write past the triggers")
    try a.connected().pull()
    #expect(try things(a).count == 6)
    #expect(try a.connected().compareDigests())
    #expect(try state(a) == .pending)
    try a.synchronize()
    #expect(try things(a).count == 5)
    #expect(try a.objects()["Thing 4"]?.a == 3)
    #expect(try state(a) == .complete)
    #expect(try a.connected().compareDigests())
    #expect(try a.connected().isComplete)
  }
}
