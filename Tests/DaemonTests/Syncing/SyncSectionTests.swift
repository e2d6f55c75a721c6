import Foundation
import TarnStore
import TarnSync
import TarnText
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon

/// Files that the daemon keeps the same as a server.
@Suite struct SyncSectionTests {
  private let folder = TemporaryFolder()
  private let owner: String
  private let server: ServerConnection

  init() throws {
    let program = try PostgresServer.shared.get()
    let name = "daemon_" + UUID().uuidString.lowercased().replacing("-", with: "")
    try ServerConnection(ServerAddress(program.address("postgres")))
      .run("CREATE DATABASE \(name)", for: "test")
    owner = program.address(name)
    server = try ServerConnection(ServerAddress(owner))
    _ = try ServerSetup.run(server)
  }

  private func store(_ name: String, hasRank: Bool = false) throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.classes = [
      ClassDefinition(
        name: "Note",
        properties: [
          .init(name: "_id", type: .int, isPrimaryKey: true), .init(name: "count", type: .int),
        ] + (hasRank ? [.init(name: "rank", type: .int, isOptional: true)] : []))
    ]
    return try StoreRegistry.open(folder.file(name), options)
  }

  private func notes() throws -> [[String?]] {
    try server.query("SELECT _id, count FROM \"Note\" ORDER BY _id", for: "test")
  }

  private func keys(_ store: Store) throws -> [Int64] {
    var keys: [Int64] = []
    try SnapshotReader(store.newestSnapshot()).forEachCluster(in: ClassID(0)) { cluster in
      keys += (0..<cluster.image.rowCount).map { cluster.image.key(at: $0).rawValue }
      return true
    }
    return keys
  }

  private func configuration(_ rest: String) -> String {
    """
    http: {listen: $/door.sock}
    sync:
      - file: $/*.tarn
        server: '\(owner)'
        \(rest)

    """
  }

  private func sync(_ daemon: DaemonProcess) throws -> [JSONValue] {
    let words = ["status", "--json", "--config", daemon.configuration]
    let json = try JSONScanner.value(in: DaemonProcess.run(words).text)
    guard case .array(let items)? = json["sync"] else { return [] }
    return items
  }

  @Test func `files of a pattern are exchanged, and the status says so`() async throws {
    let a = try store("a.tarn")
    try ServerMigration(server).run(a.newestSnapshot().schema.schema)
    try a.writeInTurn { session in
      try session.create([ColumnID(0): .int(1), ColumnID(1): .int(10)], in: ClassID(0))
    }
    let daemon = try DaemonProcess(folder, configuration("classes: Note"))
    try await yieldUntil { try notes() == [["1", "10"]] }
    // One that comes later.
    let b = try store("b.tarn")
    try await yieldUntil { try keys(b) == [1] }
    try await yieldUntil { try sync(daemon).count == 2 }
    try await yieldUntil {
      try sync(daemon).allSatisfy {
        $0["connected"] == .bool(true) && $0["complete"] == .bool(true)
          && $0["unsentObjects"] == .integer(0)
      }
    }
    let metrics = try DaemonProcess.run(
      ["status", "--prometheus", "--config", daemon.configuration]).text
    #expect(metrics.contains("tarn_sync_connected{file=\"\(a.path)\"} 1"))
    let table = try DaemonProcess.run(["status", "--config", daemon.configuration]).text
    #expect(table.contains("CONNECTED"))
    // Other objects by another configuration, while it runs.
    try server.query("INSERT INTO \"Note\" (_id, count) VALUES (2, 1)", for: "test")
    try daemon.reload(configuration("where: ['Note: count < 5']"))
    try await yieldUntil { try keys(a) == [2] && keys(b) == [2] }
    #expect(try notes().count == 2)
    // The store remembers the condition until another one is given.
    try daemon.reload(configuration(""))
    try server.query("INSERT INTO \"Note\" (_id, count) VALUES (3, 9), (4, 1)", for: "test")
    try await yieldUntil { try keys(a) == [2, 4] && keys(b) == [2, 4] }
    try daemon.reload(configuration("where: ['Note: TRUEPREDICATE']"))
    try await yieldUntil { try keys(a) == [1, 2, 3, 4] && keys(b) == [1, 2, 3, 4] }
    #expect(daemon.stop() == .exited(0))
  }

  @Test func `a refused commit is in the log and the status`() async throws {
    let a = try store("a.tarn")
    try ServerMigration(server).run(a.newestSnapshot().schema.schema)
    try server.query("ALTER TABLE \"Note\" ADD CHECK (count < 100)", for: "test")
    let daemon = try DaemonProcess(folder, configuration("classes: [Note]"))
    try await yieldUntil { try sync(daemon).first?["connected"] == .bool(true) }
    try a.writeInTurn { session in
      try session.create([ColumnID(0): .int(1), ColumnID(1): .int(1_000)], in: ClassID(0))
    }
    try await yieldUntil { try sync(daemon).first?["refused"] == .integer(1) }
    try await yieldUntil { try keys(a) == [] }
    #expect(daemon.errors.contains("Note_count_check"))
    #expect(daemon.stop() == .exited(0))
  }

  @Test func `a class that the role may not read is a problem in the status`() async throws {
    let a = try store("a.tarn")
    try ServerMigration(server).run(a.newestSnapshot().schema.schema)
    let role = "reader_" + UUID().uuidString.prefix(8).lowercased()
    try server.run(
      """
      CREATE ROLE \(role) LOGIN; GRANT tarn_client TO \(role);
      REVOKE SELECT ON "Note" FROM tarn_client
      """, for: "test")
    let text = configuration("where: ['Note: count < 5']")
      .replacingOccurrences(of: "//\(PostgresServer.administrator)@", with: "//\(role)@")
    let daemon = try DaemonProcess(folder, text)
    func problem() throws -> String {
      guard case .string(let text)? = try sync(daemon).first?["problem"] else { return "" }
      return text
    }
    try await yieldUntil { try problem().contains("permission denied") }
    #expect(try problem().contains("subscribe to Note"))
    #expect(daemon.errors.contains("permission denied"))
    #expect(daemon.errors.contains("tarn-daemon: \(a.path): "), "\(daemon.errors)")
    let set = try SubscriptionSet.read(in: a.newestSnapshot())
    #expect(set?.state != .pending && set?.state != .complete)
    #expect(daemon.stop() == .exited(0))
  }

  @Test func `a file without a session stays in the status until it has one`() async throws {
    let a = try store("a.tarn")
    try ServerMigration(server).run(a.newestSnapshot().schema.schema)
    try server.query("INSERT INTO \"Note\" (_id, count) VALUES (1, 9)", for: "test")
    let text = configuration("where: ['Note: rank == nil OR rank > 3']")
    let daemon = try DaemonProcess(folder, text)
    func problem() throws -> String {
      guard case .string(let text)? = try sync(daemon).first?["problem"] else { return "" }
      return text
    }
    #expect(try problem().contains("has no property 'rank'"))
    #expect(try sync(daemon).count == 1)
    #expect(try sync(daemon).first?["connected"] == .bool(false))
    let metrics = try DaemonProcess.run(
      ["status", "--prometheus", "--config", daemon.configuration]).text
    #expect(metrics.contains("tarn_sync_connected{file=\"\(a.path)\"} 0"))
    #expect(metrics.contains("tarn_healthy 0"))
    try daemon.reload(text)
    #expect(try problem().contains("has no property 'rank'"))
    // The property comes by another program.
    let grown = try store("a.tarn", hasRank: true)
    try ServerMigration(server).run(grown.newestSnapshot().schema.schema)
    try await yieldUntil { try keys(a) == [1] }
    try await yieldUntil { try problem() == "" }
    #expect(try sync(daemon).count == 1)
    #expect(daemon.stop() == .exited(0))
  }

  @Test func `two entries for one file are refused, and one that comes later has one session`()
    async throws
  {
    let a = try store("a.tarn")
    try ServerMigration(server).run(a.newestSnapshot().schema.schema)
    func both(_ other: String) -> String {
      configuration("classes: Note") + "  - file: $/\(other)\n    server: '\(owner)'\n"
    }
    let path = try folder.file(
      "both.yaml", Array(both("a.*").replacing("$", with: folder.path).utf8))
    let checked = try DaemonProcess.run(["check", "--config", path])
    #expect(checked.end == .exited(1))
    #expect(checked.text.contains("both match \(a.path)"), "\(checked.text)")
    let daemon = try DaemonProcess(folder, both("[b-z].tarn"))
    try await yieldUntil { try sync(daemon).first?["connected"] == .bool(true) }
    let b = try store("b.tarn")
    try await yieldUntil { try sync(daemon).count == 2 }
    func problem() throws -> String {
      let one = try sync(daemon).first { $0["file"] == .string(b.path) }
      guard case .string(let text)? = one?["problem"] else { return "" }
      return text
    }
    try await yieldUntil { try problem().contains("another entry of 'sync' has the file") }
    let metrics = try DaemonProcess.run(
      ["status", "--prometheus", "--config", daemon.configuration]).text
    let series = metrics.splitASCII("\n").filter {
      $0.contains("tarn_sync_connected{file=\"\(b.path)\"}")
    }
    #expect(series.count == 1, "\(series)")
    #expect(daemon.stop() == .exited(0))
  }

  @Test func `entries without a file are not compared`() throws {
    let entry = "  - server: '\(owner)'\n"
    let path = try folder.file("none.yaml", Array(("sync:\n" + entry + entry).utf8))
    let checked = try DaemonProcess.run(["check", "--config", path])
    #expect(checked.end == .exited(1))
    #expect(checked.text.contains("file"), "\(checked.text)")
    #expect(!checked.text.contains("both match"), "\(checked.text)")
  }

  @Test func `a log outside of the journal names the file and the time`() async throws {
    let a = try store("a.tarn")
    let text = configuration("classes: Note")
      .replacing(owner, with: "postgresql://nobody@localhost:1/nowhere")
    let daemon = try DaemonProcess(folder, text)
    try await yieldUntil { daemon.errors.contains("trying again in ") }
    #expect(daemon.errors.contains("tarn-daemon: \(a.path): "), "\(daemon.errors)")
    #expect(!daemon.errors.contains("trying again in 0 s"), "\(daemon.errors)")
    #expect(daemon.stop() == .exited(0))
  }

  @Test func `what is wrong in the section is named`() throws {
    let path = try folder.file(
      "test.yaml",
      Array(
        """
        sync:
          - file: relative
            server: postgresql://u:secret@host/db
            where: nothing
            other: 1
        """.utf8))
    let (_, problems) = ConfigurationFiles(path).read()
    let text = problems.map { "\($0)" }.joined(separator: "\n")
    for part in ["absolute path", "a password in it", "'CLASS: CONDITION'", "other"] {
      #expect(text.contains(part), "\(text)")
    }
    #expect(!text.contains("secret"))
  }
}
