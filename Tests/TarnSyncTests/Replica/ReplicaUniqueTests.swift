import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// A unique rule, which two files cannot know to be broken before they meet.
@Suite struct ReplicaUniqueTests {
  private static let item = ClassDefinition(
    name: "Item",
    properties: [
      .init(name: "_id", type: .int, isPrimaryKey: true),
      .init(name: "code", type: .string, isIndexed: true),
      .init(name: "tags", type: .int, collection: .list),
    ], uniqueRules: [["code"]])

  private final class File {
    let store: Store
    let replica: Replica
    let replicator: Replicator
    private(set) var refused: [RefusedCommit] = []

    static func open(_ path: String) throws -> Store {
      var options = Store.Options()
      options.isDurable = false
      options.classes = [item]
      return try StoreRegistry.open(path, options)
    }

    init(_ path: String, _ connection: ServerConnection) throws {
      store = try Self.open(path)
      replica = try Replica(store, classes: ["Item"])
      var told: (RefusedCommit) -> Void = { _ in }
      replicator = try Replicator(replica, connection) { told($0) }
      told = { [unowned self] in refused.append($0) }
    }

    func create(_ key: Int64, _ code: String) throws {
      try store.writeInTurn {
        try $0.create([ColumnID(0): .int(key), ColumnID(1): .string(code)], in: ClassID(0))
      }
    }

    func setCode(_ key: Int64, _ code: String) throws {
      try store.writeInTurn {
        try $0.set(ColumnID(1), at: ObjectKey(key), in: ClassID(0), to: .string(code))
      }
    }

    func insertTag(_ tag: Int64, at index: Int) throws {
      try store.writeInTurn {
        let place = SequencePlace(classID: ClassID(0), key: ObjectKey(1), column: ColumnID(2))
        try $0.insert(.int(tag), at: index, in: place)
      }
    }

    /// The keys, codes and tags.
    var all: [String] {
      get throws {
        let reader = try SnapshotReader(store.newestSnapshot())
        let rows = PastRows(reader, RecordedPast(at: reader.snapshot.version))
        return try rows.keys(of: ClassID(0)).map { key in
          let place = SequencePlace(classID: ClassID(0), key: key, column: ColumnID(2))
          let code = try reader.value(of: ColumnID(1), at: key, in: ClassID(0)) ?? .null
          let tags = try reader.sequence(at: place)?.parts().values ?? []
          return "\(key.rawValue) \(code.predicateText) \(tags.map(\.predicateText))"
        }
      }
    }

    /// What is left out of the file.
    var leftOut: [String] {
      get throws { try LeftOutValue.all(in: store.newestSnapshot()).map(\.text) }
    }

    var items: [String] {
      get throws {
        let reader = try SnapshotReader(store.newestSnapshot())
        let rows = PastRows(reader, RecordedPast(at: reader.snapshot.version))
        return try rows.keys(of: ClassID(0)).map { key in
          let code = try reader.value(of: ColumnID(1), at: key, in: ClassID(0))
          return "\(key.rawValue) \(code ?? .null)"
        }
      }
    }
  }

  @Test func `the object that comes second is taken back, and the rest goes on`() throws {
    let database = try PostgresDatabase()
    let connection = try database.connect()
    _ = try ServerSetup.run(connection)
    let folder = TemporaryFolder()
    let a = try make(folder.file("a"), connection, database)
    let b = try make(folder.file("b"), connection, database)
    defer { for file in [a, b] { file.replica.close() } }
    for file in [a, b] { try file.replicator.synchronize() }
    try a.create(1, "x")
    try a.replicator.synchronize()
    try b.create(2, "x")
    try b.create(3, "y")
    try b.replicator.synchronize()
    try a.replicator.synchronize()
    let expected = ["1 \(Value.string("x"))", "3 \(Value.string("y"))"]
    #expect(try a.items == expected)
    #expect(try b.items == expected)
    #expect(b.refused.map(\.error.state) == ["23P01"])
    #expect(b.refused.map(\.properties) == [["code"]])
  }

  /// Two stores give one value to two objects. The second one must download first, because both
  /// have changed a list as well.
  @Test(arguments: [false, true])
  func `a value is taken on the server before a list can be sent`(isNew: Bool) throws {
    let database = try PostgresDatabase()
    let connection = try database.connect()
    _ = try ServerSetup.run(connection)
    let folder = TemporaryFolder()
    let a = try make(folder.file("a"), connection, database)
    let b = try make(folder.file("b"), connection, database)
    defer { for file in [a, b] { file.replica.close() } }
    try a.create(1, "a")
    if !isNew { try a.create(2, "b") }
    for file in [a, b] { try file.replicator.synchronize() }
    try a.insertTag(1, at: 0)
    try a.setCode(1, "x")
    try b.insertTag(2, at: 0)
    if isNew { try b.create(2, "x") } else { try b.setCode(2, "x") }
    for file in [b, a, b] { try file.replicator.synchronize() }
    #expect(a.refused.map(\.error.state) == ["23P01"])
    #expect(b.refused.isEmpty)
    let all = try a.all
    #expect(all.map { String($0.prefix(5)) } == ["1 \"a\"", "2 \"x\""])
    #expect(all[0].contains("\"1\"") && all[0].contains("\"2\""))
    #expect(try b.all == all)
    #expect(try a.leftOut.isEmpty)
    // A fresh session finds nothing to do.
    #expect(try !a.replicator.pull())
  }

