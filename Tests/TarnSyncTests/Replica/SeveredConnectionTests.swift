import TarnStore
import TarnText
import TestSupport
import Testing

@testable import TarnSync

/// Connections that end after any byte of a session, in either direction.
@Suite(.timeLimit(.minutes(30))) struct SeveredConnectionTests {
  @Test(arguments: CuttingProxy.Direction.allCases)
  func `commits arrive once, wherever the connection ends`(
    direction: CuttingProxy.Direction
  ) throws {
    let (database, role) = try FileReplica.server()
    let server = try database.connect()
    let folder = TemporaryFolder()
    let proxy = try CuttingProxy(to: PostgresServer.shared.get().folder, in: folder.path)
    defer { proxy.close() }
    let replica = try FileReplica(folder.file("a")) {
      try database.connect(as: role, at: folder.path)
    }
    defer { replica.end() }
    try replica.commit { try $0.create([ColumnID(0): .int(1)], in: FileBox.id) }
    try replica.synchronize()
    replica.disconnect()

    // Whole sessions, of which all bytes are counted.
    var number = 0
    func session() throws {
      number += 1
      try change(replica, number, server)
      try replica.synchronize()
    }
    proxy.cut(after: nil, direction)
    for _ in 0..<6 { try session() }
    replica.disconnect()
    proxy.cut(after: nil, direction)
    try session()
    let total = proxy.passed(direction)
    replica.disconnect()
    #expect((500...65_536).contains(total))

    var severed = 0
    for bytes in stride(from: 0, to: total, by: max(1, Seeds.rounds(1, few: total / 60))) {
      proxy.cut(after: bytes, direction)
      do {
        try session()
      } catch is ServerError {
        severed += 1
      }
      replica.disconnect()
    }
    #expect(severed > 20)
    proxy.cut(after: nil, direction)
    try session()
    let shown = try FileBox.all(in: SnapshotReader(replica.store.newestSnapshot()))
    #expect(try FileBox.all(server) == shown)
    // The last ten, in their order, each once.
    let items = (number - 9...number).map { "\($0)" }.joined(separator: ",")
    #expect(shown["Box 1"]?.rest?.hasPrefix("[\(items)]") == true)
    #expect(try server.value("SELECT a FROM \"Note\" WHERE _id = 'sql'") == "\(number)")
    #expect(try replica.objects()["Note \(Value.string("sql"))"]?.a == Int64(number))
  }

  /// A commit here, which a list shows if it arrives twice or not at all, and one on the server.
  private func change(
    _ replica: FileReplica, _ number: Int, _ server: ServerConnection
  ) throws {
    try replica.commit { session in
      let place = FileBox.place(ObjectKey(1), 1)
      let count = try session.sequence(at: place)?.count ?? 0
      try session.insert(.int(Int64(number)), at: count, in: place)
      if count == 10 { try session.remove(0..<1, in: place) }
    }
    try server.rows(
      """
      INSERT INTO "Note" (_id, a) VALUES ('sql', \(number))
      ON CONFLICT (_id) DO UPDATE SET a = excluded.a
      """)
  }
}
