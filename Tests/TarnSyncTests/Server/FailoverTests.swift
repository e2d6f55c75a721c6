import Foundation
import LocalServer
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// A server that fails, and a standby that was behind and takes its place.
@Suite final class FailoverTests {
  private let folder = TemporaryFolder()
  private var server: PostgresServer
  private var files: [FileReplica] = []

  init() throws {
    server = try PostgresServer("-c fsync=off")
    let owner = try connect()
    _ = try ServerSetup.run(owner)
    for _ in 0..<2 { files.append(try file()) }
    try ServerMigration(owner).run(files[0].store.newestSnapshot().schema.schema)
    try owner.run("CREATE ROLE client LOGIN; GRANT tarn_client TO client", for: "make a role")
  }

  private func connect(as role: String = PostgresServer.administrator) throws -> ServerConnection {
    try ServerConnection(ServerAddress(server.address("postgres", as: role)))
  }

  private func file() throws -> FileReplica {
    try FileReplica(folder.file("\(files.count)")) { [unowned self] in try connect(as: "client") }
  }

  private func synchronize() throws {
    for file in [files[0], files[1], files[0]] { try file.synchronize() }
  }

  /// - Returns: a standby that gets no change of the server any more, and a connection to it.
  private func standbyThatIsBehind() throws -> (PostgresServer, ServerConnection) {
    let standby = try PostgresServer("-c fsync=off", standbyOf: server)
    let observer = try ServerConnection(
      ServerAddress(standby.address("postgres") + "&target_session_attrs=any"))
    try observer.rows("ALTER SYSTEM SET primary_conninfo = ''")
    try observer.rows("SELECT pg_reload_conf()")
    while try observer.value("SELECT count(*) FROM pg_stat_wal_receiver") != "0" {}
    return (standby, observer)
  }

  @Test func `what was acknowledged reaches the standby that takes over`() throws {
    let (a, b) = (files[0], files[1])
    for number in 1...3 { try a.create("Thing", .int(Int64(number)), a: number) }
    try a.create("Note", .string("n"), a: 1)
    try synchronize()
    let (standby, observer) = try standbyThatIsBehind()
    try a.set("Thing", .int(1), 1, .int(7))
    try a.delete("Thing", .int(2))
    try b.create("Thing", .int(4), a: 4, note: "n")
    try b.delete("Note", .string("n"))
    try synchronize()
    try b.set("Thing", .int(3), 2, .int(9))
    let shown = try (a.objects(), b.objects())
    // It answers no session before it has taken over.
    for file in files { file.disconnect() }
    server = standby
    #expect(throws: ServerError.self) { try b.synchronize() }
    try observer.rows("SELECT pg_promote()")
    try synchronize()
    #expect(try a.objects() == shown.1)
    #expect(try b.objects() == shown.1)
    #expect(try a.objects() != shown.0)
    let rows = try connect().rows("SELECT _id, a, b FROM \"Thing\" ORDER BY _id")
    #expect(rows == [["1", "7", nil], ["3", "3", "9"], ["4", "4", nil]])
  }

  /// The rows have the version that the files know, and other values.
  @Test func `a standby's transactions have ids that the former server has used`() throws {
    let a = files[0]
    try a.create("Thing", .int(1), a: 1)
    try synchronize()
    let (standby, observer) = try standbyThatIsBehind()
    let owner = try connect()
    for _ in 0..<50 { try owner.rows("SELECT pg_current_xact_id()") }
    let former = try owner.value("UPDATE \"Thing\" SET a = 8 RETURNING pg_current_xact_id()")
    try synchronize()
    #expect(try a.objects().description.contains("8"))
    for file in files { file.disconnect() }
    server = standby
    try observer.rows("SELECT pg_promote()")
    let last = try #require(former.flatMap { Int($0) }) - 1
    while let next = try Int(observer.value("SELECT pg_current_xact_id()") ?? ""), next < last {}
    let new = try observer.value(
      "UPDATE \"Thing\" SET a = 9 RETURNING pg_current_xact_id()")
    #expect(new == former)
    try synchronize()
    let fresh = try file()
    try fresh.synchronize()
    for file in files { #expect(try file.objects() == fresh.objects()) }
  }

  /// Nothing says that the server was restored but the numbers of its transactions.
  @Test func `what a copy of the server's disk lacks is sent again`() throws {
    let (a, b) = (files[0], files[1])
    for number in 1...3 { try a.create("Thing", .int(Int64(number)), a: number) }
    try synchronize()
    let copy = try PostgresServer("-c fsync=off", copyOf: server)
    try a.set("Thing", .int(1), 1, .int(7))
    try a.delete("Thing", .int(2))
    try b.create("Thing", .int(4), a: 4, note: "n")
    try synchronize()
    try connect().run("UPDATE \"Thing\" SET a = 8 WHERE _id = 3", for: "write by SQL")
    try synchronize()
    for file in files { file.disconnect() }
    server = copy
    try synchronize()
    let rows = try connect().rows("SELECT _id, a FROM \"Thing\" ORDER BY _id")
    #expect(rows == [["1", "7"], ["3", "3"], ["4", "4"]])
    #expect(try a.objects() == b.objects())
    let new = try file()
    try new.synchronize()
    #expect(try new.objects() == a.objects())
  }
}
