import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Classes and properties that are called like something in the SQL of Tarn's own: words of SQL and
/// PL/pgSQL, variables, parameters, aliases and columns.
@Suite final class NameTests: NamedClasses {
  private static let letters = (UInt8(ascii: "a")...UInt8(ascii: "z")).flatMap { byte in
    [String(Unicode.Scalar(byte)), String(Unicode.Scalar(byte - 32))]
  }

  /// Words of PL/pgSQL that SQL does not have, functions and marks.
  private static let others = [
    "NEW", "OLD", "new", "old", "TG_OP", "tg_op", "FOUND", "found", "sqlerrm", "elsif", "perform",
    "raise", "exception", "loop", "foreach", "strict", "diagnostics", "query", "unnest", "coalesce",
    "jsonb_each", "count(*)", "*", "$$", "$1", "$tarn$", "$tarn", "\"", "\"\"", "'", "''", "\\",
    ";",
    "--", "/*", "%", "%s", "%I", "?", "{}", "[]", ",", "(", ")", " ", "a b", "tarn", "public",
    "tarn.gone", "pg_catalog", "text", "jsonb", "Select", "SELECT", "true", "NULL",
  ]

  /// Every word of the functions and triggers of a class.
  private func ours() throws -> Set<String> {
    let bodies = try PostgresDatabase([.todo]).connect().rows(
      "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'tarn'::regnamespace")
    let words = bodies.compactMap { $0[0] }.joined(separator: " ").split {
      !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "_")
    }
    return Set(words.map(String.init))
  }

  private func names() throws -> [String] {
    let words = try server.rows("SELECT word FROM pg_get_keywords()").compactMap { $0[0] }
    return try ours().union(words).union(Self.letters).union(Self.others)
      .filter { ServerClass.nameProblems($0, "").isEmpty }.sorted()
  }

  private static let types: [ColumnType] = [.string, .int, .string, .date, .decimal]

  private func definition(_ name: String, key: String, _ names: [String]) -> ClassDefinition {
    definition(name, key: key, names) { place, name in
      .init(
        name: name, type: Self.types[place % 5],
        collection: place % 5 == 2 ? .list : .none, isOptional: place % 5 > 2)
    }
  }

  /// Exchanges classes in both ways, while a transaction is open.
  private func exchange(_ classes: [ClassDefinition]) throws {
    let store = try store(classes)
    let client = try database.connect(as: database.makeClient())
    let replica = try Replica(store, classes: classes.map(\.name))
    defer { replica.close() }
    let replicator = try Replicator(replica, client) { Issue.record("refused: \($0)") }
    try store.writeInTurn { session in
      for place in classes.indices {
        try session.create(
          [ColumnID(0): .string("a"), ColumnID(1): .string("one")],
          in: ClassID(UInt32(place)))
      }
    }
    try replicator.synchronize()
    let open = try database.connect()
    let catalog = ServerCatalog(server, "test")
    try open.rows("BEGIN")
    for one in try catalog.entries() {
      let columns = one.others.filter { $0.type.hasPrefix("text") }.map {
        "\(SQLText.name($0.name)) = 'sql'"
      }
      try open.rows("UPDATE \(one.table) SET \(columns.joined(separator: ", "))")
      try open.rows("INSERT INTO \(one.table) (\(SQLText.name(one.key))) VALUES ('b')")
    }
    try server.rows("SELECT pg_current_xact_id()")
    try replicator.synchronize()
    try open.rows("COMMIT")
    try replicator.synchronize()
    try store.writeInTurn { session in
      for place in classes.indices {
        let id = ClassID(UInt32(place))
        let a = try #require(try session.find(primaryKey: .string("a"), in: id))
        #expect(try session.value(of: ColumnID(1), at: a, in: id) == .string("sql"))
        try session.set(ColumnID(1), at: a, in: id, to: .string("back"))
        let b = try #require(try session.find(primaryKey: .string("b"), in: id))
        try session.delete(b, in: id)
      }
    }
    try replicator.synchronize()
    for one in try catalog.entries() {
      let key = SQLText.name(one.key)
      #expect(try server.rows("SELECT \(key) FROM \(one.table)") == [["a"]], "\(one.name)")
    }
    #expect(try replicator.compareDigests())
    #expect(replicator.isComplete)
    try reconcile(store, replica, replicator)
  }

  /// Another server compares all: by pages, census and fates.
  private func reconcile(_ store: Store, _ replica: Replica, _ replicator: Replicator) throws {
    _ = try ServerRepair(server).restore()
    try replicator.synchronize()
    for described in try store.newestSnapshot().schema.schema.classes {
      let reader = try SnapshotReader(store.newestSnapshot())
      #expect(try reader.find(primaryKey: .string("a"), in: described.id) != nil)
    }
  }

  @Test func `properties are exchanged that are called like words of SQL`() throws {
    let names = try names()
    #expect(names.count > 300)
    // A row must fit into a page.
    var rest = names[...]
    var classes: [ClassDefinition] = []
    for key in ["o", "t", "class", "k", "keys", "$$"] + names where !rest.isEmpty {
      let others = rest.prefix(120).filter { $0 != key }
      classes.append(definition("C\(classes.count)", key: key, others))
      rest = rest.dropFirst(120)
    }
    try exchange(classes)
  }

  @Test func `classes are exchanged that are called like words of SQL`() throws {
    let names = try names().enumerated().filter { $0.offset % 16 == 0 }.map(\.element)
    let own = ["o", "t", "new", "n", "s", "u", "d", "old", "server", "gone", "$$", "\"", "User"]
    try exchange(
      Set(names + own).sorted().map { name in
        definition(name, key: "o", ["t", "o"].contains(name) ? ["t"] : ["t", name])
      })
  }

  @Test func `conditions on properties are answered that are called like words of SQL`() throws {
    let names = Array(try names().filter { $0 != "_id" }.prefix(240))
    let store = try store([
      definition("C", key: "_id", names) { .init(name: $1, type: .int, isOptional: true) }
    ])
    let schema = try store.newestSnapshot().schema.schema
    try server.rows("INSERT INTO \"C\" (_id) VALUES ('1')")
    let tests = try names.map { name in
      let condition = Predicate.comparison(
        Comparison(.path([.property(name)]), .equal, .value(.int(1))))
      return "NOT \(try ConditionSQL(schema).translated(condition, on: ClassID(0)).kept)"
    }
    let all = tests.joined(separator: " AND ")
    #expect(try server.value("SELECT count(*) FROM \"C\" WHERE \(all)") == "1")
  }
}
