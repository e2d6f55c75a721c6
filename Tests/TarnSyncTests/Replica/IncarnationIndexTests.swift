import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Objects that are found by their incarnations, also while a first download is under way.
@Suite struct IncarnationIndexTests {
  private let database: PostgresDatabase
  private let server: ServerConnection
  private let role: String
  private let folder = TemporaryFolder()
  private let count = IncarnationIndex.least + 5_000

  init() throws {
    (database, role) = try FileReplica.server()
    server = try database.connect()
    try server.rows(
      """
      INSERT INTO "Thing" (_id, a) SELECT n, n * 14 FROM generate_series(1, \(count)) n
      WHERE n * 14 % 13 <> 0
      """)
  }

  private func file() throws -> FileReplica {
    try FileReplica(folder.file("a")) { try database.connect(as: role) }
  }

  private func expectEqual(_ file: FileReplica) throws {
    let things = try server.rows("SELECT _id, a FROM \"Thing\"")
    let expected = Dictionary(uniqueKeysWithValues: things.map { ("Thing \($0[0] ?? "")", $0[1]) })
    #expect(try file.objects().mapValues { "\($0.a)" } == expected.mapValues { $0 ?? "" })
  }

  /// Whether the index of things has each of them.
  private func isWhole(_ file: FileReplica) throws -> Bool {
    let objects = ReplicaObjects(try file.store.newestSnapshot())
    var entries: [Int64: ObjectKey] = [:]
    try objects.forEach(in: ClassID(0)) { key, object throws(StorageError) in
      entries[object.incarnation] = key
      return true
    }
    let isMade = try IncarnationIndex(file.store.newestSnapshot()).isComplete(ClassID(0))
    return try isMade && objects.keys(of: Set(entries.keys), in: ClassID(0)) == entries
  }

  @Test func `the index of a first download is made at its end`() throws {
    let file = try file()
    try file.synchronize()
    try expectEqual(file)
    #expect(try isWhole(file))
    try server.rows("DELETE FROM \"Thing\" WHERE _id % 100 = 1")
    try server.rows("INSERT INTO \"Thing\" (_id, a) VALUES (101, 5)")
    try file.synchronize()
    try expectEqual(file)
    #expect(try isWhole(file))
  }

  @Test func `objects leave during a first download, which another session goes on with`() throws {
    var file = try file()
    try file.connected().pagesMax = 1
    while try file.objects().isEmpty { try file.connected().pull() }
    #expect(try !IncarnationIndex(file.store.newestSnapshot()).isComplete(ClassID(0)))
    let shown = try file.objects().count
    try server.rows("DELETE FROM \"Thing\" WHERE _id <= 20")
    try file.connected().pull()
    #expect(try file.objects()["Thing 1"] == nil)
    #expect(try !file.connected().isComplete)
    #expect(try file.objects().count > shown - 20)
    file.end()
    file = try self.file()
    // What was here is in the index as soon as the session begins.
    _ = try file.connected()
    #expect(try isWhole(file))
    try file.synchronize()
    try expectEqual(file)
    #expect(try isWhole(file))
  }
}
