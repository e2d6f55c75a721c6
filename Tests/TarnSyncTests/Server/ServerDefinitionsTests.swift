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
    try ReplicaLink(replica, connection).synchronize()
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
}
