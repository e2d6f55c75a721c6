import TarnStore
import Testing

@testable import TarnSync

/// Migrations of many classes: the catalog is read once, not for each of them.
@Suite struct ManyClassesTests {
  private static func schema(_ count: Int) -> StoreSchema {
    StoreSchema(
      classes: (0..<count).map { number in
        ClassSchema(
          id: ClassID(UInt32(number)), name: "Class\(number)",
          columns: [
            ColumnSchema(id: ColumnID(0), name: "_id", type: .int),
            ColumnSchema(id: ColumnID(1), name: "a", type: .int),
          ], primaryKey: ColumnID(0))
      })
  }

  /// How often a migration of so many classes reads the whole catalog.
  private func readings(_ connection: ServerConnection, _ count: Int) throws -> (Int, [String]) {
    try connection.run(
      "SELECT pg_stat_reset_single_function_counters(oid) FROM pg_proc"
        + " WHERE proname = 'classes'; SET track_functions = 'all'", for: "test")
    let done = try ServerMigration(connection).run(Self.schema(count))
    try connection.run("SELECT pg_stat_force_next_flush()", for: "test")
    let calls = try connection.value(
      "SELECT calls FROM pg_stat_user_functions WHERE funcname = 'classes'")
    return (calls.flatMap { Int($0) } ?? 0, done)
  }

  @Test func `the number of times that the catalog is read does not grow with the classes`() throws
  {
    let connection = try PostgresDatabase([]).connect()
    let (few, _) = try readings(connection, 2)
    let (more, made) = try readings(connection, 30)
    #expect(made.count == 28)
    #expect(few > 0)
    #expect(more == few)
    let (again, rest) = try readings(connection, 30)
    #expect(rest == [])
    #expect(again == few)
  }
}
