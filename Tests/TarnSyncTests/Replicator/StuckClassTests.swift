import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Pushes to which the server gives the same answer again and again.
@Suite struct StuckClassTests {
  private let server: ServerConnection
  private let replica: FileReplica
  private let folder = TemporaryFolder()

  init() throws {
    let (database, role) = try FileReplica.server()
    server = try database.connect()
    replica = try FileReplica(folder.file("a")) { try database.connect(as: role) }
  }

  /// Lets each write of a class raise an error.
  private func fail(_ table: String, _ statement: String, when condition: String = "true") throws {
    try server.rows(
      """
      CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $f$
      BEGIN IF \(condition) THEN \(statement); END IF; RETURN NEW; END $f$
      """)
    try server.rows(
      "CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON \"\(table)\" FOR EACH ROW"
        + " EXECUTE FUNCTION fail()")
  }

  private func mend(_ table: String) throws { try server.rows("DROP TRIGGER fail ON \"\(table)\"") }

  /// Runs sessions until nothing is left that can be sent.
  ///
  /// - Returns: the codes of their failures.
  private func exchange(_ count: Int) throws -> [String] {
    var states: [String] = []
    for _ in 0..<count {
      do {
        try replica.synchronize()
      } catch let error as ServerError {
        states.append(error.state)
      }
      replica.disconnect()
    }
    return states
  }

  private func keys(_ table: String) throws -> [String?] {
    try server.rows("SELECT _id FROM \"\(table)\" ORDER BY _id").map { $0[0] }
  }

  private func isAllSent() throws -> Bool? {
    try UnsentCount(replica.store)?.isNothing(upTo: replica.store.newestSnapshot().version)
  }

  private func stuck() throws -> [StuckClass] {
    try #require(try ReplicaReport.of(replica.store)).stuck
  }

  @Test(arguments: [
    "PERFORM nothing_like_that()", "RAISE EXCEPTION 'no' USING ERRCODE = '40001'",
    "RAISE EXCEPTION 'no' USING ERRCODE = '55000'", "RAISE EXCEPTION 'no' USING ERRCODE = '0A000'",
  ])
  func `a class that the server does not take holds up no other`(statement: String) throws {
    defer { replica.end() }
    try replica.synchronize()
    try fail("Thing", statement)
    try replica.create("Note", .string("n1"), a: 1)
    try replica.commit { session in
      try session.create([ColumnID(0): .int(1), ColumnID(1): .int(1)], in: ClassID(0))
      try session.create([ColumnID(0): .string("n2"), ColumnID(1): .int(2)], in: ClassID(1))
    }
    try replica.create("Note", .string("n3"), a: 3)
    let states = try exchange(5)
    #expect(states.count == 5)
    #expect(Set(states).count == 1)
    #expect(try keys("Note") == ["n1", "n2", "n3"])
    #expect(try keys("Thing") == [])
    #expect(try stuck().map(\.className) == ["Thing"])
    #expect(try stuck().map(\.error.state) == [states[0]])
    #expect(replica.refused.isEmpty)

    // Later commits of other classes go on, those of this one wait with the others.
    try replica.create("Note", .string("n4"), a: 4)
    try replica.set("Thing", .int(1), 1, .int(5))
    try replica.create("Thing", .int(2), a: 2)
    #expect(try exchange(1) == [states[0]])
    #expect(try keys("Note") == ["n1", "n2", "n3", "n4"])
    let report = try #require(try UnsentReport.of(replica.store))
    #expect(report.commits.isEmpty)
    #expect(report.joined.map(\.className) == ["Thing"])
    #expect(report.joined.map(\.count) == [2])
    #expect(report.joined.first?.first == [.int(1), .int(2)])
    #expect(try isAllSent() == false)

    try mend("Thing")
    #expect(try exchange(1) == [])
    #expect(try keys("Thing") == ["1", "2"])
    #expect(try server.value("SELECT a FROM \"Thing\" WHERE _id = 1") == "5")
    #expect(try stuck() == [])
    #expect(try isAllSent() == true)
    // Commits are sent as ever.
    try replica.create("Thing", .int(3), a: 3)
    #expect(try exchange(1) == [])
    #expect(try keys("Thing") == ["1", "2", "3"])
  }

