import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Commits that are not sent when a new version of the program migrates the file.
@Suite final class UnsentMigrationTests: ReplicaPair {
  private func migrate() throws {
    try a.migrate(renaming: [("Thing", "b", "rank"), ("Box", "items", "entries")])
    let snapshot = try a.store.newestSnapshot()
    try ServerMigration(server).run(
      snapshot.schema.schema,
      renaming: PropertyRenames(["Thing.b=rank", "Box.items=entries"], in: snapshot))
  }

  private func insert(_ number: Int64, _ file: FileReplica, column: UInt16 = 1) throws {
    try file.commit { session in
      let box = try #require(try session.find(primaryKey: .int(1), in: FileBox.id))
      try session.insert(.int(number), at: 0, in: FileBox.place(box, column))
    }
  }

  private func set(_ number: Int64, _ name: String, _ value: Int64) throws {
    let column = try #require(
      a.store.newestSnapshot().schema.schema.named("Thing")?.named(name))
    try a.set("Thing", .int(number), Int(column.id.rawValue), .int(value))
  }

  private func begin() throws {
    for number in 1...3 { try a.create("Thing", .int(Int64(number)), a: number) }
    try a.commit { try $0.create([ColumnID(0): .int(1)], in: FileBox.id) }
    try insert(10, a)
    try synchronize()
  }

  private func things() throws -> [[String?]] {
    try server.rows("SELECT _id, a, rank FROM \"Thing\" ORDER BY _id")
  }

  private func items() throws -> String? { try server.value("SELECT entries FROM \"Box\"") }

  private func unsent() throws -> Int {
    let count = try #require(try UnsentCount(a.store))
    return try count.objects().changed
  }

  @Test func `they are sent with those after it`() throws {
    try begin()
    try set(1, "b", 8)
    a.pause()
    try a.create("Thing", .int(4), a: 4)
    try a.delete("Thing", .int(3))
    try insert(20, a)
    try insert(11, b)
    try b.synchronize()
    try migrate()
    try set(2, "rank", 9)
    let entries = try #require(try column("entries"))
    try insert(30, a, column: entries.rawValue)
    #expect(try unsent() == 5)
    try a.synchronize()
    #expect(try things() == [["1", "1", "8"], ["2", "2", "9"], ["4", "4", nil]])
    #expect(try unsent() == 0)
    let merged = try #require(try items())
    #expect(
      Set(merged.split(whereSeparator: { !$0.isNumber }).map(String.init))
        == ["10", "11", "20", "30"], "\(merged)")
    #expect(merged.split(separator: ",").count == 4)
    // The other one still has the former names.
    b.disconnect()
    try b.synchronize()
    #expect(try b.objects()["Thing 1"]?.rest == "\(Value.int(8))")
    #expect(try b.objects()["Box 1"]?.rest?.hasPrefix(merged.replacing(" ", with: "")) == true)
    // What was sent does not come back.
    try a.synchronize()
    #expect(try items() == merged)
  }

  private func column(_ name: String) throws -> ColumnID? {
    try a.store.newestSnapshot().schema.schema.named("Box")?.named(name)?.id
  }

  @Test func `what others wrote later wins`() throws {
    try begin()
    try set(1, "b", 8)
    try set(2, "b", 8)
    b.pause(by: 60_000_000)
    try b.set("Thing", .int(1), 2, .int(7))
    try b.synchronize()
    a.pause(by: 120_000_000)
    try migrate()
    try set(3, "rank", 5)
    try a.synchronize()
    #expect(try things() == [["1", "1", "7"], ["2", "2", "8"], ["3", "3", "5"]])
  }

  @Test func `a push whose answer was lost before it is not repeated`() throws {
    try begin()
    try set(1, "b", 8)
    try a.create("Thing", .int(4), a: 4)
    a.losesAnswer = true
    #expect(throws: FileReplica.LostAnswer.self) { try a.synchronize() }
    let former = try server.rows("SELECT _tarn_oid, _id FROM \"Thing\" ORDER BY _id")
    try b.synchronize()
    try b.set("Thing", .int(4), 1, .int(40))
    try b.synchronize()
    try set(2, "b", 9)
    try migrate()
    try a.synchronize()
    #expect(
      try things()
        == [["1", "1", "8"], ["2", "2", "9"], ["3", "3", nil], ["4", "40", nil]])
    #expect(try server.rows("SELECT _tarn_oid, _id FROM \"Thing\" ORDER BY _id") == former)
  }

  @Test func `a migration alone sends nothing`() throws {
    try begin()
    let former = try versions()
    try migrate()
    let migrated = try versions()
    #expect(migrated.count == former.count)
    try a.synchronize()
    #expect(try versions() == migrated)
    #expect(try unsent() == 0)
    #expect(try things().map { $0[2] } == [nil, nil, nil])
  }

  /// The transactions that wrote the rows.
  private func versions() throws -> [[String?]] {
    try server.rows(
      "SELECT _tarn_xid, _tarn_oid FROM \"Thing\""
        + " UNION ALL SELECT _tarn_xid, _tarn_oid FROM \"Box\" ORDER BY 2"
    )
  }
}