  @Test func `a refused commit gives back a value that a later commit has given away`() throws {
    let database = try PostgresDatabase()
    let connection = try database.connect()
    _ = try ServerSetup.run(connection)
    let folder = TemporaryFolder()
    let a = try make(folder.file("a"), connection, database)
    let b = try make(folder.file("b"), connection, database)
    defer { for file in [a, b] { file.replica.close() } }
    try a.create(1, "a")
    try a.create(2, "b")
    for file in [a, b] { try file.replicator.synchronize() }
    try a.setCode(1, "x")
    try a.create(3, "a")
    try a.create(4, "d")
    try b.setCode(2, "x")
    for file in [b, a, b] { try file.replicator.synchronize() }
    #expect(a.refused.map(\.error.state) == ["23P01", "23P01"])
    let all = ["1 \"a\" []", "2 \"x\" []", "4 \"d\" []"]
    #expect(try a.all == all)
    #expect(try b.all == all)
    #expect(try a.leftOut.isEmpty)
  }

  @Test func `a row is left out while unsent changes have its value`() throws {
    let database = try PostgresDatabase()
    let connection = try database.connect()
    _ = try ServerSetup.run(connection)
    let folder = TemporaryFolder()
    let a = try make(folder.file("a"), connection, database)
    let b = try make(folder.file("b"), connection, database)
    defer { for file in [a, b] { file.replica.close() } }
    try a.create(1, "a")
    for file in [a, b] { try file.replicator.synchronize() }
    try a.setCode(1, "x")
    try b.create(2, "x")
    try b.replicator.synchronize()
    struct LostAnswer: Error {}
    a.replicator.answered = { throw LostAnswer() }
    #expect(throws: LostAnswer.self) { try a.replicator.pull() }
    #expect(try a.all == ["1 \"x\" []"])
    let text = try a.leftOut.first ?? ""
    #expect(text.hasPrefix("Item 2, the whole object: code: another object has the same value"))
    a.replicator.answered = {}
    for file in [a, b] { try file.replicator.synchronize() }
    #expect(try a.all == ["1 \"a\" []", "2 \"x\" []"])
    #expect(a.refused.count == 1)
  }

  /// By one write, by several ones that are sent together, and through a chain of objects.
  @Test(arguments: [1, 3])
  func `values may change places`(commits: Int) throws {
    let database = try PostgresDatabase()
    let connection = try database.connect()
    _ = try ServerSetup.run(connection)
    let folder = TemporaryFolder()
    let a = try make(folder.file("a"), connection, database)
    let b = try make(folder.file("b"), connection, database)
    defer { for file in [a, b] { file.replica.close() } }
    for (key, code) in [(1, "x"), (2, "y"), (3, "z")] { try a.create(Int64(key), code) }
    for file in [a, b] { try file.replicator.synchronize() }
    var steps = [[(1, "-")], [(2, "x"), (3, "y")], [(1, "z")]]
    if commits == 1 { steps = [steps.flatMap { $0 }] }
    for step in steps {
      try a.store.writeInTurn { session in
        for (key, code) in step {
          try session.set(
            ColumnID(1), at: ObjectKey(Int64(key)), in: ClassID(0), to: .string(code))
        }
        if step.contains(where: { $0.0 == 2 }) {
          try session.create([ColumnID(0): .int(4), ColumnID(1): .string("new")], in: ClassID(0))
        }
      }
    }
    for file in [a, b] { try file.replicator.synchronize() }
    let expected = [(1, "z"), (2, "x"), (3, "y"), (4, "new")].map {
      "\($0.0) \(Value.string($0.1))"
    }
    #expect(try a.items == expected)
    #expect(try b.items == expected)
    #expect(a.refused.isEmpty)
    // A new object takes a value that another one gives up.
    try a.store.writeInTurn { session in
      try session.set(ColumnID(1), at: ObjectKey(4), in: ClassID(0), to: .string("newer"))
      try session.create([ColumnID(0): .int(5), ColumnID(1): .string("new")], in: ClassID(0))
    }
    for file in [a, b] { try file.replicator.synchronize() }
    #expect(
      try b.items == expected.dropLast() + [
        "4 \(Value.string("newer"))", "5 \(Value.string("new"))",
      ])
    #expect(a.refused.isEmpty)
  }

  private func make(
    _ path: String, _ connection: ServerConnection, _ database: PostgresDatabase
  ) throws -> File {
    try ServerMigration(connection).run(File.open(path).newestSnapshot().schema.schema)
    return try File(path, database.connect())
  }
}
