import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Classes and properties whose names are made to end the SQL that they stand in.
@Suite final class HostileNameTests: NamedClasses {
  override init() throws {
    try super.init()
    // A session that writes parses the bodies of triggers with its own settings.
    try server.rows(
      "ALTER DATABASE \(SQLText.name(database.name)) SET standard_conforming_strings = off")
  }

  private func names(_ count: Int, _ random: inout SeededRandom) -> [String] {
    var names: [String] = []
    while names.count < count {
      let name = HostileTexts.random(&random, marks: SQLTextTests.marks, bytesMax: 50)
      if !names.contains(where: { $0.utf8.elementsEqual(name.utf8) }), !names.contains(name) {
        names.append(name)
      }
    }
    return names
  }

  private func definition(_ name: String, _ properties: [String]) -> ClassDefinition {
    definition(name, key: properties[0], properties.dropFirst()) { number, property in
      .init(
        name: property, type: number % 3 == 0 ? .int : number % 3 == 1 ? .string : .objectID,
        collection: number % 5 == 0 ? .list : .none)
    }
  }

  @Test func `a class is exchanged whatever its names are`() throws {
    var random = SeededRandom(seed: Seeds.chosen ?? 1)
    // They are classes of one database.
    for (round, name) in names(Seeds.rounds(100, few: 3), &random).enumerated() {
      let properties = names(41, &random)
      let writer = try database.connect()
      let store = try store([definition(name, properties)], "\(round)", migratedBy: writer)
      try write(name, properties, writer, round)
      let replica = try Replica(store, classes: [name])
      defer { replica.close() }
      let replicator = try Replicator(replica, database.connect(as: database.makeClient()))
      try replicator.synchronize()
      #expect(try text(store) == "it's \\'", "round \(round)")
      let id = ClassID(0)
      try store.writeInTurn { session in
        let key = try #require(try session.find(primaryKey: .string("k\\'"), in: id))
        try session.set(ColumnID(2), at: key, in: id, to: .string("back\\"))
      }
      try replicator.synchronize()
      let column = SQLText.name(properties[2])
      #expect(try server.value("SELECT \(column) FROM \(SQLText.name(name))") == "back\\")
    }
    #expect(try server.value("SELECT count(*) FROM tarn.replica") != "0")
  }

  private func text(_ store: Store) throws -> String? {
    let reader = try SnapshotReader(store.newestSnapshot())
    let key = try reader.find(primaryKey: .string("k\\'"), in: ClassID(0))
    return try key.flatMap { try reader.value(of: ColumnID(2), at: $0, in: ClassID(0)) }
      .map { "\($0)" }
  }

  /// Writes a row and then each property, as SQL programs do.
  private func write(
    _ name: String, _ properties: [String], _ writer: ServerConnection, _ round: Int
  ) throws {
    let table = SQLText.name(name)
    try writer.rows("INSERT INTO \(table) (\(SQLText.name(properties[0]))) VALUES ($1)", ["k\\'"])
    let one = try ServerCatalog(writer, "test").existing(name)
    let assignments = one.others.map { column in
      let value =
        switch column.type {
        case "bigint": "7"
        case "jsonb": "'[]'"
        case "bytea": "decode('000000000000000000000007', 'hex')"
        default: SQLText.literal("it's \\'")
        }
      return "\(SQLText.name(column.name)) = \(value)"
    }
    for assignment in assignments { try writer.rows("UPDATE \(table) SET \(assignment)") }
    let noted = try writer.rows("SELECT jsonb_object_keys(_tarn_cols) FROM \(table)")
    let changed = one.others.filter { $0.type != "jsonb" }
    #expect(Set(noted.compactMap { $0[0] }) == Set(changed.map(\.name)), "round \(round)")
  }
}
