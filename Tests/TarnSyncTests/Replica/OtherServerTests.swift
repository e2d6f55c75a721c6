import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// A database that takes the place of another one, or whose tables were restored.
@Suite final class OtherServerTests {
  private typealias Object = FileReplica.Object

  private let folder = TemporaryFolder()
  private var server: (database: PostgresDatabase, role: String)
  private var files: [FileReplica] = []

  init() throws {
    server = try FileReplica.server()
    for name in ["a", "b"] { files.append(try file(name)) }
  }

  private func file(_ name: String) throws -> FileReplica {
    try FileReplica(folder.file(name)) { [unowned self] in
      try server.database.connect(as: server.role)
    }
  }

  private func synchronize() throws {
    for file in [files[0], files[1], files[0]] { try file.synchronize() }
  }

  @Test func `unsent edits and deletions reach a server that another store has filled`() throws {
    let (a, b) = (files[0], files[1])
    for number in 1...4 { try a.create("Thing", .int(Int64(number)), a: number) }
    try synchronize()
    try b.set("Thing", .int(2), 1, .int(22))
    try b.delete("Thing", .int(4))
    try b.create("Thing", .int(5), a: 5)
    for file in files { file.disconnect() }
    server = try FileReplica.server()
    try synchronize()
    let wanted = [
      "Thing 1": Object(a: 1), "Thing 2": Object(a: 22), "Thing 3": Object(a: 3),
      "Thing 5": Object(a: 5),
    ]
    for file in files { #expect(try file.objects() == wanted) }
    let rows = try server.database.connect().rows("SELECT _id, a FROM \"Thing\" ORDER BY _id")
    #expect(rows == [["1", "1"], ["2", "22"], ["3", "3"], ["5", "5"]])
  }

  @Test func `removals of downloaded parts are sent again to a restored server`() throws {
    let (a, b) = (files[0], files[1])
    func change(
      _ file: FileReplica, _ column: UInt16, _ body: (WriteSession, SequencePlace) throws -> Void
    ) throws {
      try file.commit { session in
        let found = try session.find(primaryKey: .int(1), in: FileBox.id)
        try body(session, FileBox.place(try #require(found), column))
      }
    }
    let owner = try server.database.connect()
    try a.commit { session in
      let key = try session.create([ColumnID(0): .int(1)], in: FileBox.id)
      try session.insert([.int(1), .int(2)], at: 0, in: FileBox.place(key, 1))
    }
    try synchronize()
    // Parts that the other file downloads.
    try change(a, 1) { try $0.insert([.int(9)], at: 2, in: $1) }
    try change(a, 2) { try $0.insert(.string("t"), intoSet: $1) }
    try change(a, 3) { try $0.set(.int(9), forKey: "k", inMap: $1) }
    try synchronize()
    let copy = try ServerCopy(owner)
    try change(b, 1) { try $0.remove(2..<3, in: $1) }
    try change(b, 2) { try $0.remove(.string("t"), fromSet: $1) }
    try change(b, 3) { try $0.removeValue(forKey: "k", fromMap: $1) }
    try synchronize()
    try copy.restore()
    for file in [b, a, b] { try file.synchronize() }
    let rows = try owner.rows("SELECT items::text, tags::text, scores::text FROM \"Box\"")
    #expect(rows == [["[1, 2]", "[]", "{}"]])
    #expect(try a.objects() == b.objects())
  }

  @Test func `what a table lacks that was restored by itself is sent again`() throws {
    let (a, b) = (files[0], files[1])
    let owner = try server.database.connect()
    for number in 1...3 { try a.create("Thing", .int(Int64(number)), a: number) }
    try synchronize()
    let backup = folder.file("backup.sql")
    try server.database.run("pg_dump", ["-t", "\"Thing\"", "-f", backup])
    try a.set("Thing", .int(1), 1, .int(11))
    try b.delete("Thing", .int(2))
    try a.create("Thing", .int(4), a: 4)
    try synchronize()
    for file in files { file.disconnect() }
    try owner.rows("DROP TABLE \"Thing\"")
    try server.database.run(
      "psql", ["-q", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null", "-f", backup])
    #expect(try ServerRepair(owner).restore() == [])
    try synchronize()
    let wanted = ["Thing 1": Object(a: 11), "Thing 3": Object(a: 3), "Thing 4": Object(a: 4)]
    for file in files { #expect(try file.objects() == wanted) }
    let rows = try owner.rows("SELECT _id, a FROM \"Thing\" ORDER BY _id")
    #expect(rows == [["1", "11"], ["3", "3"], ["4", "4"]])
  }
}