  @Test func `one run is enough to find the class that is stuck`() throws {
    defer { replica.end() }
    try replica.synchronize()
    try fail("Thing", "PERFORM nothing_like_that()")
    try replica.create("Thing", .int(1), a: 1)
    try replica.create("Note", .string("n1"), a: 1)
    var pauses: [Duration] = []
    let error = #expect(throws: ServerError.self) {
      try replica.connected().synchronizeOnce { pauses.append($0) }
    }
    #expect(error?.operation == "send the changes of Thing")
    #expect(error?.hint.contains("tarn sync skip FILE Thing") == true)
    #expect(pauses.count == 4)
    #expect(pauses.allSatisfy { $0 <= .seconds(1) })
    #expect(try keys("Note") == ["n1"])
    #expect(try stuck().map(\.className) == ["Thing"])
    // Later runs ask once.
    replica.disconnect()
    #expect(throws: ServerError.self) {
      try replica.connected().synchronizeOnce { pauses.append($0) }
    }
    #expect(pauses.count == 4)
  }

  @Test func `one run goes on when the server answers otherwise a moment later`() throws {
    defer { replica.end() }
    try replica.synchronize()
    try server.rows("CREATE SEQUENCE s")
    try server.rows("GRANT ALL ON SEQUENCE s TO PUBLIC")
    try fail("Thing", "RAISE EXCEPTION 'no' USING ERRCODE = '40001'", when: "nextval('s') < 4")
    try replica.create("Thing", .int(1), a: 1)
    var pauses = 0
    try replica.connected().synchronizeOnce { _ in pauses += 1 }
    #expect(pauses == 3)
    #expect(try keys("Thing") == ["1"])
    #expect(try stuck() == [])
    #expect(try isAllSent() == true)
  }

  @Test func `objects from before that the server does not take hold up no other class`() throws {
    defer { replica.end() }
    try replica.create("Thing", .int(1), a: 1)
    try replica.create("Note", .string("n1"), a: 1)
    try fail("Note", "PERFORM nothing_like_that()")
    #expect(try exchange(5) == [String](repeating: "42883", count: 5))
    #expect(try keys("Thing") == ["1"])
    #expect(try stuck().map(\.className) == ["Note"])
    try mend("Note")
    #expect(try exchange(1) == [])
    #expect(try keys("Note") == ["n1"])
    #expect(try stuck() == [])
  }

  @Test(arguments: ["OOPS1", "P0002", "21000", "38001", "2F003"])
  func `an exception about the data is a refusal, whatever its code`(state: String) throws {
    defer { replica.end() }
    try replica.synchronize()
    try fail("Thing", "RAISE EXCEPTION 'no' USING ERRCODE = '\(state)'", when: "NEW.a = 2")
    for number in 1...3 { try replica.create("Thing", .int(Int64(number)), a: number) }
    #expect(try exchange(1) == [])
    #expect(try keys("Thing") == ["1", "3"])
    #expect(replica.refused.map(\.error.state) == [state])
    #expect(replica.refused.flatMap(\.objects).map(\.primaryKey) == [.int(2)])
    #expect(try replica.objects().keys.sorted() == ["Thing 1", "Thing 3"])
  }

  @Test func `the changes of a class that is stuck can be skipped`() throws {
    defer { replica.end() }
    try replica.create("Thing", .int(1), a: 1)
    try replica.synchronize()
    try fail("Thing", "PERFORM nothing_like_that()")
    try replica.set("Thing", .int(1), 1, .int(7))
    try replica.create("Thing", .int(2), a: 2)
    #expect(throws: StorageError.self) {
      try SkipRequest.skip(class: "Thing", in: replica.store)
    }
    _ = try exchange(5)
    #expect(try stuck().map(\.className) == ["Thing"])
    try SkipRequest.skip(class: "Thing", in: replica.store)
    #expect(try exchange(1) == [])
    #expect(try replica.objects().mapValues(\.a) == ["Thing 1": 1])
    #expect(replica.refused.flatMap(\.objects).map(\.primaryKey) == [.int(1), .int(2)])
    #expect(try stuck() == [])
    try mend("Thing")
    try replica.create("Thing", .int(3), a: 3)
    #expect(try exchange(1) == [])
    #expect(try keys("Thing") == ["1", "3"])
  }

  @Test func `objects from before the first exchange can be skipped`() throws {
    defer { replica.end() }
    try replica.create("Thing", .int(1), a: 1)
    try replica.create("Note", .string("n"), a: 1)
    try fail("Note", "PERFORM nothing_like_that()")
    _ = try exchange(5)
    try SkipRequest.skip(class: "Note", in: replica.store)
    #expect(try exchange(1) == [])
    #expect(try replica.objects().keys.sorted() == ["Thing 1"])
    #expect(replica.refused.flatMap(\.objects).map(\.primaryKey) == [.string("n")])
    #expect(replica.refused.map(\.isSkipped) == [true])
    try mend("Note")
    #expect(try exchange(1) == [])
    #expect(try keys("Note") == [])
    #expect(try isAllSent() == true)
  }

  @Test func `a commit that waits can be skipped`() throws {
    defer { replica.end() }
    try replica.create("Thing", .int(1), a: 1)
    try replica.synchronize()
    replica.disconnect()
    for number in 2...4 { try replica.create("Thing", .int(Int64(number)), a: number) }
    let commits = try #require(try UnsentReport.of(replica.store)).commits
    #expect(commits.map { $0.objects.map(\.primaryKey) } == [[.int(2)], [.int(3)], [.int(4)]])
    try SkipRequest.skip(version: commits[1].version, in: replica.store)
    #expect(throws: StorageError.self) { try SkipRequest.skip(version: 1, in: replica.store) }
    #expect(try exchange(1) == [])
    #expect(try keys("Thing") == ["1", "2", "4"])
    #expect(try replica.objects().keys.sorted() == ["Thing 1", "Thing 2", "Thing 4"])
    #expect(replica.refused.map(\.version) == [commits[1].version])
    #expect(try UnsentReport.of(replica.store)?.commits.isEmpty == true)
    #expect(try SkipRequest.read(in: replica.store.newestSnapshot()) == SkipRequest())
  }

  @Test func `one error names all stuck classes`() throws {
    defer { replica.end() }
    try replica.synchronize()
    for table in ["Thing", "Note"] { try fail(table, "PERFORM nothing_like_that()") }
    try replica.create("Note", .string("n"), a: 1)
    try replica.create("Thing", .int(1), a: 1)
    let error = #expect(throws: ServerError.self) {
      try replica.connected().synchronizeOnce { _ in }
    }
    let text = "\(try #require(error))"
    for part in [
      "cannot send the changes of Note, Thing", "- Note: ", "- Thing: ", "(SQLSTATE 42883)",
      "'tarn sync skip FILE CLASS'",
    ] { #expect(text.contains(part), "\(text)") }
  }
}
