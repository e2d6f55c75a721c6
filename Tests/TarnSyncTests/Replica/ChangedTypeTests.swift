import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// A column that SQL has given another type, or has dropped.
@Suite final class ChangedTypeTests: ReplicaPair {
  @Test func `a column of another type is named, and the others arrive`() throws {
    try a.create("Thing", .int(1), a: 1)
    try a.set("Thing", .int(1), 2, .int(7))
    try synchronize()
    let admin = try database.connect()
    try admin.run("ALTER TABLE \"Thing\" ALTER b TYPE text", for: "test")
    try admin.rows("UPDATE \"Thing\" SET a = 2")
    b.disconnect()
    let error = #expect(throws: ServerError.self) { try b.synchronize() }
    #expect(
      error?.message.hasPrefix("Thing.b is text on the server and bigint here; ") == true)
    #expect(error?.message.hasSuffix(": nothing is sent") == true)
    #expect(try b.objects() == ["Thing 1": .init(a: 2, rest: "7")])
    let migration = #expect(throws: ServerError.self) {
      try ServerMigration(admin).run(b.store.newestSnapshot().schema.schema)
    }
    #expect(migration?.message == "Thing.b is text on the server and would be bigint")
    try admin.run("ALTER TABLE \"Thing\" ALTER b TYPE bigint USING b::bigint", for: "test")
    b.disconnect()
    try b.set("Thing", .int(1), 2, .int(8))
    try b.synchronize()
    #expect(try admin.value("SELECT b FROM \"Thing\"") == "8")
  }

  @Test func `a key of another type is named`() throws {
    let admin = try database.connect()
    try admin.run("ALTER TABLE \"Thing\" ALTER _id TYPE text", for: "test")
    b.disconnect()
    let error = #expect(throws: ServerError.self) { try b.synchronize() }
    #expect(
      error?.message.hasPrefix("Thing._id is text on the server and bigint here; ") == true)
  }

  @Test func `a class whose table was dropped is named`() throws {
    try database.connect().run("DROP TABLE \"Thing\"", for: "test")
    b.disconnect()
    let error = #expect(throws: ServerError.self) { try b.synchronize() }
    #expect(error?.description.contains("no longer has its table") == true)
  }
}
