import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// The classes of a server as a new store gets them.
@Suite struct ServerDefinitionsTests {
  @Test func `a new store has the classes that another one has brought`() throws {
    let (database, role) = try FileReplica.server()
    let found = try ServerDefinitions(database.connect(as: role)).run(nil)
    #expect(Set(found.map(\.name)) == ["Thing", "Note", "Box", "Spot"])
    for known in FileReplica.classes {
      #expect(found.first { $0.name == known.name } == known)
    }
  }

  @Test func `a new store meets the others`() throws {
    let (database, role) = try FileReplica.server()
    let folder = TemporaryFolder()
    let a = try FileReplica(folder.file("a")) { try database.connect(as: role) }
    defer { a.end() }
    try a.create("Note", .string("n1"), a: 1)
    try a.create("Thing", .int(1), a: 1, note: "n1")
    try a.commit { session in
      let key = try session.create([ColumnID(0): .int(1)], in: FileBox.id)
      try session.insert(.int(5), at: 0, in: FileBox.place(key, 1))
      let spot = try session.create([ColumnID(0): .string("Oslo")], in: FileBox.spotID)
      try session.set(ColumnID(5), at: key, in: FileBox.id, to: .link(spot))
    }
    try a.synchronize()
    let connection = try database.connect(as: role)
    var options = Store.Options()
    options.classes = try ServerDefinitions(connection).run(nil)
    let store = try StoreRegistry.open(folder.file("new"), options)
    let replica = try Replica(store, classes: FileReplica.names)
    defer { replica.close() }
    try Replicator(replica, connection).synchronize()
    let reader = try SnapshotReader(store.newestSnapshot())
    let schema = reader.schema.schema
    func value(_ name: String, _ property: String) throws -> Value? {
      let described = try #require(schema.named(name))
      let column = try #require(described.columns.first { $0.name == property })
      let key = try #require(
        try PastRows(reader, RecordedPast(at: reader.snapshot.version)).keys(of: described.id).first
      )
      return try reader.value(of: column.id, at: key, in: described.id)
    }
    #expect(try value("Spot", "city") == .string("Oslo"))
    guard case .link? = try value("Thing", "note") else {
      Issue.record("the link has not arrived")
      return
    }
  }

  @Test func `a class that links to another names the option that brings it`() throws {
    let (database, role) = try FileReplica.server()
    let connection = try database.connect(as: role)
    let error = #expect(throws: ServerError.self) {
      try ServerDefinitions(connection).run(["Thing"])
    }
    #expect(
      error?.message == "Thing.note links to Note, which is not among the chosen classes")
    #expect(error?.hint == "Exchange it, too: --class Note")
    #expect(try ServerDefinitions(connection).run(["Thing", "Note"]).count == 2)
  }

  /// The type of a column does not say whether it holds a list, a set, a map or an object.
  @Test func `a new store has the lists of an adopted table that another store has declared`()
    throws
  {
    let database = try PostgresDatabase()
    let connection = try database.connect()
    _ = try ServerSetup.run(connection)
    try connection.rows(
      "CREATE TABLE \"Box\" (_id bigint PRIMARY KEY, items jsonb, other text COLLATE \"C\")")
    let lines = try ServerAdoption(connection).run(table: "\"Box\"", as: "Box")
    #expect(lines.contains { $0.hasPrefix("not in new stores yet: items, of type jsonb") })
    let first = try ServerDefinitions(connection).run(nil)[0]
    #expect(first.properties.map(\.name) == ["_id", "other"])
    let definition = ClassDefinition(
      name: "Box",
      properties: [
        .init(name: "_id", type: .int, isIndexed: true, isPrimaryKey: true),
        .init(name: "items", type: .int, collection: .list),
      ])
    let folder = TemporaryFolder()
    var options = Store.Options()
    options.classes = [definition]
    let store = try StoreRegistry.open(folder.file("a"), options)
    let schema = try store.newestSnapshot().schema.schema
    let migration = ServerMigration(connection)
    #expect(try migration.run(schema) == ["described Box for new stores"])
    let again = try migration.run(schema)
    #expect(again == [])
    let found = try ServerDefinitions(connection).run(nil)[0]
    #expect(found.properties.map(\.name) == ["_id", "items", "other"])
    #expect(found.properties[1] == definition.properties[1])
  }

  @Test func `a new store has the properties of all stores that were brought`() throws {
    let database = try PostgresDatabase()
    let connection = try database.connect()
    _ = try ServerSetup.run(connection)
    let folder = TemporaryFolder()
    func bring(_ property: ClassDefinition.Property, _ members: [String]) throws {
      var options = Store.Options()
      options.classes = [
        ClassDefinition(
          name: "Box",
          properties: [
            .init(name: "_id", type: .int, isIndexed: true, isPrimaryKey: true), property,
            .init(name: "spot", type: .link, isOptional: true, target: "Spot"),
          ]),
        ClassDefinition(
          name: "Spot", properties: members.map { .init(name: $0, type: .int) }, isEmbedded: true),
      ]
      let store = try StoreRegistry.open(folder.file(property.name), options)
      try ServerMigration(connection).run(store.newestSnapshot().schema.schema)
    }
    try bring(.init(name: "items", type: .int, collection: .list), ["p", "q"])
    try bring(.init(name: "scores", type: .int, collection: .map), ["p", "r"])
    let found = try ServerDefinitions(connection).run(nil)
    #expect(found[0].properties.map(\.name) == ["_id", "scores", "spot", "items"])
    #expect(found[0].properties.last?.collection == .list)
    #expect(found[1].properties.map(\.name) == ["p", "r", "q"])
  }
}
