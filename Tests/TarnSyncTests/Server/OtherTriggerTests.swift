import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Tables on which an application has triggers of its own.
@Suite struct OtherTriggerTests {
  private let database: PostgresDatabase
  private let connection: ServerConnection

  private static let definition = ClassDefinition(
    name: "Event",
    properties: [
      .init(name: "_id", type: .string, isPrimaryKey: true), .init(name: "title", type: .string),
      .init(name: "at", type: .date, isOptional: true),
      .init(name: "changed", type: .int, isOptional: true),
      .init(name: "tags", type: .string, collection: .list),
      .init(name: "sum", type: .decimal, isOptional: true),
    ])
  private static let (title, at, changed, sum) = (
    ColumnID(1), ColumnID(2), ColumnID(3), ColumnID(5)
  )

  init() throws {
    database = try PostgresDatabase()
    connection = try database.connect()
    _ = try ServerSetup.run(connection)
    let folder = TemporaryFolder()
    var options = Store.Options()
    options.classes = [Self.definition]
    let store = try StoreRegistry.open(folder.file("schema"), options)
    try ServerMigration(connection).run(store.newestSnapshot().schema.schema)
  }

  /// Makes a trigger.
  private func trigger(_ body: String, _ events: String = "INSERT OR UPDATE") throws {
    try connection.run(
      """
      CREATE OR REPLACE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN \(body); RETURN NEW; END $$;
      CREATE TRIGGER own BEFORE \(events) ON "Event" FOR EACH ROW EXECUTE FUNCTION own()
      """, for: "test")
  }

  private func row(_ columns: String) throws -> [String?] {
    try #require(connection.rows("SELECT \(columns) FROM \"Event\"").first)
  }

  /// A store with a session.
  private final class File {
    let store: Store
    private let replica: Replica
    private let replicator: Replicator
    private let folder = TemporaryFolder()

    init(_ connection: ServerConnection) throws {
      var options = Store.Options()
      options.classes = [OtherTriggerTests.definition]
      store = try StoreRegistry.open(folder.file("a"), options)
      replica = try Replica(store, classes: ["Event"])
      replicator = try Replicator(replica, connection) { Issue.record("refused: \($0)") }
      try synchronize()
    }

    deinit { replica.close() }

    func synchronize() throws { try replicator.synchronize() }

    func create(_ values: [ColumnID: Value], tags: [String] = []) throws {
      try store.writeInTurn { session in
        let key = try session.create(
          values.merging([ColumnID(0): .string("a")]) { $1 }, in: ClassID(0))
        for (place, tag) in tags.enumerated() {
          try session.insert(.string(tag), at: place, in: list(key))
        }
      }
    }

    private func list(_ key: ObjectKey) -> SequencePlace {
      SequencePlace(classID: ClassID(0), key: key, column: ColumnID(4))
    }

    func insert(_ tag: String, at place: Int) throws {
      try store.writeInTurn { session in
        let found = try #require(try session.find(primaryKey: .string("a"), in: ClassID(0)))
        try session.insert(.string(tag), at: place, in: list(found))
      }
    }

    var tags: [Value] {
      get throws {
        let reader = try SnapshotReader(store.newestSnapshot())
        let found = try #require(try reader.find(primaryKey: .string("a"), in: ClassID(0)))
        return try reader.sequence(at: list(found))?.parts().values ?? []
      }
    }

    func set(_ column: ColumnID, _ value: Value) throws {
      try store.writeInTurn { session in
        let found = try #require(try session.find(primaryKey: .string("a"), in: ClassID(0)))
        try session.set(column, at: found, in: ClassID(0), to: value)
      }
    }

    func value(_ column: ColumnID) throws -> Value? {
      let reader = try SnapshotReader(store.newestSnapshot())
      let found = try #require(try reader.find(primaryKey: .string("a"), in: ClassID(0)))
      return try reader.value(of: column, at: found, in: ClassID(0))
    }
  }

  private func files() throws -> (File, File) {
    let role = try database.makeClient()
    return (try File(database.connect(as: role)), try File(database.connect(as: role)))
  }

  private func texts(_ texts: String...) -> [Value] { texts.map { .string($0) } }

  @Test func `the usual trigger that counts changes works for stores and for SQL`() throws {
    try trigger("NEW.changed := coalesce(OLD.changed, 0) + 1", "UPDATE")
    let (a, b) = try files()
    try a.create([Self.title: .string("one")])
    try a.synchronize()
    try a.set(Self.title, .string("two"))
    try a.synchronize()
    #expect(try row("title, changed, _tarn_cols->'changed'->>1") == ["two", "1", "0"])
    try b.synchronize()
    try b.set(Self.title, .string("three"))
    try b.synchronize()
    try connection.rows("UPDATE \"Event\" SET title = 'four'")
    for file in [a, b] {
      try file.synchronize()
      #expect(try file.value(Self.title) == .string("four"))
      #expect(try file.value(Self.changed) == .int(3))
    }
    #expect(try row("changed") == ["3"])
  }

  /// Against a store that has written the same property at the same time.
  @Test func `a value of a trigger is later than what a store has written before`() throws {
    try trigger("NEW.changed := 7", "UPDATE")
    let (a, b) = try files()
    try a.create([Self.title: .string("one")])
    try a.synchronize()
    try b.synchronize()
    try b.set(Self.changed, .int(1))
    try a.set(Self.title, .string("two"))
    try a.synchronize()
    try b.synchronize()
    try a.synchronize()
    for file in [a, b] { #expect(try file.value(Self.changed) == .int(7)) }
    #expect(try row("changed") == ["7"])
  }

  @Test func `a date that a trigger cuts comes back as it is, with its own stamp`() throws {
    try trigger("NEW.at := date_trunc('second', NEW.at)")
    let (a, b) = try files()
    let cut = Value.date(Timestamp(seconds: 5, nanoseconds: 0))
    try a.create([
      Self.title: .string("one"), Self.at: .date(Timestamp(seconds: 5, nanoseconds: 300_000_007)),
    ])
    for file in [a, b, a] { try file.synchronize() }
    for file in [a, b] { #expect(try file.value(Self.at) == cut) }
    #expect(try row("_tarn_cols->'at'->>1, _tarn_parts->'at'->>1 <> '0'") == ["0", "t"])
    try b.set(Self.at, .date(Timestamp(seconds: 9, nanoseconds: 400_000_999)))
    for file in [b, a] { try file.synchronize() }
    for file in [a, b] {
      #expect(try file.value(Self.at) == .date(Timestamp(seconds: 9, nanoseconds: 0)))
    }
  }

  /// The column has microseconds, so the trigger sees nothing to cut.
  @Test func `nanoseconds stay, which a trigger and the type of a column do not see`() throws {
    try connection.run("ALTER TABLE \"Event\" ALTER COLUMN at TYPE timestamptz(0)", for: "test")
    try trigger("NEW.at := date_trunc('second', NEW.at)")
    let (a, b) = try files()
    try a.create([
      Self.title: .string("one"), Self.at: .date(Timestamp(seconds: 5, nanoseconds: 7)),
    ])
    for file in [a, b, a] { try file.synchronize() }
    for file in [a, b] {
      #expect(try file.value(Self.at) == .date(Timestamp(seconds: 5, nanoseconds: 7)))
    }
    #expect(try row("_tarn_cols->'at'->>1") == [nil])
    try connection.rows("UPDATE \"Event\" SET at = at + interval '1 second'")
    for file in [a, b] {
      try file.synchronize()
      #expect(try file.value(Self.at) == .date(Timestamp(seconds: 6, nanoseconds: 0)))
    }
  }

  @Test func `a text with a NUL that a trigger changes comes back as it is`() throws {
    try trigger("NEW.title := upper(NEW.title)")
    let (a, b) = try files()
    try a.create([Self.title: .string("a\u{0}b")])
    for file in [a, b, a] { try file.synchronize() }
    for file in [a, b] { #expect(try file.value(Self.title) == .string("A\u{2400}B")) }
  }

  /// The server rounds before its triggers run, so they do not see it.
  @Test func `what the type of a column rounds comes back rounded`() throws {
    try connection.run(
      """
      ALTER TABLE "Event" ALTER COLUMN at TYPE timestamptz(0), ALTER COLUMN sum TYPE numeric(6, 2)
      """, for: "test")
    let (a, b) = try files()
    let exact = DecimalNumber(isNegative: false, coefficient: 1, exponent: 3)
    try a.create([
      Self.title: .string("one"), Self.at: .date(Timestamp(seconds: 5, nanoseconds: 300_000_007)),
      Self.sum: .decimal(exact.cell),
    ])
    for file in [a, b, a] { try file.synchronize() }
    let rounded = DecimalNumber(isNegative: false, coefficient: 100_000, exponent: -2)
    for file in [a, b] {
      #expect(try file.value(Self.at) == .date(Timestamp(seconds: 5, nanoseconds: 0)))
      #expect(try file.value(Self.sum) == .decimal(rounded.cell))
    }
  }

  /// Our trigger for columns with parts is one of the columns that the statement names.
  @Test func `a list that a trigger sets reaches stores, whoever set the other columns`() throws {
    let (a, b) = try files()
    try a.create([Self.title: .string("one")], tags: ["x", "y"])
    try a.synchronize()
    try trigger("NEW.tags := jsonb_build_array(NEW.title, 'z')", "UPDATE")
    try connection.rows("UPDATE \"Event\" SET title = 'two'")
    #expect(try row("_tarn_cols->'tags'->>1") == ["0"])
    for file in [a, b] {
      try file.synchronize()
      #expect(try file.tags == texts("two", "z"))
    }
    try b.set(Self.title, .string("three"))
    for file in [b, a] { try file.synchronize() }
    for file in [a, b] { #expect(try file.tags == texts("three", "z")) }
  }

  @Test func `a list that a trigger changes while a store sends it is not overwritten`() throws {
    try trigger("NEW.tags := NEW.tags || '[\"server\"]'", "INSERT OR UPDATE OF tags")
    let (a, b) = try files()
    try a.create([Self.title: .string("one")], tags: ["x"])
    try a.synchronize()
    // Before it has downloaded what the trigger made of it.
    try a.insert("y", at: 1)
    for file in [a, b, a] { try file.synchronize() }
    for file in [a, b] {
      #expect(try file.tags == texts("x", "y", "server", "server"))
    }
    #expect(try row("_tarn_cols->'tags'->>1") == ["0"])
  }

  @Test func `what a trigger made of an earlier value goes with it`() throws {
    let clock = Int(Date().timeIntervalSince1970 * 1_000_000)
    try connection.rows(
      """
      INSERT INTO "Event" (_id, title, _tarn_in)
      VALUES ('a', 'late', '{"by": 2, "at": \(clock), "oid": 5}')
      """)
    try trigger("NEW.title := upper(NEW.title)")
    try connection.rows(
      """
      UPDATE "Event" SET title = 'early', _tarn_in = '{"by": 3, "cols": {"title": \(clock - 9)}}'
      """)
    #expect(try row("title, _tarn_cols") == ["late", nil])
  }

  @Test func `a trigger that is made or dropped counts from the next transaction on`() throws {
    try connection.rows("INSERT INTO \"Event\" (_id, title) VALUES ('a', 'one')")
    try connection.rows("UPDATE \"Event\" SET title = 'two'")
    try trigger("NEW.tags := '[1]'", "UPDATE")
    try connection.rows("UPDATE \"Event\" SET title = 'three'")
    #expect(try row("tags, _tarn_cols->'tags'->>1") == ["[1]", "0"])
    try connection.rows("DROP TRIGGER own ON \"Event\"")
    let before = try row("_tarn_cols->'tags'")
    try connection.rows("UPDATE \"Event\" SET title = 'four'")
    #expect(try row("_tarn_cols->'tags'") == before)
  }
}
